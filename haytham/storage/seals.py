"""Tells at a glance that nothing in a folder changed since it was last looked at in full.

A seal keeps what was found then, beside the size, the times and the inode of everything that was looked at. It is a
cache, one line in one file: it may be lost or removed at any time, and whoever does not believe it looks again.
It is not believed after the machine was started anew, because a power cut may take the bytes of a file and leave its
times. Nor is anything sealed that was changed only just now: a further change could bear the same time.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from haytham.domain.errors import StorageFailure
from haytham.storage import files

_GRAIN = 20_000_000  # nanoseconds; the clock of a file system advances in steps of up to 10 ms
_FORMAT = b"haytham seal 1"

Mark = list[int] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How files and folders were at a moment, by name; None for what was not there."""

    taken: int
    marks: dict[str, Mark]

    @property
    def is_calm(self) -> bool:
        """Tells whether everything had been left alone for a moment."""
        return all(mark is None or max(mark[1], mark[2]) < self.taken - _GRAIN for mark in self.marks.values())


_UNQUIET = Look(taken=0, marks={"": [0, 0, 0, 0, 0]})


def look(folder: Path, inside_git: Iterable[str]) -> Look:
    """Looks at everything in a folder, and at these names inside its `.git`; do it before reading any of it."""
    taken, root = time.time_ns(), str(folder)
    try:
        names = [*_names(root, ""), *(f".git/{name}" for name in inside_git)]
        return Look(taken=taken, marks={name: _mark(f"{root}/{name}") for name in names})
    except OSError:  # something vanished meanwhile, or may not be looked at
        return _UNQUIET


def put(seal: Path, found: Look, told: Any, boot: bytes) -> None:
    """Keeps what was told about a folder that looked like this; not if it was just being changed, or cannot be."""
    if not boot or not found.is_calm:
        return
    body = json.dumps({"marks": found.marks, "told": told}).encode()
    with suppress(StorageFailure):
        files.write_line(seal, _digest(body, boot) + b" " + body)


def told(seal: Path, folder: Path, boot: bytes) -> Any | None:
    """Returns what was told about a folder, if nothing in it changed since; None if that is not certain."""
    with suppress(OSError):
        digest, _, body = files.read_line(seal).partition(b" ")
        if not body or digest != _digest(body, boot):
            return None
        kept, root = json.loads(body), str(folder)
        if all(mark == _mark(f"{root}/{name}") for name, mark in kept["marks"].items()):
            return kept["told"]
    return None


@cache
def this_boot() -> bytes:
    """Returns what tells this start of the machine from every other one; nothing if the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    except OSError:
        return b""


def _names(root: str, prefix: str) -> Iterator[str]:
    """Yields everything below a folder but its `.git`; a folder's own times tell what came and went in it."""
    yield prefix
    with os.scandir(f"{root}/{prefix}") as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != ".git":
                    yield from _names(root, f"{prefix}{entry.name}/")
            else:
                yield f"{prefix}{entry.name}"


def _mark(path: str) -> Mark:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return [found.st_mode, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino]


def _digest(body: bytes, boot: bytes) -> bytes:
    return hashlib.sha256(b"%s %s %s" % (_FORMAT, boot, body)).hexdigest().encode()
