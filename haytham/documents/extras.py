"""What a person wrote beyond the schema: where it is kept, and where it goes when its section goes."""

from collections.abc import Iterable, Mapping
from typing import Any

from haytham.documents import prose, rules
from haytham.documents.blocks import HEADING, split

Fields = Mapping[str, tuple[str, ...]]
Texts = Mapping[str, str]

TOP = ""


def inside(*keys: str) -> str:
    """Names the place inside a section, or inside one of its subsections."""
    return ".".join(keys)


def behind(key: str) -> str:
    """Names the place behind a section, where unknown ones stand."""
    return f"behind {key}"


def joined(pieces: Iterable[str]) -> str:
    """Joins pieces of text so that reading them takes them apart again."""
    return "\n\n".join(pieces)


def loose(lines: list[str]) -> str:
    """Keeps loose lines; fenced, if without the lines between them they would become a heading."""
    text = "\n".join(lines)
    is_risky = any(block.kind == HEADING for block in split(text).blocks)
    return prose.fenced(text) if is_risky else text


def rehomed(kind: str, value: Mapping[str, Any], fields: Fields, texts: Texts) -> tuple[Fields, Texts]:
    """Moves what stood in or behind a section that the new value does not have to the one before, fenced."""
    kept_fields, kept_texts = dict(fields), dict(texts)
    home = last = TOP

    def move(old: str, new: str, *, as_is: bool = False) -> None:
        lines = "\n".join(kept_fields.pop(old, ()))
        pieces = [piece for piece in (lines, kept_texts.pop(old, "")) if piece]
        if pieces:
            text = joined(pieces) if as_is else prose.fenced(joined(pieces))
            kept_texts[new] = joined([kept_texts[new], text]) if new in kept_texts else text

    for key, rule in rules.rule(kind).children.items():
        subsections = [name for name, child in rule.children.items() if child.layout and rule.layout == "fields"]
        if key not in value:
            for place in (inside(key), *(inside(key, name) for name in subsections)):
                move(place, home)
            move(behind(key), behind(last), as_is=True)
            continue
        last = key
        home = key if rule.layout == "fields" else home
        for name in subsections:
            if name not in value[key]:
                move(inside(key, name), inside(key))
    return kept_fields, kept_texts
