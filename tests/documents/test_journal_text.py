from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.documents import journal_marks, journal_text
from haytham.documents.journal_paths import path_of, path_text
from haytham.documents.journal_text import Header, Place, UnknownVersion, Unreadable, Written
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind
from haytham.domain.state_changes import Change, Verb, whole
from tests.journal.states import FAKE, HOSTILE, exact, keys, messages, states, texts, tool_calls, values

ID, OTHER, THIRD = "0" * 24, "1" * 24, "abcdef" * 4
BEFORE = b"f" * 32
NOW = datetime(2026, 1, 31, 10, tzinfo=UTC)


def _is_line(text: str) -> bool:
    try:
        return bool(check_line(text, "name"))
    except InvalidInput:
        return False


paths = st.builds(lambda first, more: (first, *more), keys, st.lists(keys | st.integers(-3, 10**9), max_size=3))
counts = st.integers(0, 10**9)
changes = st.one_of(
    st.builds(Change, st.just(Verb.PUT), paths, values),
    st.builds(Change, st.just(Verb.ADD), paths, values),
    st.builds(Change, st.just(Verb.ADD), st.just(("messages",)), messages | values),
    st.builds(Change, st.just(Verb.ADD), st.just(("tool_calls",)), tool_calls | values),
    st.builds(Change, st.just(Verb.ADD), st.just(("partial_results",)), values),
    st.builds(Change, st.just(Verb.DROP), paths, st.none()),
    st.builds(Change, st.just(Verb.CUT), paths, counts),
    st.builds(Change, st.just(Verb.SKIP), paths, counts),
    st.just(Change(Verb.CLEAR, (), None)),
)
ids = st.sampled_from([OTHER, THIRD])
entries = st.builds(
    Entry,
    id=st.just(ID),
    number=counts,
    agent=st.just("writer"),
    timestamp=st.datetimes(timezones=st.just(UTC)),
    step=counts,
    name=st.just("") | texts.filter(_is_line) | st.sampled_from(["a · b", "none", "## 3", "-->", "- Step: 9"]),
    kind=st.sampled_from(EntryKind),
    status=st.sampled_from(AgentStatus),
    reason=texts,
    metadata=st.dictionaries(keys, values, max_size=2),
    parent=st.none() | ids,
    succeeded=st.none() | ids,
)
written = st.builds(
    Written, entry=entries, previous=st.none() | ids, base=st.none() | ids, changes=st.lists(changes, max_size=4)
)


def _read(data: bytes, previous: str | None) -> tuple[Written, Place]:
    found, end = journal_text.places(data, 0, BEFORE)
    assert (1, len(data)) == (len(found), end)
    return journal_text.read_entry(data, found[0], "writer", previous), found[0]


@given(written)
def test_an_entry_reads_back_exactly(given_: Written) -> None:
    """Whatever the caller's text looks like, one entry is written and the same one is read, bit for bit."""
    data = journal_text.entry_text(given_, BEFORE)
    found, place = _read(data, given_.previous)
    assert replace(given_.entry, metadata={}) == replace(found.entry, metadata={})
    assert exact(given_.entry.record()["metadata"]) == exact(found.entry.record()["metadata"])
    assert (given_.base, given_.previous) == (found.base, found.previous)
    assert exact(list(given_.changes)) == exact(list(found.changes))
    assert [each.verb for each in given_.changes] == [each.verb for each in found.changes]
    assert data == journal_text.entry_text(found, BEFORE)
    assert given_.entry.id == place.id


@given(states())
def test_whole_states_read_back_exactly(state: dict[str, Any]) -> None:
    """A whole state, with everything that agents hold, comes back bit for bit."""
    one = Written(entry=_entry(), previous=None, changes=whole(state))
    found, _ = _read(journal_text.entry_text(one, BEFORE), None)
    assert exact(list(one.changes)) == exact(list(found.changes))
    assert found.is_whole


@given(st.lists(texts, min_size=2, max_size=4))
def test_hostile_text_makes_no_entry(contents: list[str]) -> None:
    """Text that looks like entries adds none: as many are found as were written, and no line of it is one of ours."""
    data, before = b"", BEFORE
    for number, content in enumerate([*contents, FAKE]):
        one = Written(
            entry=replace(_entry(), id=f"{number:024x}"), previous=None, changes=[Change(Verb.PUT, ("a",), content)]
        )
        text = journal_text.entry_text(one, before)
        before = text[-37:-5]
        data += text
    found, end = journal_text.places(data, 0, BEFORE)
    assert (len(contents) + 1, len(data)) == (len(found), end)
    assert data.count(b"\n<!-- entry ") == len(found)
    assert data.count(b"\n## ") == len(found)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_person_sees_text_as_text(text: str) -> None:
    """A message, a result and an answer stand there line by line, quoted; nothing is escaped."""
    one = Written(
        entry=_entry(), previous=None, changes=[Change(Verb.ADD, ("messages",), {"role": "user", "content": text})]
    )
    shown = journal_text.entry_text(one, BEFORE).decode()
    assert "\n### Message from user\n\n> " + text.replace("\n", "\n> ") + "\n" in shown


