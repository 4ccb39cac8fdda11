"""A server on loopback that speaks S3, that of moto, and the little that tests need to ask of it themselves."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree

from support import Run, until
from typer.testing import CliRunner

from evalkit.cli.app import app

_FORM = "application/x-www-form-urlencoded"

KEY, SECRET = "AKIDTESTSTESTSTESTS1", "secret-of-the-tests-0123456789"


class Server(NamedTuple):
    """A running server.

    Attributes:
        address: Its URL.
        log: What it has been asked, line by line.
    """

    address: str
    log: Path

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of a program must say to reach it."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def ask(self, method: str, path: str, data: bytes | None = None, service: str = "s3") -> bytes:
        """Send a request as the owner; the server only looks whose key it names."""
        scope = f"{KEY}/20260101/us-east-1/{service}/aws4_request"
        signature = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"
        headers = {"Content-Type": _FORM if service == "iam" else "text/plain", "Authorization": signature}
        request = urllib.request.Request(f"{self.address}/{quote(path, '/?=&')}", data, headers, method=method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            found: bytes = answer.read()
            return found

    def put(self, path: str, data: bytes) -> str:
        """Write an object, and return its URL."""
        self.ask("PUT", path, data)
        return f"s3://{path}"

    def copy(self, folder: Path, place: str) -> None:
        """Write all files of a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{place}/{path.relative_to(folder)}", path.read_bytes())

    def names(self, bucket: str, prefix: str = "") -> list[str]:
        """Return the names in a bucket, but for those that only stand for a folder."""
        found = ElementTree.fromstring(self.ask("GET", f"{bucket}?list-type=2&prefix={prefix}"))  # noqa: S314
        names = [one.text or "" for one in found.iter() if one.tag.endswith("}Key")]
        return [name for name in names if not name.endswith("/")]


def command(*arguments: str | Path) -> Run:
    """Run a command in this process, which is all that the start of another would add to."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Run(done.exit_code, done.stdout_bytes, done.stderr_bytes)


@contextmanager
def server(folder: Path, **variables: str) -> Iterator[Server]:
    """Run a server, started with these variables, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    found = Server(f"http://127.0.0.1:{port}", folder / f"log-{port}")
    command = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", port]
    with found.log.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, env=variables) as process:
        try:
            until(lambda: _answers(found), "the store")
            yield found
        finally:
            process.kill()


def _answers(found: Server) -> bool:
    try:
        found.ask("GET", "moto-api/")
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
