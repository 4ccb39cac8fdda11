"""Real pages and commands against values of other tools, which stand beside the repository and not in it.

The pages are somebody's, so they are read where they lie; the tests are skipped where they do not. What other tools
say of the same bytes is here as literal numbers, with the reason for each difference.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from observations import command, document, page

import evalkit
from evalkit import MeasurementReport

REAL = Path(__file__).parent.parent / "../shared/real/ocr"
REASON = "the real pages are not here: they stand in ../shared/real/ocr beside the repository"
pytestmark = pytest.mark.skipif(not (REAL / "expected.json").exists(), reason=REASON)

SETS = ("gulliver", "le_rappel", "of_the_sciences", "lorem_ipsum")
READINGS = ("exact", "bom_stripped_lf")


def expected() -> Any:
    """Return the values of other tools."""
    return json.loads((REAL / "expected.json").read_bytes())["datasets"]


def pairs(name: str) -> list[tuple[str, Path, Path]]:
    """Return the reference and the output of each page."""
    folder = REAL / name
    if name == "of_the_sciences":
        return [(name, folder / "OfTheSciences_gt_TXT.txt", folder / "OfTheSciences_ocr_tes.txt")]
    if name == "lorem_ipsum":
        truth = folder / "lorem-ipsum-scan-bad.gt.page.txt"
        return [
            (scan, truth, folder / f"{scan}.ocr.tesseract.alto.txt")
            for scan in ("lorem-ipsum-scan-bad", "lorem-ipsum-scan")
        ]
    return [(path.stem, path, folder / "OCR" / path.name) for path in sorted((folder / "GT").iterdir())]


def read(path: Path, reading: str) -> str:
    """Read a text as its bytes are, or without a byte-order mark and with plain line ends."""
    text = path.read_bytes().decode("utf-8")
    return text if reading == "exact" else text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def measured(name: str, reading: str = "exact", change: Callable[[str], str] = str) -> MeasurementReport:
    """Measure the pages of a set."""
    texts = ((key, *(change(read(path, reading)) for path in paths)) for key, *paths in pairs(name))
    return evalkit.measure(document(ocr_cases=[page(key, *both) for key, *both in texts]))


def counts(found: MeasurementReport) -> Mapping[str, Any]:
    """Return what a set is expected to be counted as."""
    cer, wer = found["OCR CER"], found["OCR WER"]
    return {
        "char_edits": cer["numerator"],
        "ref_chars": cer["denominator"],
        "word_edits": wer["numerator"],
        "ref_words": wer["denominator"],
        "cases": cer["sample_size"],
    }


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", SETS)
def test_pages(name: str, reading: str) -> None:
    """Counts are equal as whole numbers, rates to 1e-12, under both readings of each file."""
    value = expected()[name][reading]["definition"]
    found = measured(name, reading)
    assert counts(found) == {key: value[key] for key in ("char_edits", "ref_chars", "word_edits", "ref_words", "cases")}
    rates = {"OCR CER": value["cer"], "OCR WER": value["wer"], "OCR fidelity": value["fidelity"]}
    for measure, rate in rates.items():
        assert found[measure]["value"] == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("name", SETS)
def test_each_page(name: str, reading: str) -> None:
    """Page by page the counts are equal too, also of pages without a reference."""
    cases = {one["case_id"]: one for one in expected()[name][reading]["per_case"]}
    paths = pairs(name)
    assert len(cases) == len(paths)
    for value, (key, *both) in zip(cases.values(), paths, strict=True):
        reference, output = (read(path, reading) for path in both)
        found = evalkit.measure(document(ocr_cases=[page(key, reference, output)]))
        terms = ("char_edits", "ref_chars", "word_edits", "ref_words")
        assert {term: counts(found)[term] for term in terms} == {term: value[term] for term in terms}, key


QUALITIES = {"clean": (37, 338, 369, 122, 129), "small": (11, 291, 369, 110, 129), "degraded": (0, 73, 369, 14, 129)}


def commands() -> list[dict[str, Any]]:
    """Return the commands that were rendered and read back, their quality as the stratum."""
    lines = (REAL / "commands" / "commands.jsonl").read_text("utf-8").splitlines()
    found = (json.loads(line) for line in lines)
    return [
        command(one["command_id"], one["reference"], one["output"], stratum=one["command_id"].partition("-")[0])
        for one in found
    ]


def test_commands() -> None:
    """180 commands at three qualities: whole ones, tokens in order, flags in order, over all and in each stratum."""
    found = evalkit.measure(document(commands=commands()))
    assert [(one["numerator"], one["denominator"]) for one in found.metrics[3:6]] == [
        (48, 180),
        (702, 1107),
        (246, 387),
    ]
    for stratum in found.strata:
        whole, tokens, of_tokens, flags, of_flags = QUALITIES[stratum.stratum]
        terms = [(one["numerator"], one["denominator"]) for one in stratum.metrics]
        assert terms == [(whole, 60), (tokens, of_tokens), (flags, of_flags)]


def test_commands_as_text() -> None:
    """The same pairs as text: an error rate of words above one is real where the reading is poor."""
    pages = [page(one["command_id"], one["reference"], one["output"], stratum=one["stratum"]) for one in commands()]
    found = evalkit.measure(document(ocr_cases=pages))
    assert (found["OCR CER"]["numerator"], found["OCR CER"]["denominator"]) == (957, 7284)
    assert (found["OCR WER"]["numerator"], found["OCR WER"]["denominator"]) == (498, 1107)
    degraded = next(one for one in found.strata if one.stratum == "degraded").metrics
    assert degraded[1]["value"] == pytest.approx(1.005420054200542, abs=1e-12)


# where other tools differ, and why


def test_jiwer_strips_both_ends() -> None:
    """Jiwer 4.0.0: CER 5200/14156 on the same pages, since it strips each text; raw, it says what evalkit says."""
    peers = expected()["gulliver"]["exact"]["peers"]["jiwer"]
    assert (peers["cer_edits"], peers["cer_ref_len"], peers["cer"]) == (5200, 14156, 0.3673354054817745)
    assert counts(measured("gulliver")) == {
        "char_edits": 6702,
        "ref_chars": 14190,
        "word_edits": 179,
        "ref_words": 2326,
        "cases": 36,
    }
    stripped = measured("gulliver", change=str.strip)
    assert (stripped["OCR CER"]["numerator"], stripped["OCR CER"]["denominator"]) == (5200, 14156)
    assert peers["cer_without_strip"] == pytest.approx(6702 / 14190, abs=1e-12)


def test_jiwer_parts_words_at_spaces_alone() -> None:
    """Jiwer 4.0.0: WER 0.2669 where lines end with LF, since a newline glues two words; with `str.split()` the same."""
    peers = expected()["gulliver"]["bom_stripped_lf"]["peers"]["jiwer"]
    assert (peers["wer_edits"], peers["wer_ref_len"], peers["wer"]) == (564, 2113, 0.2669190724088973)
    wer = measured("gulliver", "bom_stripped_lf")["OCR WER"]
    assert (wer["numerator"], wer["denominator"], wer["value"]) == (163, 2326, peers["wer_with_str_split"])


def test_torchmetrics_counts_in_single_precision() -> None:
    """Torchmetrics 1.9.0: the same definition in 32-bit floats, so the eighth digit is another one."""
    peers = expected()["of_the_sciences"]["exact"]["peers"]["torchmetrics"]
    assert (peers["cer"], peers["cer_edits"], peers["cer_total"]) == (0.355112224817276, 712.0, 2005.0)
    value = measured("of_the_sciences")["OCR CER"]["value"]
    assert value == 0.35511221945137156
    assert 1e-9 < abs(value - peers["cer"]) < 1e-8


def test_hugging_face_depends_on_the_version_below() -> None:
    """Hugging Face evaluate: 0.3673 on jiwer 4, which strips, 0.0222 on jiwer 3, which collapses white space too."""
    peers = expected()["gulliver"]["exact"]["peers"]["hf_evaluate_cer"]
    assert [peers[path]["cer"] for path in peers] == [0.3673354054817745, 0.022164566345441068]
    collapsed = measured("gulliver", change=lambda text: " ".join(text.split()))["OCR CER"]
    assert (collapsed["numerator"], collapsed["denominator"]) == (299, 13490)


def test_dinglehopper_counts_graphemes() -> None:
    """Dinglehopper 0.11.0: 6089/13670, since CR LF is one grapheme; its words lose punctuation: WER 46/2311."""
    peers = next(value for key, value in expected()["gulliver"]["exact"]["peers"].items() if "dinglehopper" in key)
    assert (peers["char_edits"], peers["ref_graphemes"], peers["word_edits"], peers["ref_words"]) == (
        6089,
        13670,
        46,
        2311,
    )
    found = measured("gulliver", "bom_stripped_lf")
    assert (found["OCR CER"]["denominator"], found["OCR WER"]["denominator"]) == (13670, 2326)


def test_ocreval_changes_white_space_and_counts_no_inserted_word() -> None:
    """Ocreval 7.0: 326/13495 characters and 32/2311 words: runs of white space are one, inserted words cost nothing."""
    peers = next(value for key, value in expected()["gulliver"].items() if "ocreval" in key)
    assert (peers["errors"], peers["characters"], peers["misrecognized_words"], peers["words"]) == (
        326,
        13495,
        32,
        2311,
    )
    assert counts(measured("gulliver"))["word_edits"] == 179


def test_a_mean_of_pages_is_no_corpus_rate() -> None:
    """The mean of the pages' rates would be 0.8512 where the corpus has 0.4723."""
    texts = [[read(path, "exact") for path in paths] for _, *paths in pairs("gulliver")]
    rates = [evalkit.measure(document(ocr_cases=[page("p", *both)]))["OCR CER"]["value"] for both in texts]
    kept = [rate for rate in rates if rate is not None]
    assert len(kept) == 33
    assert sum(kept) / len(kept) == pytest.approx(0.8512427249576319, abs=1e-12)
    assert measured("gulliver")["OCR CER"]["value"] == pytest.approx(0.4723044397463002, abs=1e-12)


@pytest.mark.parametrize(
    ("form", "edits", "length"), [("NFC", 6702, 14190), ("NFD", 6706, 14471), ("NFKC", 6702, 14190)]
)
def test_a_normal_form_would_change_the_rate(form: Any, edits: int, length: int) -> None:
    """Normalised first, the same pages have other edits and lengths; evalkit normalises nothing."""
    found = measured("gulliver", change=lambda text: unicodedata.normalize(form, text))["OCR CER"]
    assert (found["numerator"], found["denominator"]) == (edits, length)
