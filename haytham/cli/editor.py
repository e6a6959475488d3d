"""Opens the user's editor on a file."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from haytham.cli import terminal
from haytham.domain.errors import Location, NotFound

_VARIABLES = ("VISUAL", "EDITOR")
_FALLBACKS = ("sensible-editor", "vi")
_TAKES_LINE = frozenset({"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "joe", "jed", "mg", "ne"})
_MORE_THAN_A_COMMAND = ";&|=("
_NOT_STARTED = (126, 127)  # what a shell answers


@dataclass(frozen=True, kw_only=True, slots=True)
class Editor:
    """The words that start an editor, as a shell reads them."""

    words: str

    def edit(self, path: Path, line: int | None = None) -> int:
        """Waits until the person has closed the file, at best opened at a line; returns the editor's exit code."""
        place = [f"+{line}"] if line and self._takes_line else []
        # Through a shell, as git does it: these variables hold words such as `code --wait`.
        command = ["/bin/sh", "-c", f'{self._start}{self.words} "$@"', self.words, *place, str(path)]
        output = None if terminal.is_terminal() else sys.stderr  # our own output may be a pipe
        with unmoved_by_keys():
            code = subprocess.run(command, stdout=output, check=False).returncode  # noqa: S603 - the user's own words
        if code in _NOT_STARTED:
            raise NotFound(
                f"the editor {self.words!r} cannot be started.",
                location=Location(path=str(path)),
                hint="set VISUAL or EDITOR to one that can, or edit the file yourself.",
            )
        return code

    @property
    def _start(self) -> str:
        """The shell makes way for a plain command; otherwise a Ctrl-C that the editor uses would end the shell."""
        return "" if any(char in self.words for char in _MORE_THAN_A_COMMAND) else "exec "

    @property
    def _takes_line(self) -> bool:
        try:
            first = shlex.split(self.words)[0]
        except (ValueError, IndexError):
            return False
        return Path(first).name in _TAKES_LINE


def chosen() -> Editor:
    """Returns the editor of the user's choice, or what the system has; raises NotFound if there is none."""
    for name in _VARIABLES:
        if words := os.environ.get(name, "").strip():
            return Editor(words=words)
    for name in _FALLBACKS:
        if shutil.which(name):
            return Editor(words=name)
    raise NotFound("no editor was found.", hint="set VISUAL or EDITOR, or edit the form yourself and save it.")


@contextmanager
def unmoved_by_keys() -> Iterator[None]:
    """Leaves Ctrl-C to a program that is waited for: editors and pagers have a use for it."""
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _nothing(*_: object) -> None:
    """Handles a signal by doing nothing; unlike SIG_IGN it is not inherited by the editor."""
