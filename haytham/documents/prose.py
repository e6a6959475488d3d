"""Free text inside a document: how it is fenced in, so that nothing in it can become structure.

Plain paragraphs stand as they are, because people read them.
Anything that could end a section, start a fence or lose a byte is put between two fences marked "verbatim".
"""

import re

from haytham.documents.outline import trimmed

VERBATIM = "verbatim"
OWN_COMMENT = "<!-- haytham"

_RISKY = re.compile(
    r"^[ \t]*(?:#|```|~~~|<|=|>{7}|\|{7}|-+[ \t]*$)"  # a heading, fence, HTML or merge marker, or what would make one
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]",  # what editors change or hide
    re.MULTILINE,
)
_TILDES = re.compile(r"~{3,}")
_INDENT = "  "


def shown(text: str) -> str:
    """Writes free text so that `read` gives it back byte for byte."""
    return text if _is_plain(text) else fenced(text)


def shown_item(text: str) -> str:
    """Writes the text of a list item, with its further lines indented below the bullet."""
    if text and _is_plain(text) and all(line == line.rstrip() for line in text.split("\n")):
        return f" {_indented(text)}"
    return f"\n{_INDENT}{_indented(fenced(text))}"


def fenced(text: str) -> str:
    """Puts a text between fences that nothing in it can close."""
    longest = max((len(run) for run in _TILDES.findall(text)), default=2)
    fence = "~" * (longest + 1)
    return f"{fence}{VERBATIM}\n{text}\n{fence}"


def read(source: str) -> str:
    """Reads the source of a section of free text."""
    lines = trimmed(source.split("\n"))
    text = _unfenced(lines)
    return "\n".join(lines).rstrip() if text is None else text


def read_item(first: str, further: list[str], width: int) -> str:
    """Reads a list item: the text beside its bullet, and the lines below, indented by the bullet's width."""
    lines = [_dedented(line, width) for line in further]
    text = None if first else _unfenced(trimmed(lines))
    return "\n".join([first, *lines]).rstrip().lstrip("\n") if text is None else text


def _unfenced(lines: list[str]) -> str | None:
    """Returns what stands between verbatim fences, or None if there are none."""
    if len(lines) < 2 or not lines[0].startswith("~~~"):  # noqa: PLR2004 - one fence opens, one closes
        return None
    opening, closing = lines[0].rstrip(), lines[-1].rstrip()
    is_verbatim = opening == closing + VERBATIM and not closing.strip("~")
    return "\n".join(lines[1:-1]) if is_verbatim else None


def _is_plain(text: str) -> bool:
    return text == text.strip() and _RISKY.search(text) is None


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"{_INDENT}{line}" if line else line for line in rest)])


def _dedented(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(blanks, width) :]
