r"""Shows text of unknown origin so that a terminal cannot be steered by it.

Escape sequences, control characters, line separators and the characters that reorder or hide text (bidi controls,
tags, byte order marks) are shown as what they are: `\x1b`, `\u202e`.
"""

import re
import unicodedata

_JOINERS = "\u200c\u200d"  # needed to write Persian, Hindi and many emoji; they move nothing
_HARMLESS = re.compile(r"[ -~\xa1-\xac\xae-\u02ff]*\Z")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """Returns the text as one line in which every character can be seen."""
    if _HARMLESS.match(text):
        return text
    return "".join(_escaped(char) if _is_hidden(char) else char for char in text)


def visible_lines(text: str) -> str:
    """Returns a text of several lines, each made visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN and char not in _JOINERS


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
