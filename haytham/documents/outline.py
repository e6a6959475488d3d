"""A document's source cut into its sections."""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

from haytham.documents.blocks import FENCE, HEADING, HTML, Block

_BLANK = " \t\v\f\r"
_HTML_ENDS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
_HTML_PAIR = re.compile(r"<(script|pre|style|textarea)(?![a-z0-9-])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A heading with all that follows up to the next heading of its level or above."""

    title: str
    level: int
    start: int
    body: int
    end: int
    blocks: tuple[Block, ...]

    @property
    def own_blocks(self) -> tuple[Block, ...]:
        """The blocks before the first heading inside."""
        for index, block in enumerate(self.blocks):
            if block.kind == HEADING:
                return self.blocks[:index]
        return self.blocks

    @property
    def subsections(self) -> tuple["Section", ...]:
        """All that follows the first heading inside, cut at headings one level below, or above the first."""
        first = next((block.level for block in self.blocks if block.kind == HEADING), None)
        return () if first is None else sections(self.blocks, self.level + 1, self.end, from_any=True)


class Source:
    """A text without byte order mark; where the first line ends with CRLF, an editor made all ends so."""

    def __init__(self, text: str, path: str = "") -> None:
        text = text.removeprefix("\ufeff")
        is_crlf = text.partition("\n")[0].endswith("\r")
        self.text = text.replace("\r\n", "\n") if is_crlf else text
        self.path = path

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def line(self, offset: int) -> int:
        """Returns the number of the line that an offset is in."""
        return bisect_left(self._newlines, offset) + 1

    def slice(self, start: int, end: int) -> str:
        """Returns a part of the text without the blank lines around it."""
        return "\n".join(trimmed(self.text[start:end].split("\n")))

    def lines(self, block: Block) -> list[tuple[int, str]]:
        """Returns a block's lines with their offsets."""
        placed, offset = [], block.start
        for line in trimmed(self.text[block.start : block.end].split("\n"), start=False):
            placed.append((offset, line))
            offset += len(line) + 1
        return placed


def trimmed(lines: list[str], *, start: bool = True) -> list[str]:
    """Drops the blank lines at the end, and at the start if asked for."""
    first, last = 0, len(lines)
    while last and not lines[last - 1].strip(_BLANK):
        last -= 1
    while start and first < last and not lines[first].strip(_BLANK):
        first += 1
    return lines[first:last]


def sections(blocks: tuple[Block, ...], level: int, end: int, *, from_any: bool = False) -> tuple[Section, ...]:
    """Cuts blocks into the sections whose headings are of this level or above; the first may be of any, if asked."""
    heads = [index for index, block in enumerate(blocks) if block.kind == HEADING and block.level <= level]
    if from_any:
        first = next(index for index, block in enumerate(blocks) if block.kind == HEADING)
        heads = heads if heads and heads[0] == first else [first, *heads]
    stops = [*heads[1:], len(blocks)] if heads else []
    return tuple(
        Section(
            title=blocks[head].title,
            level=blocks[head].level,
            start=blocks[head].start,
            body=blocks[head].end,
            end=blocks[stop].start if stop < len(blocks) else end,
            blocks=blocks[head + 1 : stop],
        )
        for head, stop in zip(heads, stops, strict=True)
    )


def unclosed(source: Source, blocks: tuple[Block, ...]) -> Block | None:
    """Returns the fence or HTML that swallows the rest of the document, if there is one."""
    if not blocks or blocks[-1].kind not in {FENCE, HTML}:
        return None
    last = blocks[-1]
    text = source.slice(last.start, last.end).lstrip(" ")
    is_closed = _is_fence_closed(text) if last.kind == FENCE else _is_html_closed(text)
    return None if is_closed else last


def _is_fence_closed(text: str) -> bool:
    opening, *_, closing = text.split("\n") if "\n" in text else (text, "")
    fence = opening[: len(opening) - len(opening.lstrip(opening[0]))]
    closing = closing.strip(_BLANK)
    return closing.startswith(fence) and not closing.strip(fence[0])


def _is_html_closed(text: str) -> bool:
    if pair := _HTML_PAIR.match(text):
        return text.find(f"</{pair[1].lower()}>", pair.end()) >= 0
    for opening, closing in _HTML_ENDS:
        if text.startswith(opening):
            return text.find(closing, len(opening)) >= 0
    return True
