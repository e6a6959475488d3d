"""A document's source cut into its sections."""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

from haytham.documents.blocks import FENCE, HEADING, HTML, Block


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
        heads = [index for index, block in enumerate(self.blocks) if block.kind == HEADING]
        return self.blocks[: heads[0]] if heads else self.blocks

    @property
    def subsections(self) -> tuple["Section", ...]:
        """The sections one level below."""
        return sections(self.blocks, self.level + 1, self.end)


class Source:
    """A text with its line numbers."""

    def __init__(self, text: str, path: str = "") -> None:
        self.text = text.removeprefix("\ufeff")
        self.path = path
        self.crlf = self.text.partition("\n")[0].endswith("\r")

    @cached_property
    def _newlines(self) -> list[int]:
        return [index for index, char in enumerate(self.text) if char == "\n"]

    def line(self, offset: int) -> int:
        """Returns the number of the line that an offset is in."""
        return bisect_left(self._newlines, offset) + 1

    def slice(self, start: int, end: int) -> str:
        """Returns a part of the text without the blank lines around it."""
        return self.text[start:end].strip("\r\n")


def sections(blocks: tuple[Block, ...], level: int, end: int) -> tuple[Section, ...]:
    """Cuts blocks into the sections whose headings are of this level or above."""
    heads = [index for index, block in enumerate(blocks) if block.kind == HEADING and block.level <= level]
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
    """Returns the fence or comment that swallows the rest of the document, if there is one."""
    if not blocks or blocks[-1].kind not in {FENCE, HTML}:
        return None
    last = blocks[-1]
    lines = source.slice(last.start, last.end).split("\n")
    if last.kind == HTML:
        return last if lines[0].lstrip().startswith("<!--") and "-->" not in "\n".join(lines) else None
    opening, closing = lines[0].strip(), lines[-1].strip()
    fence = opening[: len(opening) - len(opening.lstrip(opening[0]))]
    is_closed = len(lines) > 1 and closing.startswith(fence) and not closing.strip(fence[0])
    return None if is_closed else last
