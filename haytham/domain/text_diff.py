"""What changed between two texts, as a unified diff."""

import difflib


def unified(old: str, new: str, before: str, after: str) -> str:
    """Returns the differences of two texts under the names given; nothing if they are equal."""
    lines = difflib.unified_diff(_lines(old), _lines(new), before, after)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Splits at line breaks and nothing else; a form feed is part of its line."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])
