"""Reads any kind of document back into the value that its schema describes.

Kind where people edit, loud where it cannot understand: every problem at once, each with its line.
It knows no kind by name; a new kind needs a schema and a template, not a line here.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from haytham.documents import fields, prose, scalars, schemas, tables
from haytham.documents.blocks import FENCE, HTML, TEXT, Block, split
from haytham.documents.document import FORMAT_VERSION, Document
from haytham.documents.outline import Section, Source, sections, unclosed
from haytham.documents.schemas import Path, Schema
from haytham.domain import suggestions
from haytham.domain.errors import InvalidDocument, Location, Problem

_MARK = re.compile(r"<!-- haytham (?P<kind>\w+) v(?P<version>\d+) -->")
_EMPTY_WORDS = {"none", "n/a", "-", "none."}
_CACHED = 50_000  # characters; larger texts are read anew each time
_TOP_LEVEL = 2


def read(kind: str, text: str, path: str = "") -> Document:
    """Reads a document; raises InvalidDocument with every problem.

    The value is shared between callers: treat it as read-only.
    """
    if len(text) > _CACHED:
        return _Reading(kind, Source(text, path)).document()
    try:
        return _read_cached(kind, text)
    except InvalidDocument:
        return _Reading(kind, Source(text, path)).document()  # again, for problems that name the path


@lru_cache(maxsize=2048)
def _read_cached(kind: str, text: str) -> Document:
    return _Reading(kind, Source(text)).document()


class _Reading:
    """One pass over one document: collects values, their places, problems, extras."""

    def __init__(self, kind: str, source: Source) -> None:
        self.kind = kind
        self.schema = schemas.schema(kind)
        self.source = source
        self.problems: list[Problem] = []
        self.places: dict[Path, int] = {}
        self.excused: set[Path] = set()  # missing, but only because of a problem already reported
        self.extra_fields: dict[str, list[str]] = {}
        self.extra_text: dict[str, list[str]] = {}
        self.by_title = {suggestions.normalised(rule["title"]): key for key, rule in self.schema["properties"].items()}
        self.tail_key = next((k for k, r in self.schema["properties"].items() if r.get("layout") == "tail"), None)

    def document(self) -> Document:
        """Reads everything; raises InvalidDocument if there was any problem."""
        found = split(self.source.text, self._is_tail if self.tail_key else None)
        end = len(self.source.text) if found.tail is None else found.tail
        value = self._sections(found.blocks, end)
        if found.tail is not None and self.tail_key:
            value[self.tail_key] = self._tail_text(found.tail)
        self._check(value, found.blocks)
        if self.problems:
            raise InvalidDocument(sorted(self.problems, key=lambda problem: problem.location.line or 0))
        return Document(
            kind=self.kind,
            value=value,
            extra_fields={anchor: tuple(lines) for anchor, lines in self.extra_fields.items()},
            extra_text={anchor: "\n\n".join(texts) for anchor, texts in self.extra_text.items()},
        )

    # Sections

    def _is_tail(self, level: int, title: str) -> bool:
        return level == _TOP_LEVEL and self.by_title.get(_title_form(title)) == self.tail_key

    def _tail_text(self, start: int) -> str:
        rest = self.source.text[start:]
        for blank in ("\r\n", "\n"):
            if rest.startswith(blank):
                return rest[len(blank) :]
        return rest

    def _sections(self, blocks: tuple[Block, ...], end: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        anchor = ""
        found = sections(blocks, _TOP_LEVEL, end)
        self._preamble(blocks[: blocks.index(_heading(blocks, found[0]))] if found else blocks, anchor)
        for index, section in enumerate(found):
            key = self.by_title.get(_title_form(section.title)) if section.level == _TOP_LEVEL else None
            if index == 0 and section.level == 1:
                self._preamble(section.own_blocks, anchor)
            elif key is None:
                self._unknown_section(section, anchor)
            elif key in value:
                self._problem(
                    section.start,
                    f'section "{section.title}" stands here a second time.',
                    hint="keep one of the two.",
                    section=section.title,
                )
            elif key != self.tail_key:
                anchor = key
                self.places[(key,)] = section.start
                value[key] = self._content(section, self.schema["properties"][key], (key,), anchor)
        return value

    def _preamble(self, blocks: tuple[Block, ...], anchor: str) -> None:
        for block in blocks:
            text = self.source.slice(block.start, block.end)
            match = _MARK.match(text)
            if match is None:
                self._keep(block, anchor)
            elif match["kind"] != self.kind:
                self._problem(block.start, f"this is a {match['kind']} document; {self.kind} was expected.")
            elif int(match["version"]) != FORMAT_VERSION:
                self._problem(
                    block.start,
                    f"format {match['version']} of {self.kind} is not known; this release knows {FORMAT_VERSION}.",
                    hint="read it with the release of Haytham that wrote it.",
                )

    def _unknown_section(self, section: Section, anchor: str) -> None:
        keys = {rule["title"]: key for key, rule in self.schema["properties"].items()}
        meant = suggestions.closest(section.title, keys)
        if meant:
            marks = "#" * _TOP_LEVEL
            self.excused.add((keys[meant],))
            self._problem(
                section.start,
                f'section "{section.title}" is not known.',
                hint=f'did you mean "{marks} {meant}"?',
                section=section.title,
            )
        else:
            self._keep_text(self.source.slice(section.start, section.end), anchor)

    def _content(self, section: Section, rule: Schema, path: Path, anchor: str) -> Any:
        layout = rule["layout"]
        if layout == "prose":
            return self._prose(section)
        if layout == "items":
            return self._items(section, rule, path)
        if layout == "table":
            return self._table(section, rule, path, anchor)
        if layout == "map":
            return self._map(section, rule, path, anchor)
        return self._group(section, rule, path, anchor)

    # Layouts

    def _prose(self, section: Section) -> str:
        pieces, start = [], section.body
        for block in section.blocks:
            if self._is_own_comment(block):
                pieces.append(self.source.text[start : block.start])
                start = block.end
        pieces.append(self.source.text[start : section.end])
        return prose.read("".join(pieces), crlf=self.source.crlf)

    def _group(self, section: Section, rule: Schema, path: Path, anchor: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        known = rule["properties"]
        by_label = {suggestions.normalised(each["title"]): key for key, each in known.items()}
        for offset, line, further in self._labelled_lines(section.own_blocks, anchor, set(by_label)):
            key = by_label.get(suggestions.normalised(line.label))
            if key is None or "layout" in known[key]:
                self._unknown_field(offset, line, further, section, rule, path)
            elif key in value:
                self._problem(
                    offset,
                    f"{known[key]['title']} stands here a second time.",
                    hint="keep one of the two.",
                    section=section.title,
                    field=line.label,
                )
            else:
                self.places[(*path, key)] = offset
                text = "\n".join([line.value or "", *further])
                value[key] = scalars.read(text, known[key])
        self._subgroups(section, known, by_label, value, path, anchor)
        return value

    def _subgroups(
        self,
        section: Section,
        known: Schema,
        by_label: dict[str, str],
        value: dict[str, Any],
        path: Path,
        anchor: str,
    ) -> None:
        for sub in section.subsections:
            key = by_label.get(_title_form(sub.title))
            if key is None or "layout" not in known[key] or key in value:
                self._keep_text(self.source.slice(sub.start, sub.end), anchor)
            else:
                self.places[(*path, key)] = sub.start
                value[key] = self._content(sub, known[key], (*path, key), anchor)

    def _map(self, section: Section, rule: Schema, path: Path, anchor: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for offset, line, further in self._labelled_lines(section.blocks, anchor, set()):
            pair = scalars.split_key(line.body)
            if pair is None:
                if line.body != scalars.NOTHING and line.body.casefold() not in _EMPTY_WORDS:
                    self._keep_text("\n".join([f"- {line.body}", *further]), anchor)
                continue
            key, text = pair
            if key in value:
                self._problem(offset, f"{key} stands here a second time.", section=section.title, field=key)
            self.places[(*path, key)] = offset
            value[key] = scalars.read(text, rule["additionalProperties"])
        return value

    def _table(self, section: Section, rule: Schema, path: Path, anchor: str) -> list[dict[str, Any]]:
        columns = {suggestions.normalised(each["title"]): key for key, each in rule["items"]["properties"].items()}
        rows = list(self._rows(section, anchor))
        if not rows:
            return []
        head_offset, head = rows[0]
        keys = [columns.get(suggestions.normalised(each)) for each in head]
        for title, key in zip(head, keys, strict=True):
            if key is None:
                titles = [each["title"] for each in rule["items"]["properties"].values()]
                self._problem(
                    head_offset,
                    f'column "{title}" is not known.',
                    hint=suggestions.allowed(title, titles),
                    section=section.title,
                )
        value: list[dict[str, Any]] = []
        for offset, row in rows[1:]:
            if tables.is_delimiter(row):
                continue
            if len(row) != len(head):
                self._problem(
                    offset,
                    f"this row has {len(row)} cells; {len(head)} are expected.",
                    hint='a "|" inside a cell is written "\\|".',
                    section=section.title,
                )
                continue
            self.places[(*path, len(value))] = offset
            named = zip(keys, row, strict=True)
            rules = rule["items"]["properties"]
            value.append({key: scalars.read(text, rules[key]) for key, text in named if key})
        return value

    def _items(self, section: Section, rule: Schema, path: Path) -> list[str]:
        label = re.compile(rf"{re.escape(rule['itemTitle'])}\s+\d+\s*:[ \t]*", re.IGNORECASE)
        value: list[str] = []
        sole_is_empty = True
        for offset, lines in self._item_lines(section):
            first, further = lines[0], lines[1:]
            bare = label.sub("", first, count=1) if label.match(first) else first
            body = prose.dedented(further)
            text = prose.unfenced(body) if not bare else None
            if text is None:
                text = "\n".join([bare, body] if further else [bare]).rstrip()
                text = text.lstrip("\n")
            if not text and not label.match(first):
                continue
            sole_is_empty = sole_is_empty and text.casefold() in _EMPTY_WORDS and not label.match(first)
            self.places[(*path, len(value))] = offset
            value.append(text)
        return [] if sole_is_empty else value

    # Lines

    def _labelled_lines(
        self, blocks: tuple[Block, ...], anchor: str, bare_labels: set[str]
    ) -> Iterator[tuple[int, fields.Line, list[str]]]:
        """Yields the labelled lines with the lines that continue them; keeps all other text."""
        for block in blocks:
            if block.kind != TEXT:
                self._keep(block, anchor)
                continue
            pending: tuple[int, fields.Line, list[str]] | None = None
            loose: list[str] = []
            for offset, raw in self._lines(block):
                line = fields.parse(raw)
                is_field = line.is_item or (
                    line.value is not None and suggestions.normalised(line.label) in bare_labels
                )
                if pending and not is_field and fields.is_continuation(raw):
                    pending[2].append(raw)
                    continue
                if pending:
                    yield pending
                pending = (offset, line, []) if is_field else None
                if not is_field:
                    loose.append(raw)
            if pending:
                yield pending
            if loose:
                self._keep_text("\n".join(loose).strip("\n"), anchor)

    def _item_lines(self, section: Section) -> Iterator[tuple[int, list[str]]]:
        """Yields the lines of each item; a paragraph without a bullet is an item of its own."""
        current: tuple[int, list[str]] | None = None
        end = section.body
        for block in section.blocks:
            if self._is_own_comment(block):
                continue
            gap = self.source.text[end : block.start].count("\n") if current else 0
            end = block.end
            is_text = block.kind == TEXT
            for number, (offset, raw) in enumerate(self._lines(block)):
                line = fields.parse(raw)
                continues = current is not None and (fields.is_continuation(raw) or (number > 0 and not line.is_item))
                if current is not None and (continues or (not is_text and number > 0)):
                    current[1].extend([""] * (gap if number == 0 else 0))
                    current[1].append(raw)
                    continue
                if current:
                    yield current
                current = (offset, [line.body if is_text else raw])
        if current:
            yield current

    def _rows(self, section: Section, anchor: str) -> Iterator[tuple[int, list[str]]]:
        for block in section.blocks:
            if block.kind != TEXT:
                self._keep(block, anchor)
                continue
            loose = []
            for offset, raw in self._lines(block):
                if tables.is_row(raw):
                    yield offset, tables.cells(raw)
                else:
                    loose.append(raw)
            if loose:
                self._keep_text("\n".join(loose), anchor)

    def _lines(self, block: Block) -> Iterator[tuple[int, str]]:
        offset = block.start
        for line in self.source.text[block.start : block.end].rstrip("\r\n").split("\n"):
            yield offset, line.rstrip("\r") if self.source.crlf else line
            offset += len(line) + 1

    # What is not known

    def _unknown_field(
        self, offset: int, line: fields.Line, further: list[str], section: Section, rule: Schema, path: Path
    ) -> None:
        keys = {each["title"]: key for key, each in rule["properties"].items()}
        meant = suggestions.closest(line.label, keys)
        if meant:
            self.excused.add((*path, keys[meant]))
            self._problem(
                offset,
                f'field "{line.label}" is not known.',
                hint=f'did you mean "{meant}"?',
                section=section.title,
                field=line.label,
            )
        else:
            raw = self.source.text[offset:].split("\n", 1)[0].rstrip("\r")
            self.extra_fields.setdefault(str(path[0]), []).append("\n".join([raw, *further]))

    def _keep(self, block: Block, anchor: str) -> None:
        if not self._is_own_comment(block):
            self._keep_text(self.source.slice(block.start, block.end), anchor)

    def _keep_text(self, text: str, anchor: str) -> None:
        self.extra_text.setdefault(anchor, []).append(text.replace("\r\n", "\n") if self.source.crlf else text)

    def _is_own_comment(self, block: Block) -> bool:
        return block.kind == HTML and self.source.text[block.start : block.end].lstrip().startswith(prose.OWN_COMMENT)

    # Problems

    def _check(self, value: dict[str, Any], blocks: tuple[Block, ...]) -> None:
        if schemas.is_valid(self.kind, value):
            return
        if block := unclosed(self.source, blocks):
            what = "code fence" if block.kind == FENCE else "comment"
            self._problem(block.start, f"a {what} opens here and is never closed.", hint="close it where it ends.")
            self.excused |= {(key,) for key in self.schema["properties"] if key not in value}
        found = (fault for fault in schemas.faults(self.kind, value) if fault.path not in self.excused)
        self.problems.extend(self._located(fault) for fault in found)

    def _located(self, fault: schemas.Fault) -> Problem:
        path = fault.path
        while path and path not in self.places:
            path = path[:-1]
        offset = self.places.get(path, len(self.source.text.rstrip()))
        names = self._titles(fault.path)
        location = Location(
            path=self.source.path,
            line=self.source.line(offset),
            section=names[0],
            field=names[-1] if len(names) > 1 else "",
        )
        return Problem(message=fault.message, location=location, hint=fault.hint)

    def _titles(self, path: Path) -> list[str]:
        names, rule = [], self.schema
        for key in path:
            if isinstance(key, int):
                rule = rule.get("items", {})
            else:
                rule = rule.get("properties", {}).get(key, {})
                names.append(rule.get("title", key))
        return names or [""]

    def _problem(self, offset: int, message: str, *, hint: str = "", section: str = "", field: str = "") -> None:
        location = Location(path=self.source.path, line=self.source.line(offset), section=section, field=field)
        self.problems.append(Problem(message=message, location=location, hint=hint))


def _title_form(title: str) -> str:
    return suggestions.normalised(title.strip("*_: "))


def _heading(blocks: tuple[Block, ...], section: Section) -> Block:
    return next(block for block in blocks if block.start == section.start)
