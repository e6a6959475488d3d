"""Runs the commands of a page as a person types them, in a terminal of 80 columns, and reads what is then to be seen.

A block of a page that is marked `console` holds lines that begin with `$ `, each with what it prints below it.
"""

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyte

from tests import terminal
from tests.cli.conftest import PROGRAM

_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_LINES = 400
_CHANGING = (  # what is different each time, with what stands for it
    (re.compile(r"\b(project|session)-[0-9a-f]{12}\b"), r"\1-ID"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "sha256:HASH"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "INSTANT"),
    (re.compile(r"\b20\d\d-\d\d-\d\d"), "DATE"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"(?<=TIME  )[0-9a-f]{7}\b"), "SHORT"),
    (re.compile(r"(?<=commit )[0-9a-f]{7}\b"), "SHORT"),
    (re.compile(r"(?<=Commit     )[0-9a-f]{12}\b"), "LONGER"),
    (re.compile(r" +\d+\.\ds\b"), " SECONDS"),
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One command, and what the page says that it prints."""

    command: str
    expected: list[str]


def steps(text: str) -> Iterator[Step]:
    """Yields the commands of a page in their order."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *expected = part.rstrip("\n").split("\n")
            yield Step(command=command, expected=expected)


def unvaried(lines: list[str]) -> list[str]:
    """Returns lines without what is different each time."""
    text = "\n".join(lines)
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text.split("\n") if text else []


class Person:
    """Somebody in an empty folder, with a home of their own and the program on their path."""

    def __init__(self, folder: Path) -> None:
        home, self.here, programs = folder / "home", folder / "here", folder / "bin"
        for each in (home, self.here, programs):
            each.mkdir(parents=True)
        program = programs / "haytham"
        program.write_text(f'#!/bin/sh\nexec {PROGRAM[0]} -m {PROGRAM[2]} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        root = str(Path(__file__).resolve().parent.parent.parent)
        self._environment = {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": root,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
        }
        for key, value in (("user.name", "Ana"), ("user.email", "ana@example.org")):
            subprocess.run(["git", "config", "--global", key, value], env=os.environ | self._environment, check=True)

    def types(self, command: str) -> list[str]:
        """Runs a command and returns the lines that a terminal then shows."""
        _, written = terminal.run("/bin/sh", "-c", command, environment=self._environment, cwd=self.here)
        screen = pyte.Screen(terminal.COLUMNS, _LINES)
        pyte.ByteStream(screen).feed(written)
        lines = [line.rstrip() for line in screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def filled_in(text: str, person: Person) -> str:
    """Returns a page with what each of its commands prints, as somebody sees it who types them all."""

    def block(found: re.Match[str]) -> str:
        commands = [step.command for step in steps(f"```console\n{found[1]}```")]
        return "".join("\n".join([f"$ {each}", *person.types(each)]) + "\n" for each in commands)

    return _BLOCK.sub(block, text)
