"""What a driver was about to save and what was acknowledged to it, one JSON line each.

It lies outside the file system on trial.
A value is named by a key, such as `session-1/checkpoint/2`. This module does not know what is on disk.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ABSENT = "absent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Save:
    """One call of a driver's: what it writes, and what came back."""

    number: int
    writes: Mapping[str, Any]
    acknowledged: bool
    commits: Mapping[str, str]


class Journal:
    """Appends to a journal; a line is in the file when the call returns."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._count = 0

    def begin(self, writes: Mapping[str, Any]) -> str:
        """Notes what is about to be saved."""
        self._count += 1
        name = f"{os.getpid()}-{self._count}"
        self._line({"begin": name, "writes": writes})
        return name

    def done(self, name: str, commits: Mapping[str, str]) -> None:
        """Notes that the call returned; `commits` are the newest ones then, by repository."""
        self._line({"done": name, "commits": commits})

    def _line(self, value: Mapping[str, Any]) -> None:
        os.write(self._descriptor, (json.dumps(value) + "\n").encode())


def load(path: Path) -> list[Save]:
    """Reads a journal, in the order in which the calls began."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {line["done"]: line["commits"] for line in lines if "done" in line}
    begun = [line for line in lines if "begin" in line]
    return [
        Save(
            number=number,
            writes=line["writes"],
            acknowledged=line["begin"] in done,
            commits=done.get(line["begin"], {}),
        )
        for number, line in enumerate(begun)
    ]


def allowed(saves: Iterable[Save]) -> dict[str, list[Any]]:
    """Returns what each key may hold: what was acknowledged last, or anything begun after that and cut short."""
    values: dict[str, list[Any]] = {}
    for save in saves:
        for key, value in save.writes.items():
            values[key] = [value] if save.acknowledged else [*values.get(key, [ABSENT]), value]
    return values


def cut_short(saves: list[Save]) -> list[Save]:
    """Returns the calls that never returned and that nothing acknowledged came after."""
    last: dict[str, int] = {}
    for save in saves:
        if save.acknowledged:
            last |= dict.fromkeys(save.writes, save.number)
    return [s for s in saves if not s.acknowledged and all(last.get(key, -1) < s.number for key in s.writes)]


def subject(key: str) -> str:
    """Returns what a key is about: a session's id, or the word before the first stroke."""
    return key.removeprefix("requirements/").split("/")[0]


def touched(saves: list[Save], since: int) -> list[Save]:
    """Returns all saves about what was written to since a moment."""
    names = {subject(key) for save in saves[since:] for key in save.writes}
    return [save for save in saves if any(subject(key) in names for key in save.writes)]
