"""Editors and the people before them: they load the form, add a line to it, and save it, each in their own way."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from tests.review.desk import below, filled_in

Save = Callable[[Path, bytes], None]


def in_place(path: Path, data: bytes) -> None:
    """Truncates and writes at once, as most small editors do."""
    path.write_bytes(data)


def slowly(path: Path, data: bytes) -> None:
    """Truncates, then writes piece by piece."""
    with path.open("wb", buffering=0) as file:
        for start in range(0, len(data), 300):
            file.write(data[start : start + 300])
            time.sleep(random.uniform(0, 0.002))


def over_it(path: Path, data: bytes) -> None:
    """Opens the file as it is, thinks, writes over it, and cuts off the rest."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        time.sleep(random.uniform(0, 0.004))
        os.write(descriptor, data)
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)


def beside(path: Path, data: bytes) -> None:
    """Writes beside the file and renames, as careful editors do."""
    other = path.with_name(f".{path.name}.{random.randrange(10**9)}.swp")
    other.write_bytes(data)
    time.sleep(random.uniform(0, 0.002))
    other.rename(path)


def with_backup(path: Path, data: bytes) -> None:
    """Moves the old file away and makes a new one, as vim does with some settings."""
    backup = path.with_name(f".{path.name}~")
    path.rename(backup)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:  # somebody made one meanwhile: a person would look, and save over it
        descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


EDITORS: dict[str, Save] = {
    "in place": in_place,
    "slowly": slowly,
    "over it": over_it,
    "beside": beside,
    "with a backup": with_backup,
    "CRLF": lambda path, data: in_place(path, data.replace(b"\n", b"\r\n")),
    "BOM, beside": lambda path, data: beside(path, b"\xef\xbb\xbf" + data),
}
DECISIONS = ("-", "-", "-", "approved", "retry_with_changes")


def add_a_line(path: Path, save: Save, line: str) -> bool:
    """Loads a form, adds a line to the comments, perhaps decides, saves; False if it could not be loaded."""
    try:
        text = path.read_bytes().decode().removeprefix("\ufeff").replace("\r\n", "\n")
        text = below(text, "## User Comments", line)
        changed = filled_in(text, random.choice(DECISIONS))
        time.sleep(random.uniform(0, 0.004))
        save(path, changed.encode())
    except (FileNotFoundError, AssertionError):  # just being replaced, or not a form at the moment
        return False
    return True
