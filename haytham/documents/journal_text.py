"""Writes the entries of a journal as markdown that a person can follow, and reads them back exactly.

::

    ## 12 · 2026-01-31T10:00:00.5Z · search_done

    ### Message from assistant

    > Three sources agree.

    <!-- entry 9f86d081884c7d659a2feaa0 sha256:60303ae22b998861bce3b28f33eec1be -->

An entry says what changed since the entry before it, or since the one named by `From`. Text is quoted, other data is
indented JSON: no line of an agent's can look like one of ours. The last line carries a hash of the hash before it and
of every byte of the entry. Journals are read by this module, not by the reader of documents, because a session has
thousands of entries and nobody edits them by hand.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from haytham.documents.journal_marks import ENDING, HEADER_END, Bytes, mark_of
from haytham.documents.journal_paths import path_of, path_text
from haytham.domain import instants
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind
from haytham.domain.json_data import copy_of
from haytham.domain.state_changes import Change, Verb

VERSION = 1
_DIGITS = 32
_BODY = re.compile(rb"\n(?:### |<!-- entry )")  # what follows the head of an entry
_FIELD = re.compile(r"^- ([A-Z][A-Za-z ]*): (.*)$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z0-9_.:/-]{1,80}\Z")
_MESSAGE = ("role", "content")
_TOOL_CALL = ("tool_name", "arguments", "result", "success")
_NOBODY = "none"
_LONG = 72
_JSON = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """What a journal says about itself: whose it is, and what it was forked from."""

    session: str
    agent: str
    branch: str = ""
    forked_from: str = ""  # the id of an entry
    forked_journal: str = ""  # the title of the journal that has it
    forked_session: str = ""  # the session that has that journal, if it is another one

    @property
    def title(self) -> str:
        """The name of the agent with that of the branch, if there is one."""
        return f"{self.agent}@{self.branch}" if self.branch else self.agent


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """An entry as it stands in a journal: its head, what it is based on, what it changes."""

    entry: Entry
    previous: str | None  # the id of the entry that stands before it
    base: str | None = None  # the id of another entry, if it does not go on from that one
    changes: Sequence[Change]

    @property
    def is_whole(self) -> bool:
        """Whether the state can be told from this entry alone."""
        return bool(self.changes) and self.changes[0].verb is Verb.CLEAR


class Unreadable(ValueError):  # noqa: N818 - named by what is wrong, as our other errors are
    """A part of a journal is not in the form in which it was written."""


class UnknownVersion(Unreadable):
    """A journal was written by a Haytham that knows another format."""


def header_text(header: Header) -> bytes:
    """Returns the first lines of a journal."""
    fields = {
        "Session": header.session,
        "Agent": header.agent,
        "Branch": header.branch,
        "Forked From": header.forked_from,
        "Forked Journal": header.forked_journal,
        "Forked Session": header.forked_session,
    }
    lines = [f"# Journal of {header.title}", ""]
    lines += [f"- {label}: {value}" for label, value in fields.items() if value]
    text = "\n".join(lines) + f"\n\n<!-- haytham:journal {VERSION} sha256:"
    return _signed(b"", text)


def read_header(data: Bytes) -> tuple[Header, int, bytes]:
    """Returns the header of a journal, where it ends, and its hash; raises Unreadable."""
    found = HEADER_END.search(data, 0, 4096)
    if found is None or found[2] != _hash(b"", data[: found.start(2)]):
        raise Unreadable("the first lines are not as they were written")
    if int(found[1]) != VERSION:
        raise UnknownVersion(f"it has the format version {int(found[1])}, and this Haytham knows {VERSION}")
    fields = dict(_FIELD.findall(data[: found.start()].decode()))
    header = Header(
        session=fields.get("Session", ""),
        agent=fields.get("Agent", ""),
        branch=fields.get("Branch", ""),
        forked_from=fields.get("Forked From", ""),
        forked_journal=fields.get("Forked Journal", ""),
        forked_session=fields.get("Forked Session", ""),
    )
    return header, found.end(), found[2]


def entry_text(written: Written, before: bytes) -> bytes:
    """Returns an entry as it is appended to a journal, given the hash before it."""
    entry = written.entry
    parts = [f"\n## {entry.number} · {instants.text_of(entry.timestamp)}"]
    if entry.name:
        parts.append(f" · {entry.name}")
    parts.append("\n")
    if fields := _fields(written):
        parts.append("\n")
        parts += [f"- {label}: {value}\n" for label, value in fields]
    parts += [_change_text(change) for change in written.changes]
    parts.append(f"\n<!-- entry {entry.id} sha256:")
    return _signed(before, "".join(parts))


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands in a journal's bytes."""

    id: str
    start: int
    end: int
    hash: bytes


