"""Whoever reads, an object of a store is read as a file is; and statistics do not show who read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import engines
import pytest
import support
from engines import compared, flat, records
from stores import Server, server

from evalkit.families.selective.wanted import wanted

BUCKET = "s3://engines"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server with one bucket, which this process and those that it starts find."""
    with server(tmp_path_factory.mktemp("server")) as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.variables.items():
            patch.setenv(name, value)
        found.ask("PUT", "engines")
        yield found


@pytest.fixture(scope="module")
def dumps(store: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of dumps that is in the store too."""
    folder = tmp_path_factory.mktemp("dumps")
    lines = records(7, 2000)
    support.dump(folder / "whole.jsonl", lines)
    flat(lines).write_parquet(folder / "whole.parquet", row_group_size=300)
    for file in folder.iterdir():
        store.put(f"engines/{folder.name}/{file.name}", file.read_bytes())
    return folder


def here_and_there(folder: Path, text: str) -> str:
    """Return a text with the names of files in a folder for those of the same objects."""
    return text.replace(f"{BUCKET}/{folder.name}", str(folder))


def asked() -> Any:
    """Return all statistics that are asked for."""
    return wanted(
        {"interval": "0.9", "replicates": 100, "calibration": True, "curves": True, "certify": "precision>=0.5@0.9"}
    )


def test_a_cluster_reads_objects_itself(store: Server, dumps: Path, tmp_path: Path) -> None:
    """Workers of Dask fetch ranges of objects and digest them; the report is that of files, statistics too."""
    with engines.cluster(tmp_path, 2, **store.variables) as own:
        for name in ("whole.jsonl", "whole.parquet"):
            here = compared(None, str(dumps / name), 30_000, 500, wanted=asked())
            assert json.loads(here)["statistics"]["candidates"][0]["intervals"]
            there = compared(own.engine, f"{BUCKET}/{dumps.name}/{name}", 30_000, 500, wanted=asked())
            assert here_and_there(dumps, there) == here


def test_processes_read_objects_themselves(dumps: Path) -> None:
    """Other processes do as well, with the same bytes."""
    for name in ("whole.jsonl", "whole.parquet"):
        here = compared(None, str(dumps / name), 30_000, 500, wanted=asked())
        there = compared("processes:2", f"{BUCKET}/{dumps.name}/{name}", 30_000, 500, wanted=asked())
        assert here_and_there(dumps, there) == here
