r"""Shows text of unknown origin so that a terminal cannot be steered by it.

Escape sequences, control characters, line separators and the characters that reorder or hide text (bidi controls,
tags, byte order marks) are shown as what they are: `\x1b`, `\u202e`.
"""

_JOINERS = "\u200c\u200d"  # needed to write Persian, Hindi and many emoji; they move nothing
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """Returns the text as one line in which every character can be seen."""
    return text if text.isprintable() else "".join(char if char.isprintable() else _shown(char) for char in text)


def visible_lines(text: str) -> str:
    """Returns a text of several lines, each made visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _shown(char: str) -> str:
    """Shows one that Python does not call printable: most kinds of spaces and private characters do no harm."""
    from unicodedata import category  # takes longer to import than most texts to check

    return _escaped(char) if category(char) in _HIDDEN and char not in _JOINERS else char


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