def places(data: Bytes, start: int, before: bytes) -> tuple[list[Place], int]:
    """Finds the whole entries from a point on; returns them and where the first byte stands that is in none."""
    found: list[Place] = []
    for ending in ENDING.finditer(data, start):
        if ending[2] != _hash(before, data[start : ending.start(2)]):
            break
        before = ending[2]
        found.append(Place(ending[1].decode(), start, ending.end(), before))
        start = ending.end()
    return found, start


def origin_of(data: bytes) -> tuple[str, str] | None:
    """Returns the journal and the entry that the first entry of a journal goes on from; None if it needs no other.

    The beginning of the journal is enough. Raises Unreadable.
    """
    header, end, _ = read_header(data)
    is_needed = f"\n- From: {header.forked_from}\n".encode() in data[end:] or _BODY.search(data, end) is None
    return (header.forked_journal, header.forked_from) if header.forked_from and is_needed else None


def find(data: Bytes, entry_id: str, agent: str) -> Written | None:
    """Finds one entry in a part of a journal, checked against the hash before it; None if it is not there."""
    ending = ENDING.search(data, max(0, data.find(mark_of(entry_id))))
    before = data.rfind(b"\n<!-- ", 0, ending.start()) if ending else -1
    if ending is None or ending[1].decode() != entry_id or before < 0:
        return None
    start = data.find(b"\n", before + 1) + 1
    close = start - len(" -->\n")
    if ending[2] != _hash(bytes(data[close - _DIGITS : close]), data[start : ending.start(2)]):
        return None
    previous = ENDING.match(data, before)
    place = Place(entry_id, start, ending.end(), ending[2])
    return read_entry(data, place, agent, previous[1].decode() if previous else None)


def read_entry(data: Bytes, place: Place, agent: str, previous: str | None) -> Written:
    """Reads an entry; `previous` is the id of the one before. Raises Unreadable."""
    try:
        head, *blocks = data[place.start + 1 : data.rfind(b"\n<!--", place.start, place.end)].decode().split("\n### ")
        entry, base = _read_head(head, place.id, agent, previous)
        return Written(entry=entry, previous=previous, base=base, changes=[_read_change(block) for block in blocks])
    except (ValueError, LookupError, TypeError) as error:
        raise Unreadable(f"entry {place.id} cannot be understood: {error}") from error


# The head of an entry


def _fields(written: Written) -> list[tuple[str, object]]:
    """Returns what is not as one would expect it; the rest need not be said."""
    entry = written.entry
    all_ = [
        ("Step", entry.step, entry.number),
        ("Kind", entry.kind.value, EntryKind.ROUTINE.value),
        ("Status", entry.status.value, AgentStatus.IN_PROGRESS.value),
        ("Reason", _line(entry.reason), ""),
        ("Succeeded", entry.succeeded, None),
        ("Metadata", _JSON(copy_of(entry.metadata, "metadata")) if entry.metadata else "{}", "{}"),
        ("From", written.base, None),
        ("Parent", entry.parent or _NOBODY, written.base or written.previous or _NOBODY),
    ]
    return [(label, value) for label, value, expected in all_ if value != expected]


def _read_head(head: str, id_: str, agent: str, previous: str | None) -> tuple[Entry, str | None]:
    first, _, rest = head.partition("\n")
    number, timestamp, *name = first.removeprefix("## ").split(" · ", 2)
    entry = Entry(
        id=id_,
        number=int(number),
        agent=agent,
        timestamp=datetime.fromisoformat(timestamp),
        step=int(number),
        name=name[0] if name else "",
        parent=previous,
    )
    if not rest:
        return entry, None
    fields = dict(_FIELD.findall(rest))
    base = fields.get("From")
    return replace(
        entry,
        step=int(fields.get("Step", entry.step)),
        kind=EntryKind(fields.get("Kind", EntryKind.ROUTINE)),
        status=AgentStatus(fields.get("Status", AgentStatus.IN_PROGRESS)),
        reason=_unline(fields.get("Reason", "")),
        succeeded=fields.get("Succeeded"),
        metadata=json.loads(fields.get("Metadata", "{}")),
        parent=None if fields.get("Parent") == _NOBODY else fields.get("Parent", base or previous),
    ), base


# Changes


