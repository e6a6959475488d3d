"""Lines that carry a label: `- Label: value`, in the ways people write it."""

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"^ {0,3}(?P<bullet>(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$))?(?:\[(?P<box>[ xX✓]?)\][ \t]*)?(?P<body>.*)$",
    re.DOTALL,
)
_BOLD = re.compile(r"(\*\*|__|\*|_)(?P<label>[^*_:\n]+?)(?P<inside>:?)\1(?P<outside>\s*:?)\s*(?P<value>.*)$", re.DOTALL)
_COLON = re.compile(r"\s*[:\uff1a]\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line, taken apart; `value` is None where there was no colon."""

    is_item: bool
    box: str | None
    body: str
    label: str
    value: str | None


def parse(line: str) -> Line:
    """Takes one line apart."""
    match = _LINE.match(line.rstrip("\r"))
    assert match is not None  # noqa: S101 - the pattern matches every line
    body = match["body"].strip()
    label, value = _labelled(body)
    box = match["box"]
    if box is not None and not value:
        value = "true" if box.strip() else "false"
    return Line(is_item=bool(match["bullet"]), box=box, body=body, label=label, value=value)


def is_continuation(line: str) -> bool:
    """Tells whether a line belongs to the item above it."""
    return line.startswith(("  ", "\t"))


def _labelled(body: str) -> tuple[str, str | None]:
    if (bold := _BOLD.match(body)) and (bold["inside"] or bold["outside"].strip()):
        return bold["label"].strip(), bold["value"].strip()
    parts = _COLON.split(body, maxsplit=1)
    label = parts[0].strip("*_ ")
    return (label, parts[1]) if len(parts) > 1 else (label, None)
