"""A real browser to look at a page with: Chromium, if there is one, spoken to over a pair of pipes."""

import itertools
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = (
    "--headless=new",
    "--remote-debugging-pipe",  # it reads from 3 and writes to 4, each message with a zero byte behind it
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-extensions",
    "--hide-scrollbars",
)
_PATIENCE = 120.0  # seconds; a browser that says nothing for so long is ended


def program() -> str | None:
    """Returns the browser on the PATH, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page of the browser."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends a command, and returns its result; what happens meanwhile is kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._writer.write(json.dumps(message).encode() + b"\0")
        self._writer.flush()
        while (found := self._next()).get("id") != number:
            self.events.append(found)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result

    def open(self, address: str, *, width: int, height: int = 800) -> None:
        """Opens an address in a window of that width, as a telephone has it, and waits until it is loaded."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
        self.events.clear()
        self.ask("Page.navigate", url=address)
        while not any(each.get("method") == "Page.loadEventFired" for each in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """Returns what an expression is in the page."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def requests(self) -> list[str]:
        """Returns the addresses that were asked for since the page was opened."""
        asked = [each["params"] for each in self.events if each.get("method") == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in asked]

    def _next(self) -> dict[str, Any]:
        data = bytearray()
        while (more := self._reader.read(1)) != b"\0":
            assert more, "the browser is gone"
            data += more
        found: dict[str, Any] = json.loads(data)
        return found


@contextmanager
def opened(scratch: Path) -> Iterator[Page]:
    """Starts the browser with a profile of its own, and ends it."""
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # which root cannot have
    command = [str(program()), *SWITCHES, *sandbox, f"--user-data-dir={scratch}"]
    with (
        (scratch / "said.txt").open("wb") as said,
        subprocess.Popen(
            ["bash", "-c", f'exec 3<&{their_in} 4>&{their_out}; exec "$@"', "bash", *command],
            pass_fds=(their_in, their_out),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        ) as running,
    ):
        os.close(their_in)
        os.close(their_out)
        patience = threading.Timer(_PATIENCE, running.kill)
        patience.start()
        try:
            with os.fdopen(our_in, "rb") as reader, os.fdopen(our_out, "wb") as writer:
                yield Page(reader, writer)
        finally:
            patience.cancel()
            running.kill()