def test_what_an_entry_looks_like() -> None:
    """An entry is markdown: a heading, what is unusual, each change under a heading of its own."""
    call = {"tool_name": "search", "arguments": {"q": "x"}, "result": "found", "success": True}
    one = Written(
        entry=replace(_entry(), number=3, step=5, name="asked", kind=EntryKind.PRE_OPERATION, parent=OTHER),
        previous=OTHER,
        changes=[
            Change(Verb.ADD, ("messages",), {"role": "user", "content": "two\nlines", "tokens": 3}),
            Change(Verb.ADD, ("tool_calls",), call),
            Change(Verb.PUT, ("memory", "an odd key", 3), {"a": 1}),
            Change(Verb.DROP, ("mailbox",), None),
            Change(Verb.SKIP, ("partial_results",), 2),
        ],
    )
    expected = """
## 3 · 2026-01-31T10:00:00Z · asked

- Step: 5
- Kind: pre_operation

### Message from user

> two
> lines

Further:

    {"tokens": 3}

### Tool call search succeeded

Arguments:

    {"q": "x"}

Result:

> found

### Set memory."an odd key"[3]

    {"a": 1}

### Remove mailbox

### Drop the first 2 of partial_results

<!-- entry 000000000000000000000000 sha256:"""
    assert expected == journal_text.entry_text(one, BEFORE).decode()[:-37]


@given(paths)
def test_paths_read_back(path: tuple[str | int, ...]) -> None:
    """A path is one printable line, and comes back."""
    text = path_text(path)
    assert text.isascii()
    assert text.isprintable()
    assert path == path_of(text)


@pytest.mark.parametrize("text", ["", ".", "a b", '"open', "a[", "a[x]", "a]", "a..b"])
def test_what_is_no_path_is_refused(text: str) -> None:
    """What nobody wrote is no path."""
    with pytest.raises(ValueError):
        path_of(text)


HEADERS = [
    Header(session="s-1", agent="writer"),
    Header(session="s-1", agent="writer", branch="b.2"),
    Header(session="s", agent="a" * 100, branch="b" * 100, forked_from=ID, forked_journal="a" * 201),
    Header(session="s" * 100, agent="w", forked_from=ID, forked_journal="w@x", forked_session="t" * 100),
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.title[:9])
def test_the_first_lines_read_back(header: Header) -> None:
    """The first lines come back, with where they end and their hash; what follows does not matter."""
    text = journal_text.header_text(header)
    assert (header, len(text), text[-37:-5]) == journal_text.read_header(text + FAKE.encode())


@pytest.mark.parametrize("cut", [0, 1, 20, -1, -6])
def test_unfinished_first_lines_are_unreadable(cut: int) -> None:
    """First lines that are cut off are not believed."""
    with pytest.raises(Unreadable):
        journal_text.read_header(journal_text.header_text(HEADERS[0])[:cut])


def test_another_version_is_told_apart() -> None:
    """A format that this version does not know is named, if the lines are whole."""
    text = journal_text.header_text(HEADERS[0])[:-37].replace(b"journal 1", b"journal 2").decode()
    with pytest.raises(UnknownVersion, match="format version 2"):
        journal_text.read_header(journal_text._signed(b"", text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"### Set a", b"### Put a"),
        (b"### Set a", b"### Set a b"),
        (b"## 1 ", b"## x "),
        (b"2026-01-31T10:00:00Z", b"yesterday"),
        (b"    1\n", b"    {\n"),
        (b"    1\n", b"    \xff\n"),
        (b"- Kind: recovery", b"- Kind: other"),
    ],
    ids=str,
)
def test_what_is_whole_but_makes_no_sense_is_unreadable(old: bytes, new: bytes) -> None:
    """An entry that somebody signed anew, and that cannot be understood, is named."""
    one = Written(
        entry=replace(_entry(), kind=EntryKind.RECOVERY), previous=None, changes=[Change(Verb.PUT, ("a",), 1)]
    )
    data = journal_text.entry_text(one, BEFORE)
    assert old in data
    data = data.replace(old, new)
    place = Place(ID, 0, len(data), b"")
    with pytest.raises(Unreadable, match=ID):
        journal_text.read_entry(data, place, "writer", None)


def test_a_chain_is_found_up_to_the_first_fault() -> None:
    """Entries are found as long as each goes on from the one before; the rest is told from an unfinished end."""
    first = journal_text.entry_text(Written(entry=_entry(), previous=None, changes=[]), BEFORE)
    second = journal_text.entry_text(Written(entry=_entry(), previous=ID, changes=[]), first[-37:-5])
    third = journal_text.entry_text(Written(entry=_entry(), previous=ID, changes=[]), second[-37:-5])
    found, end = journal_text.places(first + third + second, 0, BEFORE)
    assert (1, len(first)) == (len(found), end)
    assert journal_marks.has_entry_behind(first + third + second, end)
    assert not journal_marks.has_entry_behind(first + second[:-1], end)
    assert not journal_marks.has_entry_behind(first, end)
    assert 1 + first.count(b"\n") == journal_marks.line_at(first + second, len(first))


def test_the_finished_part_ends_with_an_entry() -> None:
    """Wherever a journal breaks off, what is finished ends with its last whole entry, or with its first lines."""
    parts = [journal_text.header_text(Header(session="s", agent="writer"))]
    for content in ("plain", FAKE):
        change = Change(Verb.ADD, ("messages",), {"role": "user", "content": content})
        written = Written(entry=_entry(), previous=None, changes=[change])
        parts.append(journal_text.entry_text(written, parts[-1][-37:-5]))
    data = b"".join(parts)
    ends = [len(b"".join(parts[: count + 1])) for count in range(len(parts))]
    for cut in range(len(data) + 1):
        expected = max((end for end in ends if end <= cut), default=cut)
        assert data[:expected] == journal_marks.finished_part(data[:cut]), cut


def _entry() -> Entry:
    return Entry(id=ID, number=1, agent="writer", timestamp=NOW, step=1)
