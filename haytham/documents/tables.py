"""Rows of a table: how cells are written and split."""

import re

_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r":?-+:?\Z")


def cell(text: str) -> str:
    """Escapes what would end a cell."""
    return text.replace("|", "\\|")


def cells(line: str) -> list[str]:
    """Splits a row into its cells."""
    parts = _PIPE.split(line.strip().removeprefix("|"))
    if not parts[-1].strip():
        parts.pop()
    return [part.strip().replace("\\|", "|") for part in parts]


def is_row(line: str) -> bool:
    """Tells whether a line looks like a row."""
    return line.lstrip().startswith("|")


def is_delimiter(row: list[str]) -> bool:
    """Tells whether a row is the line between head and body."""
    return all(_DELIMITER.match(each) for each in row)
