"""Killed at any step, a store reads as before or as after, and a run after it leaves what an unkilled one leaves."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from nights import DIGITS, held, job, killed_at, night
from support import LINUX, judged

from evalkit import nightly

pytestmark = pytest.mark.skipif(not LINUX, reason="kills at system calls as Linux has them")

NIGHT = "2026-01-30"
OLD, NEW = judged("alpha", right=10), judged("alpha", right=19, wrong=1)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store of one night, to be replaced, and what an unkilled replacement leaves."""
    folder = tmp_path_factory.mktemp("reference")
    night(folder, NIGHT, OLD)
    path = job(folder, DIGITS)
    nightly(path, NIGHT)
    shutil.copytree(folder / "store", folder / "before")
    night(folder, NIGHT, NEW)
    nightly(path, NIGHT, replace=True)
    (folder / "store").rename(folder / "after")
    return folder


def parts(store: Path) -> dict[str, dict[str, bytes]]:
    """Tell what a store holds, folder by folder."""
    found: dict[str, dict[str, bytes]] = {"evaluation": {}, "night": {}}
    for name, content in held(store).items():
        found[name.partition("=")[0]][name] = content
    return found


@pytest.mark.parametrize("step", [1, 2, 9, 15, 18, 19, 24, 51, 56])
def test_killed_at_a_step_of_a_replacement(reference: Path, tmp_path: Path, step: int) -> None:
    """Each folder is whole, the old or the new; the next run sweeps what is half-written, and ends as it would have."""
    before, after = parts(reference / "before"), parts(reference / "after")
    night(tmp_path, NIGHT, NEW)
    path = job(tmp_path, DIGITS)
    shutil.copytree(reference / "before", tmp_path / "store")
    code, said = killed_at(path, step, NIGHT)
    assert code == -9, said
    found = parts(tmp_path / "store")
    for part, content in found.items():
        assert content in (before[part], after[part]), said
    assert not (found["night"] == after["night"] and found["evaluation"] == before["evaluation"])
    assert nightly(path, NIGHT, replace=True).code == 0
    assert held(tmp_path / "store") == held(reference / "after")
    assert not list((tmp_path / "store").rglob(".evalkit-*"))


@pytest.mark.parametrize("step", [8, 14])
def test_terminated_at_a_step_nothing_is_left_half_written(reference: Path, tmp_path: Path, step: int) -> None:
    """SIGTERM lets the run clean up: the store is as before, to the last file."""
    night(tmp_path, NIGHT, NEW)
    path = job(tmp_path, DIGITS)
    shutil.copytree(reference / "before", tmp_path / "store")
    assert killed_at(path, step, NIGHT, signal.SIGTERM)[0] == 143
    assert held(tmp_path / "store") == held(reference / "before")
    assert not list((tmp_path / "store").rglob(".evalkit-*"))
