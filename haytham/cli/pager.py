"""Shows what is longer than the screen through the user's pager, as git does; never where the output is no terminal."""

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from typing import Any, TextIO

import click

from haytham.cli import terminal
from haytham.cli.editor import unmoved_by_keys

_VARIABLES = ("HAYTHAM_PAGER", "PAGER")
_FALLBACK = "less"
_NONE = frozenset({"", "cat"})
_LESS = "FRX"  # ends by itself if all fits, lets colours through, leaves the text on the screen; git's own choice
_NOT_STARTED = (126, 127)  # what a shell answers


class _Held(io.StringIO):
    """What would go to a terminal, held back; it says of itself what the terminal does."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(newline="")
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()


def paged(function: Callable[..., None]) -> Callable[..., None]:
    """Adds --no-pager to a command, and shows through a pager what it prints."""

    @click.option("--no-pager", is_flag=True, help="Print all at once, however long")
    @wraps(function)
    def command(*, no_pager: bool, as_json: bool, **further: Any) -> None:
        words = "" if no_pager or as_json or not terminal.is_terminal() else _chosen()
        if words in _NONE:
            function(as_json=as_json, **further)
            return
        with _holding(words):
            function(as_json=as_json, **further)

    return command


def is_long(text: str) -> bool:
    """Tells whether a text does not fit the screen."""
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    return sum(1 + (len(line) - 1) // max(columns, 1) if line else 1 for line in text.split("\n")) > lines


@contextmanager
def _holding(words: str) -> Iterator[None]:
    held = _Held(sys.stdout)
    try:
        with redirect_stdout(held):
            yield
    finally:
        _show(held.getvalue(), words)


def _show(text: str, words: str) -> None:
    data = text.encode(sys.stdout.encoding, "backslashreplace")
    if not is_long(text) or not _through(words, data):
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def _through(words: str, data: bytes) -> bool:
    """Waits until the person has closed the pager; tells whether it could be started."""
    environment = {"LESS": _LESS, "LV": "-c", **os.environ}
    with unmoved_by_keys():
        # Through a shell, as git does it: the variable holds words such as `less -S`.
        code = subprocess.run(["/bin/sh", "-c", words], input=data, env=environment, check=False).returncode  # noqa: S603
    return code not in _NOT_STARTED


def _chosen() -> str:
    for name in _VARIABLES:
        if name in os.environ:
            return os.environ[name].strip()
    return _FALLBACK if shutil.which(_FALLBACK) else ""
