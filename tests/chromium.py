"""A real browser, driven over a pipe: what tests of pages and the script that makes the docs' pictures stand on."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
SILENCE_S = 120  # of a browser on a busy machine
KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "ArrowRight": (39, ""),
    "ArrowDown": (40, ""),
    "ArrowLeft": (37, ""),
    "ArrowUp": (38, ""),
    "Home": (36, ""),
    "End": (35, ""),
    "PageDown": (34, ""),
    "Backspace": (8, ""),
}


class Page:
    """One page of a browser of its own. Messages are JSON ended by a zero byte, on file descriptors 3 and 4."""

    def __init__(self, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        command = [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        command += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        # Its two descriptors have to be 3 and 4, whatever the pipe's are here.
        move = "import os, sys; a, b = map(os.dup, map(int, sys.argv[1:3])); a, b = os.dup(a), os.dup(b)"
        move += "; os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
        wrapped = [sys.executable, "-c", move, str(theirs_in), str(theirs_out), *command]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(wrapped, pass_fds=(theirs_in, theirs_out), **quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self.source, self.sink = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.numbers, self.session, self.seen, self.rest = itertools.count(1), "", [], b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are kept in `seen`."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params} | (
            {"sessionId": self.session} if self.session else {}
        )
        self.sink.write(json.dumps(message).encode() + b"\0")
        self.sink.flush()
        while (answer := self.read()).get("id") != number:
            self.seen.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def read(self) -> dict[str, Any]:
        """Return the next message."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], SILENCE_S)
            assert ready, "the browser says nothing any more"
            piece = os.read(self.source.fileno(), 65536)
            assert piece, "the browser has gone"
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def go(self, place: Path | str, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Open a file or an address at a size, in light or dark."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        if isinstance(place, str):  # an address that differs after `#` alone would not be opened anew
            self._load("about:blank")
        self._load(place if isinstance(place, str) else place.as_uri())
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _load(self, url: str) -> None:
        """Open an address and wait until it is there; what was seen before is forgotten."""
        self.seen = []
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.seen):
            self.seen.append(self.read())

    def js(self, expression: str) -> Any:
        """Return what JavaScript gives."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def until(self, expression: str, seconds: float = 30) -> Any:
        """Return what JavaScript gives as soon as it is true of the page.

        Raises:
            AssertionError: it never was; the message shows what the page says instead.
        """
        end = time.monotonic() + seconds
        # an element would come back as an empty record, which is not true here
        told = f"(found => found instanceof Node ? true : found)({expression})"
        while not (found := self.js(told)):
            shown = self.js("document.body.innerText.slice(0, 1500)") if time.monotonic() > end else ""
            assert time.monotonic() < end, f"never true: {expression}\n{shown}\n{self.complaints()}"
            time.sleep(0.03)
        return found

    def type(self, text: str) -> None:
        """Type a text, a letter at a time."""
        for letter in text:
            self.press(letter)

    def press(self, key: str) -> None:
        """Press and let go of a key, as a person would."""
        code, text = KEYS.get(key, (0, key))
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, **({"text": text} if text else {})}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def requests(self) -> list[str]:
        """What was asked for since the page was opened."""
        sent = [
            event["params"]["request"]["url"]
            for event in self.seen
            if event.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """What the browser found wrong."""
        return [json.dumps(e) for e in self.seen if e.get("method") in {"Log.entryAdded", "Runtime.exceptionThrown"}]

    def picture(self, path: Path) -> None:
        """Save what is seen."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        self.sink.close()
        self.process.terminate()
        self.process.wait(20)
        self.source.close()


def opened(profile: Path) -> Iterator[Page]:
    """A browser for a fixture; continuous integration has to have one."""
    if not CHROMIUM:
        from needed import lacking  # a script that takes pictures does without pytest

        lacking("Chromium", "apt install chromium")
    page = Page(profile)
    yield page
    page.close()
