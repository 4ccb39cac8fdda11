"""The Hugging Face Hub is read like any store, by its own library; run where that is installed.

A stub on loopback answers what the library asks for one data set, ``own/name``, in the shape of the Hub's answers.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from support import judged, text

import evalkit

if importlib.util.find_spec("huggingface_hub") is None:
    pytest.skip("pip install huggingface_hub, and the Hub is tried too", allow_module_level=True)

FILES: dict[str, bytes] = {}
_COMMIT = "c" * 40


class Hub(BaseHTTPRequestHandler):
    """Answers for one data set."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Answer as to GET, without the content."""
        self.do_GET()

    def do_POST(self) -> None:
        """Tell of paths."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        paths = json.loads(body)["paths"] if body.startswith("{") else urllib.parse.parse_qs(body)["paths"]
        self._tell([_entry(path) for path in paths if path in FILES])

    def do_GET(self) -> None:
        """Tell of the data set, list a folder, or give a range of a file."""
        path = urllib.parse.unquote(self.path.partition("?")[0])
        if "/own/name" not in path:
            self._tell({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
        elif "/tree/" in path:
            folder = path.partition("/tree/")[2].partition("/")[2]
            inside = [_entry(name) for name in FILES if name.startswith(folder)]
            self._tell(inside if folder else [{"type": "directory", "path": "in", "oid": "0"}])
        elif "/resolve/" in path:
            self._give(FILES[path.partition("/resolve/")[2].partition("/")[2]])
        else:
            self._tell({"id": "own/name", "sha": _COMMIT, "siblings": [], "tags": [], "downloads": 0, "likes": 0})

    def _give(self, data: bytes) -> None:
        first, last = (self.headers["Range"].partition("=")[2]).split("-")
        piece = data[int(first) : int(last) + 1]
        self._send(piece, 206, {"Content-Range": f"bytes {first}-{last}/{len(data)}", "X-Repo-Commit": _COMMIT})

    def _tell(self, what: Any, code: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(json.dumps(what).encode(), code, {"Content-Type": "application/json", **(headers or {})})

    def _send(self, data: bytes, code: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _entry(path: str) -> dict[str, Any]:
    oid = hashlib.sha256(FILES[path]).hexdigest()[:40]
    commit = {"id": _COMMIT, "title": "t", "date": "2026-01-31T00:00:00.000Z"}
    return {"type": "file", "path": path, "size": len(FILES[path]), "oid": oid, "lastCommit": commit}


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """Run the stub."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(autouse=True)
def hub(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve two dumps; the library reads where it finds the Hub once, when it is loaded."""
    FILES.update({f"in/{name}.jsonl": text(judged(name, right=10)) for name in ("alpha", "beta")})
    monkeypatch.setenv("HF_ENDPOINT", served)


def test_files_of_the_hub_are_read() -> None:
    """A file and a pattern give the report of the same records."""
    found = evalkit.compare("hf://datasets/own/name/in/*.jsonl", "0.5")
    assert [(one.name, one.records) for one in found.evidence] == [
        ("hf://datasets/own/name/in/alpha.jsonl", 20),
        ("hf://datasets/own/name/in/beta.jsonl", 20),
    ]
    assert found.evidence[0].sha256 == hashlib.sha256(FILES["in/alpha.jsonl"]).hexdigest()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("hf://datasets/own/name/in/none.jsonl", "there is no such object [path-missing]"),
        ("hf://datasets/own/other/a.jsonl", "there is no such object [path-missing]"),
    ],
)
def test_what_the_hub_has_not_is_refused(name: str, fault: str) -> None:
    """A file that is not there, and one of a data set that is not, are refused."""
    with pytest.raises(evalkit.Refusal) as said:
        evalkit.compare(name, "0.5")
    assert str(said.value) == f"{name}: {fault}"


def test_nothing_is_written_to_the_hub() -> None:
    """Results are not put there."""
    report = evalkit.compare("hf://datasets/own/name/in/alpha.jsonl", "0.5")
    with pytest.raises(evalkit.Refusal, match="hf:// is only read"):
        report.write_json("hf://datasets/own/name/report.json")


def test_a_file_that_changes_meanwhile_is_refused() -> None:
    """The library keeps what it was told of a file; it is asked anew."""
    from evalkit.sources.source import open_same, resolve

    (source,) = resolve(["hf://datasets/own/name/in/alpha.jsonl"])
    FILES["in/alpha.jsonl"] = FILES["in/alpha.jsonl"].replace(b"0.97", b"0.98")
    assert source.identity is not None
    with pytest.raises(evalkit.Refusal, match="file-changed"):
        open_same(source.name, source.identity)
