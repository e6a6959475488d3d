"""Reads any kind of document back into the value that its schema describes.

Kind where people edit, loud where it cannot understand: every problem at once, each with its line.
It knows no kind by name; a new kind needs a schema and a template, not a line here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from haytham.documents import conflicts, extras, fields, meanings, migrations, prose, rules, scalars, schemas, tables
from haytham.documents.absences import absences
from haytham.documents.blocks import HEADING, HTML, TEXT, Block, split
from haytham.documents.document import FORMAT_VERSION, Document
from haytham.documents.outline import Section, Source, sections, unclosed
from haytham.documents.report import Report
from haytham.documents.rules import Rule
from haytham.documents.schemas import Path
from haytham.domain import suggestions
from haytham.domain.errors import InvalidDocument

_OWN = "own"  # the kind of a block that is a comment of ours
_MARK = re.compile(r"<!-- haytham (?P<kind>\w+) v(?P<version>\d+) -->")
_EMPTY_WORDS = {"none", "n/a", "-", "none."}
_CACHED = 50_000  # characters; larger texts are read anew each time
_TOP_LEVEL = 2


def read(kind: str, text: str, path: str = "", words: tuple[str, ...] = ()) -> Document:
    """Reads a document; raises InvalidDocument with every problem; `words` are names that its meaning depends on.

    The value is shared between callers: treat it as read-only.
    """
    text = migrations.upgraded(kind, text)
    if len(text) > _CACHED:
        return _Reading(kind, Source(text, path), words).document()
    try:
        return _read_cached(kind, text, words)
    except InvalidDocument:
        return _Reading(kind, Source(text, path), words).document()  # again, for problems that name the path


@lru_cache(maxsize=512)
def _read_cached(kind: str, text: str, words: tuple[str, ...]) -> Document:
    return _Reading(kind, Source(text), words).document()


@dataclass(slots=True)
class _Entry:
    """A line that starts something, with the lines that continue it."""

    offset: int
    raw: str
    line: fields.Line
    further: list[str] = field(default_factory=list)


class _Reading:
    """One pass over one document: collects values, problems, extras."""

    def __init__(self, kind: str, source: Source, words: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.words = words
        self.source = source
        self.root = rules.rule(kind)
        self.tail = rules.tail(self.root)
        self.report = Report(source, self.root)
        self.extra_fields: dict[str, list[str]] = {}
        self.extra_text: dict[str, list[str]] = {}

    def document(self) -> Document:
        """Reads everything; raises InvalidDocument if there was any problem."""
        found = split(self.source.text, self._is_tail if self.tail else None)
        self._refuse_conflicts(found.blocks)
        end = len(self.source.text) if found.tail is None else found.tail
        value = self._sections(tuple(self._told_apart(found.blocks)), end)
        if self.tail and found.tail is not None:
            value[self.tail.key] = self.source.text[found.tail :].removeprefix("\n")
        self._check(value, found.blocks)
        self.report.raise_if_any()
        return Document(
            kind=self.kind,
            value=value,
            extra_fields={place: tuple(lines) for place, lines in self.extra_fields.items()},
            extra_text={place: extras.joined(texts) for place, texts in self.extra_text.items()},
        )

    def _is_tail(self, level: int, title: str) -> bool:
        return level == _TOP_LEVEL and self.root.named(title) is self.tail

    # Before the sections

    def _refuse_conflicts(self, blocks: tuple[Block, ...]) -> None:
        """Raises on merge markers; all else that is wrong then would be their echo."""
        hint = "choose between the two sides, then remove the marker lines."
        for offset, marker in conflicts.markers(self.source, blocks):
            self.report.add(offset, f'"{marker}" was left here by a merge.', hint=hint)
        self.report.raise_if_any()

    def _told_apart(self, blocks: tuple[Block, ...]) -> Iterator[Block]:
        """Yields the blocks with our own comments marked as such; what follows one on its line is text."""
        text, is_marked = self.source.text, False
        for block in blocks:
            start = text.find("<", block.start, block.end) if block.kind == HTML else -1
            if start < 0 or not text.startswith(prose.OWN_COMMENT, start):
                yield block
                continue
            closing = text.find("-->", start, block.end)
            end = closing + len("-->") if closing >= 0 else block.end
            rest = text[end : block.end].lstrip(" \t")
            yield replace(block, kind=_OWN, end=block.end - len(rest))
            if rest.strip():
                yield replace(block, kind=TEXT, start=block.end - len(rest))
            if not is_marked and (match := _MARK.match(text, start)):
                is_marked = True
                self._check_mark(start, match["kind"], match["version"])

    def _check_mark(self, offset: int, kind: str, version: str) -> None:
        if kind != self.kind:
            self.report.add(offset, f"this is a {kind} document; {self.kind} was expected.")
        elif version != str(FORMAT_VERSION):
            self.report.add(
                offset,
                f"format {version} of {kind} is not known; this release knows {FORMAT_VERSION}.",
                hint="read it with the release of Haytham that wrote it.",
            )

    # Sections

    def _sections(self, blocks: tuple[Block, ...], end: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        place = extras.TOP
        found = sections(blocks, _TOP_LEVEL, end)
        self._keep_blocks((block for block in blocks if not found or block.start < found[0].start), place)
        for index, section in enumerate(found):
            rule = self.root.named(section.title) if section.level == _TOP_LEVEL else None
            if index == 0 and section.level == 1:
                self._keep_blocks(section.own_blocks, place)
                self._keep_sections(section.subsections, place)
            elif rule is None:
                self._unknown_section(section, self.root, (), extras.behind(place))
            elif rule.key in value:
                self._second(section.start, f'section "{section.title}"', section)
            elif rule is not self.tail:
                place = rule.key
                value[place] = self._content(section, rule, (place,))
        return value

    def _unknown_section(self, section: Section, parent: Rule, path: Path, place: str) -> None:
        meant = parent.meant(section.title)
        if meant is None or (path and not meant.layout):
            self._keep_sections([section], place)
            return
        self.report.excuse((*path, meant.key))
        marks = "#" * (_TOP_LEVEL + len(path))
        self.report.add(
            section.start,
            f'section "{section.title}" is not known.',
            hint=f'did you mean "{marks} {meant.title}"?',
            section=section.title,
        )

    def _content(self, section: Section, rule: Rule, path: Path) -> Any:
        self.report.place(path, section.start)
        place = extras.inside(*map(str, path))
        if rule.layout == "prose":
            return self._prose(section)
        if rule.layout == "items":
            return self._items(section, rule, path, place)
        if rule.layout == "fields":
            return self._group(section, rule, path, place)
        read_layout = self._table if rule.layout == "table" else self._map
        value = read_layout(section, rule, path, place)
        self._keep_sections(section.subsections, place)
        return value

    # Layouts

    def _prose(self, section: Section) -> str:
        pieces, start = [], section.body
        for block in section.blocks:
            if block.kind == _OWN:
                pieces.append(self.source.text[start : block.start])
                start = block.end
        pieces.append(self.source.text[start : section.end])
        return prose.read("".join(pieces))

    def _group(self, section: Section, rule: Rule, path: Path, place: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for entry in self._entries(section.own_blocks, place, rule):
            known = rule.named(entry.line.label)
            if known is None or known.layout:
                self._unknown_field(entry, section, rule, path)
            elif known.key in value:
                self._second(entry.offset, known.title, section, entry.line.label)
            else:
                self.report.place((*path, known.key), entry.offset)
                text = "\n".join([entry.line.value or "", *entry.further])
                value[known.key] = scalars.read(text, known.schema)
        self._subsections(section, rule, path, value)
        return value

    def _subsections(self, section: Section, rule: Rule, path: Path, value: dict[str, Any]) -> None:
        place = extras.inside(*map(str, path))
        for sub in section.subsections:
            known = rule.named(sub.title)
            if known is None or not known.layout:
                self._unknown_section(sub, rule, path, place)
            elif known.key in value:
                self._second(sub.start, f'section "{sub.title}"', sub)
            else:
                place = extras.inside(*map(str, path), known.key)
                value[known.key] = self._content(sub, known, (*path, known.key))

    def _map(self, section: Section, rule: Rule, path: Path, place: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for entry in self._entries(section.own_blocks, place):
            pair = scalars.split_key(entry.line.body)
            if pair is None:
                if entry.line.body.casefold() not in _EMPTY_WORDS or entry.further:
                    self._keep(extras.loose([entry.raw, *entry.further]), place)
                continue
            key, text = pair
            if key in value:
                self._second(entry.offset, key, section, key)
            self.report.place((*path, key), entry.offset)
            value[key] = scalars.read("\n".join([text, *entry.further]), rule.schema["additionalProperties"])
        return value

    def _table(self, section: Section, rule: Rule, path: Path, place: str) -> list[dict[str, Any]]:
        rows = list(self._rows(section.own_blocks, place))
        columns = self._columns(*rows[0], section, rule) if rows else []
        value: list[dict[str, Any]] = []
        if not columns:
            return value
        for offset, row in rows[2:] if len(rows) > 1 and tables.is_delimiter(rows[1][1]) else rows[1:]:
            if len(row) != len(columns):
                message = f"this row has {len(row)} cells; {len(columns)} are expected."
                self.report.add(offset, message, hint='a "|" inside a cell is written "\\|".', section=section.title)
                continue
            self.report.place((*path, len(value)), offset)
            pairs = zip(columns, row, strict=True)
            value.append({column.key: scalars.read(text, column.schema) for column, text in pairs})
        return value

    def _columns(self, offset: int, head: list[str], section: Section, rule: Rule) -> list[Rule]:
        """Returns the columns of a table; none if they are not the expected ones, for then no row can be read."""
        columns = [column for title in head if (column := rule.named(title))]
        unknown = [title for title in dict.fromkeys(head) if rule.named(title) is None]
        for title in unknown:
            hint = suggestions.allowed(title, [column.title for column in rule.children.values()])
            self.report.add(offset, f'column "{title}" is not known.', hint=hint, section=section.title)
        counts = Counter(column.key for column in columns)
        for key, column in rule.children.items():
            if counts[key] > 1:
                self._second(offset, f'column "{column.title}"', section)
            elif counts[key] == 0 and not unknown:
                message = f'column "{column.title}" is missing.'
                self.report.add(offset, message, hint="add it to every row.", section=section.title)
        return columns if set(counts.values()) == {1} and len(columns) == len(head) == len(rule.children) else []

    def _items(self, section: Section, rule: Rule, path: Path, place: str) -> list[str]:
        numbered = re.compile(rf"{re.escape(rule.schema['itemTitle'])}\s+\d+\s*:", re.IGNORECASE)
        value: list[str] = []
        is_empty = True
        for entry in self._item_entries(section.blocks, place):
            label = numbered.match(entry.line.body)
            first = entry.line.body[label.end() :].lstrip() if label else entry.line.body
            text = prose.read_item(first, entry.further, entry.line.width)
            if text or label:
                is_empty = is_empty and not label and text.casefold() in _EMPTY_WORDS
                self.report.place((*path, len(value)), entry.offset)
                value.append(text)
        return [] if is_empty else value

    # Lines

    def _entries(self, blocks: Iterable[Block], place: str, rule: Rule | None = None) -> Iterator[_Entry]:
        """Yields the bullets, and the bare lines that carry a label of the rule; keeps all other text."""
        for block in blocks:
            if block.kind != TEXT:
                self._keep_blocks([block], place)
                continue
            entry: _Entry | None = None
            loose: list[str] = []
            for offset, raw in self.source.lines(block):
                line = fields.parse(raw)
                is_indented = fields.is_continuation(raw)
                is_bare_field = rule is not None and line.value is not None and not is_indented
                if line.is_item or (is_bare_field and rule and rule.named(line.label)):
                    if entry:
                        yield entry
                    entry = _Entry(offset, raw, line)
                elif entry and is_indented:
                    entry.further.append(raw)
                else:
                    if entry:
                        yield entry
                    entry = None
                    loose.append(raw)
            if entry:
                yield entry
            if loose:
                self._keep(extras.loose(loose), place)

    def _item_entries(self, blocks: Iterable[Block], place: str) -> Iterator[_Entry]:
        """Yields the bullets; a paragraph without one is an item of its own, and a rule is none."""
        entry: _Entry | None = None
        end = 0
        for block in blocks:
            gap, end = self.source.text.count("\n", end, block.start), block.end
            for number, (offset, raw) in enumerate(self.source.lines(block) if block.kind != _OWN else ()):
                line = fields.parse(raw)
                if entry and _continues(entry, line, raw, block.kind, is_first=number == 0):
                    entry.further.extend([""] * (gap if number == 0 else 0))
                    entry.further.append(raw)
                    continue
                if entry:
                    yield entry
                if fields.is_rule(raw):
                    entry = None
                    self._keep(raw, place)
                else:
                    entry = _Entry(offset, raw, line if block.kind == TEXT else fields.Line(0, 0, raw, "", None))
        if entry:
            yield entry

    def _rows(self, blocks: Iterable[Block], place: str) -> Iterator[tuple[int, list[str]]]:
        for block in blocks:
            if block.kind != TEXT:
                self._keep_blocks([block], place)
                continue
            loose = []
            for offset, raw in self.source.lines(block):
                if tables.is_row(raw):
                    yield offset, tables.cells(raw)
                else:
                    loose.append(raw)
            if loose:
                self._keep(extras.loose(loose), place)

    # What is not known

    def _unknown_field(self, entry: _Entry, section: Section, rule: Rule, path: Path) -> None:
        label = entry.line.label
        if meant := rule.meant(label):
            self.report.excuse((*path, meant.key))
            self.report.add(
                entry.offset,
                f'field "{label}" is not known.',
                hint=f'did you mean "{meant.title}"?',
                section=section.title,
                field=label,
            )
        else:
            lines = self.extra_fields.setdefault(extras.inside(*map(str, path)), [])
            lines.append("\n".join([entry.raw, *entry.further]))

    def _keep_blocks(self, blocks: Iterable[Block], place: str) -> None:
        for block in blocks:
            if block.kind != _OWN:
                self._keep(self.source.slice(block.start, block.end), place)

    def _keep_sections(self, found: Iterable[Section], place: str) -> None:
        for section in found:
            self._keep(self.source.slice(section.start, section.end), place)

    def _keep(self, text: str, place: str) -> None:
        if text:
            self.extra_text.setdefault(place, []).append(text)

    # Problems

    def _second(self, offset: int, what: str, section: Section, label: str = "") -> None:
        message = f"{what} stands here a second time."
        self.report.add(offset, message, hint="keep one of the two.", section=section.title, field=label)

    def _check(self, value: dict[str, Any], blocks: tuple[Block, ...]) -> None:
        if unclosed(self.source, blocks) is None and schemas.is_valid(self.kind, value):
            self.report.add_faults(meanings.faults(self.kind, value, self.words))
            return
        missing = frozenset(self.root.children.keys() - value.keys())
        for absence in absences(self.source, blocks, self.root, missing):
            self.report.add(absence.offset, absence.message, hint=absence.hint)
            for key in absence.keys:
                self.report.excuse((key,))
        self.report.add_faults(schemas.faults(self.kind, value))


def _continues(entry: _Entry, line: fields.Line, raw: str, kind: str, *, is_first: bool) -> bool:
    """Tells whether a line belongs to the item above: indented below its bullet, or without a bullet of its own."""
    if kind != TEXT:
        return kind != HEADING or not is_first
    if line.is_item:
        return line.indent > entry.line.indent and fields.is_continuation(raw)
    return fields.is_continuation(raw) or not is_first
