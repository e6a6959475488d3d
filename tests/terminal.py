"""A terminal of 80 columns for a command to run in."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from pathlib import Path

COLUMNS, ROWS = 80, 50


def run(
    *command: str,
    environment: Mapping[str, str],
    keys: bytes = b"",
    cwd: Path | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[int, bytes]:
    """Runs a command in a terminal; returns its exit code and every byte it wrote.

    `keys` are what a person types at the first question, and `meanwhile` what is done before that.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLUMNS"}}
    running = subprocess.Popen(
        command,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=cwd,
        env=kept | {"TERM": "xterm-256color", "HAYTHAM_PAGER": "cat"} | dict(environment),
    )
    os.close(follower)
    written = b""
    while more := _next(leader):
        written += more
        if keys and written.endswith(b": "):
            meanwhile()
            os.write(leader, keys)
            keys = b""
    os.close(leader)
    return running.wait(), written


def _next(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # how a terminal says that nobody writes to it any more
        return b""
