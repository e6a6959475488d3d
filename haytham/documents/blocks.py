"""Splits markdown into top-level blocks with their places in the source: the gateway to mistune.

Only what bounds a section is told apart: headings, code fences, raw HTML, all other text.
Lists, tables and quotes stay text, whose lines the reader takes from the source itself.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

HEADING, FENCE, HTML, TEXT = "heading", "fence", "html", "text"

_RULES = ("fenced_code", "atx_heading", "setex_heading", "raw_html", "blank_line")
_KINDS = {"heading": HEADING, "block_code": FENCE, "block_html": HTML, "paragraph": TEXT}
_CONTAINER = re.compile(r"\s*([-+*>|]|\d{1,9}[.)]\s)")


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


def split(text: str, is_tail: Callable[[int, str], bool] | None = None) -> Split:
    """Splits a text into blocks, up to the first heading that `is_tail` accepts by level and title.

    What follows that heading is never looked at, so a large body costs nothing.
    """
    tokens, tail = _parser()(text.replace("\r", " "), is_tail)
    ends = [token["start"] for token in tokens[1:]] + [len(text) if tail is None else tail]
    pairs = zip(tokens, ends, strict=True)
    return Split(blocks=tuple(_block(token, end) for token, end in pairs if token["type"] in _KINDS), tail=tail)


def _block(token: Mapping[str, Any], end: int) -> Block:
    attrs = token.get("attrs", {})
    return Block(
        kind=_KINDS[token["type"]],
        start=token["start"],
        end=end,
        level=attrs.get("level", 0),
        title=token["text"].strip() if token["type"] == "heading" else "",
        info=attrs.get("info", ""),
    )


_Parse = Callable[[str, Callable[[int, str], bool] | None], tuple[list[dict[str, Any]], int | None]]


@cache
def _parser() -> _Parse:
    from mistune.block_parser import BlockParser
    from mistune.core import BlockState

    class PlacedState(BlockState):
        """Notes where each paragraph starts; mistune's tokens have no places of their own."""

        def __init__(self, parent: Any = None) -> None:
            super().__init__(parent)
            self.is_tail: Callable[[int, str], bool] | None = None
            self.tail: int | None = None

        def add_paragraph(self, text: str) -> None:
            count = len(self.tokens)
            super().add_paragraph(text)
            _place(self.tokens[count:], self.cursor)

    class PlacedParser(BlockParser):
        """Notes where each other block starts, and stops at the tail."""

        def parse_method(self, m: re.Match[str], state: BlockState) -> int | None:
            count = len(state.tokens)
            end = super().parse_method(m, state)
            _place(state.tokens[count:], m.start())
            if end and isinstance(state, PlacedState) and state.is_tail and state.tokens:
                last = state.tokens[-1]
                if last["type"] == "heading" and state.is_tail(last["attrs"]["level"], last["text"].strip()):
                    state.tail = end
                    return state.cursor_max
            return end

        def parse_atx_heading(self, m: re.Match[str], state: BlockState) -> int:
            # mistune trims closing hashes by a pattern that is quadratic in the spaces of the title.
            text = m.group("atx_2").strip()
            bare = text.rstrip("#")
            title = bare.rstrip() if not bare or bare[-1] in " \t" else text
            state.append_token({"type": "heading", "text": title, "attrs": {"level": len(m.group("atx_1"))}})
            return m.end() + 1

        def parse_setex_heading(self, m: re.Match[str], state: BlockState) -> int | None:
            # With lists left as text, a rule below a list must not turn the list into a heading.
            last = state.last_token()
            if last and last["type"] == "paragraph" and not _CONTAINER.match(last["text"]):
                level = 1 if m.group("setext_1") == "=" else 2
                last.update(type="heading", attrs={"level": level})
                return m.end() + 1
            return None

    parser: BlockParser = PlacedParser()

    def parse(text: str, is_tail: Callable[[int, str], bool] | None) -> tuple[list[dict[str, Any]], int | None]:
        state = PlacedState()
        state.is_tail = is_tail
        state.process(text)
        parser.parse(state, list(_RULES))
        tail = None if state.tail is None else min(state.tail, len(text))
        return state.tokens, tail

    return parse


def _place(tokens: Iterable[dict[str, Any]], start: int) -> None:
    for token in tokens:
        token["start"] = start