def _change_text(change: Change) -> str:
    special = _SPECIAL.get(change.path) if change.verb is Verb.ADD else None
    if special and (text := special(change.value)):
        return text
    title = _TITLES[change.verb].format(path=path_text(change.path), count=change.value)
    return f"\n### {title}\n\n{_block(change.value)}" if change.verb in _WITH_VALUE else f"\n### {title}\n"


def _read_change(block: str) -> Change:
    title, _, body = block.partition("\n")
    if title.startswith("Message from "):
        return _read_message(title[13:], body)
    if title.startswith("Tool call "):
        return _read_tool_call(title[10:], body)
    if title == "Partial result":
        return Change(Verb.ADD, ("partial_results",), _value(body[1:]))
    for verb, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(title):
            path, count = found.groupdict().get("path"), found.groupdict().get("count")
            value = _value(body[1:]) if verb in _WITH_VALUE else int(count) if count else None
            return Change(verb, path_of(path) if path else (), value)
    raise Unreadable(f"nobody knows what {title!r} means")


_TITLES = {
    Verb.PUT: "Set {path}",
    Verb.ADD: "Add to {path}",
    Verb.CLEAR: "The whole state",
    Verb.DROP: "Remove {path}",
    Verb.CUT: "Keep the first {count} of {path}",
    Verb.SKIP: "Drop the first {count} of {path}",
}
_PATTERNS = {
    verb: re.compile(title.format(path="(?P<path>.*)", count="(?P<count>[0-9]+)")) for verb, title in _TITLES.items()
}
_WITH_VALUE = {Verb.PUT, Verb.ADD}


def _message_text(item: Any) -> str:
    if not isinstance(item, dict) or tuple(item)[:2] != _MESSAGE or not _is_word(item["role"]):
        return ""
    further = {key: value for key, value in item.items() if key not in _MESSAGE}
    also = f"\nFurther:\n\n{_block(further)}" if further else ""
    return f"\n### Message from {item['role']}\n\n{_block(item['content'])}{also}"


def _read_message(role: str, body: str) -> Change:
    content, _, further = body.partition("\n\nFurther:\n\n")
    value = {"role": role, "content": _value(content[1:] if not further else f"{content[1:]}\n")}
    return Change(Verb.ADD, ("messages",), value | _value(further) if further else value)


def _tool_call_text(item: Any) -> str:
    if not isinstance(item, dict) or tuple(item) != _TOOL_CALL or not _is_word(item["tool_name"]):
        return ""
    outcome = "succeeded" if item["success"] else "failed"
    result = f"\nResult:\n\n{_block(item['result'])}" if item["result"] is not None else ""
    return f"\n### Tool call {item['tool_name']} {outcome}\n\nArguments:\n\n{_block(item['arguments'])}{result}"


def _read_tool_call(title: str, body: str) -> Change:
    name, _, outcome = title.rpartition(" ")
    arguments, _, result = body.removeprefix("\nArguments:\n\n").partition("\n\nResult:\n\n")
    value = {
        "tool_name": name,
        "arguments": _value(arguments if not result else f"{arguments}\n"),
        "result": _value(result) if result else None,
        "success": outcome == "succeeded",
    }
    return Change(Verb.ADD, ("tool_calls",), value)


def _partial_text(item: Any) -> str:
    return f"\n### Partial result\n\n{_block(item)}"


_SPECIAL: dict[tuple[str | int, ...], Callable[[Any], str]] = {
    ("messages",): _message_text,
    ("tool_calls",): _tool_call_text,
    ("partial_results",): _partial_text,
}


# Values


def _block(value: Any) -> str:
    """Returns text as a quotation, other data as an indented block, with the end of its last line."""
    if isinstance(value, str):
        return "> " + value.replace("\n", "\n> ") + "\n"
    text = _JSON(value)
    if len(text) > _LONG and isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False, indent=2)
    return "    " + text.replace("\n", "\n    ") + "\n"


def _value(block: str) -> Any:
    if block[:2] == "> ":
        return block[2:-1].replace("\n> ", "\n")
    return json.loads(block)


def _line(text: str) -> str:
    """Returns a text as one line: as it is if that is one, else as JSON."""
    is_plain = not text or (text.isprintable() and text == text.strip() and text[0] != '"')
    return text if is_plain else _JSON(text)


def _unline(line: str) -> str:
    return str(json.loads(line)) if line.startswith('"') else line


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.match(value) is not None


# Hashes


def _signed(before: bytes, text: str) -> bytes:
    data = text.encode()
    return data + _hash(before, data) + b" -->\n"


def _hash(before: bytes, data: Bytes) -> bytes:
    return hashlib.sha256(before + data).hexdigest()[:_DIGITS].encode()
