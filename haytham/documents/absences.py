"""Tells why a section is missing although its heading is there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from haytham.documents.blocks import FENCE, HEADING, HTML, Block
from haytham.documents.outline import Source, unclosed
from haytham.documents.rules import Rule

_LEVEL = 2  # of a section's heading
_HEADING = re.compile(r" {0,3}#+[ \t](?P<title>.*)\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Absence:
    """Something that keeps sections from being seen; `keys` are theirs."""

    offset: int
    message: str
    hint: str
    keys: frozenset[str]


def absences(source: Source, blocks: tuple[Block, ...], root: Rule, missing: frozenset[str]) -> Iterator[Absence]:
    """Yields what is never closed, what swallows a heading, and the headings that are too deep."""
    last = unclosed(source, blocks)
    for block in blocks:
        if block.kind == HEADING:
            yield from _too_deep(block, root, missing)
        elif block is last:
            message = f"{_name(block)} opens here and is never closed."
            yield Absence(offset=block.start, message=message, hint="close it where it ends.", keys=missing)
        elif block.kind in {FENCE, HTML} and missing:
            yield from _swallowed(source, block, root, missing)


def _too_deep(block: Block, root: Rule, missing: frozenset[str]) -> Iterator[Absence]:
    rule = root.named(block.title)
    if rule and rule.key in missing and block.level > _LEVEL:
        message = f'section "{block.title}" has a heading of level {block.level} here.'
        yield Absence(offset=block.start, message=message, hint=f'write "## {rule.title}".', keys=frozenset({rule.key}))


def _swallowed(source: Source, block: Block, root: Rule, missing: frozenset[str]) -> Iterator[Absence]:
    headings = (_HEADING.match(line) for _, line in source.lines(block))
    rules = [rule for heading in headings if heading and (rule := root.named(heading["title"].rstrip("# ")))]
    keys = missing & {rule.key for rule in rules}
    if keys:
        titles = ", ".join(f'"{rule.title}"' for rule in rules if rule.key in keys)
        message = f"{_name(block)} opens here and hides {titles}."
        yield Absence(offset=block.start, message=message, hint="close it where it ends.", keys=keys)


def _name(block: Block) -> str:
    return "a code fence" if block.kind == FENCE else "a comment or HTML block"
