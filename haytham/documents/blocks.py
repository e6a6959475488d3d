"""Splits markdown into top-level blocks with their places in the source: the gateway to mistune.

Only what bounds a section is told apart: headings, code fences, raw HTML, all other text.
Lists, tables and quotes stay text, whose lines the reader takes from the source itself.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mistune.block_parser import BlockParser
    from mistune.core import BlockState

HEADING, FENCE, HTML, TEXT = "heading", "fence", "html", "text"

IsTail = Callable[[int, str], bool]

_RULES = ["fenced_code", "atx_heading", "setex_heading", "raw_html", "blank_line"]
_KINDS = {"heading": HEADING, "block_code": FENCE, "block_html": HTML, "paragraph": TEXT}
_IS_TAIL, _TAIL = "is_tail", "tail"
_BLANK_LINES = r"^(?:[ \t\v\f]*+\n)++"  # mistune's own is quadratic in their number
_CONTAINER = re.compile(r"\s*(?:[-+*>|]|\d{1,9}[.)]\s)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A run of lines of one kind; `start` and `end` are offsets into the source."""

    kind: str
    start: int
    end: int
    level: int = 0
    title: str = ""
    info: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A document's blocks, and where its last section's text starts, if it was asked for and found."""

    blocks: tuple[Block, ...]
    tail: int | None


def split(text: str, is_tail: IsTail | None = None) -> Split:
    """Splits a text into blocks, up to the first heading that `is_tail` accepts by level and title.

    What follows that heading is never looked at, so a large body costs nothing.
    """
    tokens, tail = _parse(text.replace("\r", " "), is_tail)
    starts = [token["start"] for token in tokens]
    pairs = zip(tokens, [*starts[1:], len(text) if tail is None else tail], strict=False)  # no tokens, no end
    return Split(blocks=tuple(_block(token, end) for token, end in pairs if token["type"] in _KINDS), tail=tail)


def _block(token: dict[str, Any], end: int) -> Block:
    kind, start = _KINDS[token["type"]], token["start"]
    if kind == HEADING:
        return Block(kind=kind, start=start, end=end, level=token["level"], title=token["title"])
    return Block(kind=kind, start=start, end=end, info=token["attrs"]["info"] if "attrs" in token else "")


def _parse(text: str, is_tail: IsTail | None) -> tuple[list[dict[str, Any]], int | None]:
    state = _state_class()()
    state.process(text)
    state.env[_IS_TAIL] = is_tail
    _parser().parse(state, _RULES)
    return state.tokens, state.env.get(_TAIL)


@cache
def _state_class() -> "type[BlockState]":
    from mistune.core import BlockState

    class PlacedState(BlockState):
        """Notes where each paragraph starts, and not its text: mistune would copy that once for each line."""

        def add_paragraph(self, text: str) -> None:
            del text
            if not self.tokens or self.tokens[-1]["type"] != "paragraph":
                self.tokens.append({"type": "paragraph", "start": self.cursor})

        def append_paragraph(self) -> int | None:
            is_inside = bool(self.tokens) and self.tokens[-1]["type"] == "paragraph"
            return self.find_line_end() if is_inside else None

    return PlacedState


@cache
def _parser() -> "BlockParser":
    from mistune.block_parser import BlockParser

    class PlacedParser(BlockParser):
        """Notes where each other block starts, and stops at the tail."""

        def parse_method(self, m: re.Match[str], state: "BlockState") -> int | None:
            tokens, count = state.tokens, len(state.tokens)
            end = super().parse_method(m, state)
            if len(tokens) > count:
                tokens[-1].setdefault("start", m.start())
            is_tail = state.env[_IS_TAIL]
            if (
                end
                and is_tail
                and tokens[-1]["type"] == "heading"
                and is_tail(tokens[-1]["level"], tokens[-1]["title"])
            ):
                state.env[_TAIL] = min(end, state.cursor_max)
                return state.cursor_max
            return end

        def parse_atx_heading(self, m: re.Match[str], state: "BlockState") -> int:
            # mistune trims closing hashes by a pattern that is quadratic in the spaces of the title.
            text = m.group("atx_2").strip()
            bare = text.rstrip("#")
            title = bare.rstrip() if not bare or bare[-1] in " \t" else text
            state.append_token({"type": "heading", "level": len(m.group("atx_1")), "title": title})
            return m.end() + 1

        def parse_setex_heading(self, m: re.Match[str], state: "BlockState") -> int | None:
            # With lists left as text, a rule below a list must not turn the list into a heading.
            last = state.last_token()
            if not last or last["type"] != "paragraph" or _CONTAINER.match(state.src, last["start"]):
                return None
            title = state.src[last["start"] : m.start()].strip()
            last.update(type="heading", level=1 if m.group("setext_1") == "=" else 2, title=title)
            return m.end() + 1

    parser = PlacedParser()
    parser.specification["blank_line"] = _BLANK_LINES
    return parser
