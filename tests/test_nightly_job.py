"""A job file is read strictly: what is unknown, missing or wrong is named with its file, line and field."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from nights import DIGITS, job

from evalkit import Refusal, nightly
from evalkit.nights.job import Amount, Baseline, Task
from evalkit.nights.job_toml import read_job

VECTORS = """
[[evaluation]]
name = "vectors"
kind = "evaluate"
predictions = ["p-{date}.jsonl"]
gold = ["g.jsonl"]
"""
MEASURED = """
[[evaluation]]
name = "pages"
kind = "measure"
document = "header.json"
"""


def faults(path: Path) -> list[tuple[int | None, str | None, str]]:
    """Return line, field and message of all that is wrong with a job."""
    with pytest.raises(Refusal) as refused:
        read_job(path)
    assert {one.rule for one in refused.value.violations} == {"job"}
    assert {one.file for one in refused.value.violations} == {str(path)}
    return [(one.line, one.field, one.message) for one in refused.value.violations]


def test_a_job_is_read_as_it_stands(tmp_path: Path) -> None:
    """Names, kinds, patterns and options are those of the file; decimals are exact, whether texts or numbers."""
    more = 'baseline = { against = 2026-01-30, margins = { macroF1 = 0.010, ece = "1e-3" } }\nby = ["site"]\n'
    found = read_job(job(tmp_path, DIGITS + more, VECTORS + 'gates = { accuracy = "0.9" }\nbins = 5\n'))
    assert (found.folder, found.store) == (str(tmp_path), "store")
    assert found.tasks == (
        Task(
            "digits",
            "compare",
            {"predictions": ("dumps/{date}/*.jsonl",)},
            amounts={"min_coverage": Amount("0.5", Fraction(1, 2))},
            options={"by": ("site",)},
            baseline=Baseline(
                "2026-01-30", {"macroF1": Amount("0.01", Fraction(1, 100)), "ece": Amount("0.001", Fraction(1, 1000))}
            ),
        ),
        Task(
            "vectors",
            "evaluate",
            {"predictions": ("p-{date}.jsonl",), "gold": ("g.jsonl",)},
            options={"bins": 5},
            gates={"accuracy": Amount("0.9", Fraction(9, 10))},
        ),
    )


@pytest.mark.parametrize("name", ["../x", "", ".", "..", "a/b", "a b", "/etc", ".hidden", "a=b", "%2e", "x" * 101, "é"])
def test_a_name_that_is_not_safe_in_a_path_is_refused(tmp_path: Path, name: str) -> None:
    """A hostile name reaches no path: it is refused with its line, and nothing is made."""
    ((line, field, message),) = faults(job(tmp_path, DIGITS.replace('"digits"', f'"{name}"')))
    assert (line, field) == (4, "evaluation[0].name")
    assert message.startswith("must be 1 to 100 letters, digits")
    assert [path.name for path in tmp_path.iterdir()] == ["job.toml"]


def test_two_evaluations_of_one_name_are_refused(tmp_path: Path) -> None:
    """Names that differ only in case are one on some file systems; the second is named."""
    ((line, field, message),) = faults(job(tmp_path, DIGITS, DIGITS.replace('"digits"', '"Digits"')))
    assert (line, field) == (10, "evaluation[1].name")
    assert message.startswith("is the name of evaluation[0] too")


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        (DIGITS + "speed = 1\n", 8, "evaluation[0].speed", "there is no such key; compare has name, kind, predictions"),
        (DIGITS.replace('"compare"', '"query"'), 5, "evaluation[0].kind", "must be one of compare, evaluate, measure"),
        (DIGITS.replace('"0.5"', '"50%"'), 7, "evaluation[0].min_coverage", "for 50 percent write 0.5"),
        (DIGITS.replace('"0.5"', "true"), 7, "evaluation[0].min_coverage", "must be a decimal"),
        (DIGITS.replace('"0.5"', f"0x{'f' * 5000}"), 7, "evaluation[0].min_coverage", "must be a decimal"),
        (DIGITS.replace("min_coverage", "#"), 3, "evaluation[0].min_coverage", "must be there: compare needs"),
        (DIGITS.replace("{date}", "{day}"), 6, "evaluation[0].predictions[0]", "holds {day}; only {date} is filled in"),
        (DIGITS.replace("dumps/{date}/*.jsonl", "-"), 6, "evaluation[0].predictions[0]", "a job has no standard input"),
        (
            DIGITS.replace('["dumps/{date}/*.jsonl"]', "[]"),
            6,
            "evaluation[0].predictions",
            "must be a list of at least",
        ),
        (DIGITS + "gates = {}\n", 8, "evaluation[0].gates", "are the limits of its contract"),
        (DIGITS + 'synthetic = "yes"\n', 8, "evaluation[0].synthetic", "must be true or false"),
        (DIGITS + "[evaluation.baseline]\nsince = 1\n", 9, "evaluation[0].baseline.since", "there is no such key"),
        (DIGITS + "baseline = {}\n", 8, "evaluation[0].baseline.against", 'must be "last-go" or a date'),
        (
            DIGITS + 'baseline = { against = "last-go", margins = { speed = 1 } }\n',
            8,
            "evaluation[0].baseline.margins.speed",
            "there is no such metric with a better side; there are coverage, precisionAtCoverage, macroF1, ece",
        ),
        (
            DIGITS + 'baseline = { against = "last-go", margins = { ece = -1 } }\n',
            8,
            "evaluation[0].baseline.margins.ece",
            "must be a finite decimal, 0 or more",
        ),
        (
            DIGITS + 'baseline = { against = "2026-02-30", margins = { ece = 1 } }\n',
            8,
            "evaluation[0].baseline.against",
            'must be "last-go" or a date',
        ),
        (VECTORS + "bins = 0\n", 8, "evaluation[0].bins", "must be a whole number from 1 to"),
        (VECTORS + "bins = 5.0\n", 8, "evaluation[0].bins", "must be a whole number"),
        (VECTORS + 'gates = { "OCR CER" = 1 }\n', 8, "evaluation[0].gates.OCR CER", "there is no such metric"),
        (MEASURED + 'qrels = "q"\n', 7, "evaluation[0].qrels", "must be named together"),
        (MEASURED + "max_grade = 54\n", 7, "evaluation[0].max_grade", "must be a whole number from 1 to 53"),
        (MEASURED + 'run = { " " = "f" }\n', 7, "evaluation[0].run", "must name each system"),
        (MEASURED + "run = 1\n", 7, "evaluation[0].run", "must be a table of one file a system"),
        ("[evaluation]\n", 2, "evaluation", "must be at least one table [[evaluation]]"),
        ("speed = 1\n" + DIGITS, 2, "speed", "there is no such key; there are store, evaluation"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, line: int, field: str, message: str) -> None:
    """Every key that is unknown, missing or of the wrong type or range is said with line, field and what to do."""
    found = faults(job(tmp_path, text))
    assert [(one[0], one[1]) for one in found if message in one[2]] == [(line, field)], found


def test_everything_is_said_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    """A job with several faults names them all, also those of the second evaluation at its own lines."""
    broken = DIGITS.replace('"0.5"', '"2"')
    found = faults(job(tmp_path, broken, broken, store=""))
    assert [(line, field) for line, field, _ in found] == [
        (1, "store"),
        (7, "evaluation[0].min_coverage"),
        (10, "evaluation[1].name"),
        (13, "evaluation[1].min_coverage"),
    ]


def test_a_job_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A file that is not there, or no TOML, is refused with its name, and the line where there is one."""
    assert [message for _, _, message in faults(tmp_path / "none.toml")] == [
        "cannot be read: No such file or directory"
    ]
    ((line, _, message),) = faults(job(tmp_path, "[[evaluation]\n"))
    assert line == 2
    assert message.startswith("must be TOML")


@pytest.mark.parametrize("date", ["2026-1-31", "2026-02-30", "20260131", "", "../x", "2026-01-31T00", "yesterday"])
def test_a_date_is_a_day_that_exists(tmp_path: Path, date: str) -> None:
    """A date in any other form is refused before anything is made."""
    with pytest.raises(Refusal) as refused:
        nightly(job(tmp_path, DIGITS), date)
    assert refused.value.counts == {"date": 1}
    assert not (tmp_path / "store").exists()
