"""Finds the files that ship with the package: templates, schemas, workflows.

In a wheel they lie inside the package; in a checkout `templates/` and `schemas/` lie beside it.
This is the only module of the package that reads its own files.
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def text(folder: str, name: str) -> str:
    """Returns the text of a shipped file."""
    return (_folder(folder) / name).read_text(encoding="utf-8")


@cache
def names(folder: str) -> tuple[str, ...]:
    """Returns the names of the files that ship in a folder."""
    return tuple(sorted(path.name for path in _folder(folder).iterdir() if path.is_file()))


def _folder(folder: str) -> Path:
    inside = _PACKAGE / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder
