"""A headless Chromium driven through its DevTools protocol over a pipe: no port, no library, no network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium")
NEEDED = os.environ.get("EVALKIT_NEEDS_BROWSER") == "1"
REASON = "no chromium; on Debian: apt-get install chromium"

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_PIPED = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_PATIENCE = 30.0
_KEYS = {
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "PageUp": 33,
    "PageDown": 34,
    "End": 35,
    "Home": 36,
    "Tab": 9,
    "Enter": 13,
}


class Tab:
    """One tab, and everything that happened in it.

    Attributes:
        asked: The addresses that were asked for.
        complaints: What the console, the page's policy and failing scripts said.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._number, self._buffer, self._session = 0, b"", ""
        self._loads = 0
        self.asked: list[str] = []
        self.complaints: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode("utf-8") + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready = select.select([self._reading], [], [], max(0.0, until - time.monotonic()))[0]
            assert ready, "the browser does not answer"
            self._buffer += os.read(self._reading, 1 << 20)
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loads += 1
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(params["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(params["args"]))

    def open(
        self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False, scripts: bool = True
    ) -> None:
        """Open a page in a window of a size, and forget what was before."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.asked, self.complaints, self._loads = [], [], 0
        self.send("Page.navigate", url=page.as_uri())
        while not self._loads:
            self._note(self._next())

    def run(self, script: str) -> Any:
        """Return what an expression is in the page."""
        done = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def text(self, name: str) -> str:
        """Return the text of an element, as it is rendered."""
        found: str = self.run(f"document.getElementById({json.dumps(name)}).innerText")
        return found

    def seen(self, name: str) -> bool:
        """Tell whether an element takes any room."""
        found: bool = self.run(f"document.getElementById({json.dumps(name)}).getClientRects().length > 0")
        return found

    def choose(self, name: str, place: int) -> None:
        """Choose an option, as a user does."""
        self.run(
            f"(() => {{ const one = document.getElementById({json.dumps(name)}); one.selectedIndex = {place};"
            "one.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def press(self, *keys: str) -> None:
        """Press keys."""
        for key in keys:
            code = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
            typed = {"text": "\r"} if key == "Enter" else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", **code, **typed)
            self.send("Input.dispatchKeyEvent", type="keyUp", **code)

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move, press or release the mouse."""
        button = {"button": "left", "clickCount": 1, "buttons": 1}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def picture(self, target: Path) -> None:
        """Take a picture of the whole page."""
        taken = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(taken["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """Start a browser, with a profile of its own, and end it."""
    assert BROWSER is not None, "EVALKIT_NEEDS_BROWSER is set, and there is no chromium"
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # Above 3 and 4, which are where the browser looks for the pipe.
    high = [fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (theirs_in, theirs_out)]
    line = [sys.executable, "-c", _PIPED, *map(str, high), BROWSER, *_OPTIONS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(line, pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for one in (*high, theirs_in, theirs_out):
        os.close(one)
    try:
        yield Tab(ours_in, ours_out)
    finally:
        os.close(ours_out)
        os.close(ours_in)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
