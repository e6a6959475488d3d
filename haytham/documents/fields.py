"""Lines that carry a label: `- Label: value`, in the ways people write it."""

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?P<bullet>(?P<indent> {0,3})(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$))?"
    r"\s*(?:\[(?P<box>[ xX✓]?)\][ \t]*)?(?P<body>.*)\Z",
    re.DOTALL,
)
_BOLD = re.compile(r"(\*\*|__|\*|_)(?P<label>[^*_:\n]+)(?P<inside>:?)\1\s*(?P<outside>:?)(?P<value>.*)\Z", re.DOTALL)
_COLON = re.compile("[:\uff1a]")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """One line, taken apart; `value` is None where there was no colon.

    `width` is that of the bullet with its indentation and the space behind it (0: none).
    """

    width: int
    indent: int
    body: str
    label: str
    value: str | None

    @property
    def is_item(self) -> bool:
        """Whether the line starts with a bullet or a number."""
        return self.width > 0


def parse(line: str) -> Line:
    """Takes one line apart."""
    match = _LINE.match(line)
    assert match is not None  # noqa: S101 - the pattern matches every line
    bullet, indent, box, body = match.groups()
    body = body.strip()
    label, value = _labelled(body)
    if box is not None and not value:
        value = "true" if box.strip() else "false"
    return Line(len(bullet or ""), len(indent or ""), body, label, value)


def is_continuation(line: str) -> bool:
    """Tells whether a line is indented so that it belongs to the item above it."""
    return line.startswith(("  ", "\t"))


def is_rule(line: str) -> bool:
    """Tells whether a line is a horizontal rule."""
    return _RULE.match(line) is not None


def _labelled(body: str) -> tuple[str, str | None]:
    if body[:1] in {"*", "_"} and (bold := _BOLD.match(body)) and (bold["inside"] or bold["outside"]):
        return bold["label"].strip(), bold["value"].strip()
    if colon := _COLON.search(body):
        return body[: colon.start()].strip("*_ "), body[colon.end() :].strip()
    return body.strip("*_ "), None
