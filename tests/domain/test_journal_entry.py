from datetime import UTC, datetime

import pytest

from haytham.domain.errors import InvalidInput
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind, Note, check_entry_id, note

ID = "0123456789abcdef01234567"


def test_a_note_that_says_nothing_is_the_usual_one() -> None:
    """Without a word it is a routine snapshot of an agent at work."""
    assert Note() == note()
    assert (EntryKind.ROUTINE, AgentStatus.IN_PROGRESS, None) == (note().kind, note().status, note().step)


def test_a_note_keeps_what_was_said() -> None:
    """Everything comes back, checked and copied."""
    given = {"a": [1]}
    said = note("named", "recovery", "halted", "a loop\nof two", 7, given, ID)
    given["a"].append(2)
    expected = Note(
        name="named",
        kind=EntryKind.RECOVERY,
        status=AgentStatus.HALTED,
        reason="a loop\nof two",
        step=7,
        metadata={"a": [1]},
        succeeded=ID,
    )
    assert expected == said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"name": "two\nlines"}, "name"),
        ({"name": " padded "}, "name"),
        ({"name": "x" * 501}, "name"),
        ({"name": 5}, "name"),
        ({"kind": "rutine"}, "kind"),
        ({"kind": None}, "kind"),
        ({"status": "done"}, "status"),
        ({"status": "failed", "reason": "\ud800"}, "reason"),
        ({"reason": "why"}, "reason"),
        ({"status": "completed", "reason": "why"}, "reason"),
        ({"status": "failed", "reason": 5}, "reason"),
        ({"step": -1}, "step"),
        ({"step": True}, "step"),
        ({"step": 1.0}, "step"),
        ({"metadata": [1]}, "metadata"),
        ({"metadata": {"a": b"bytes"}}, "metadata"),
        ({"succeeded": "x"}, "entry id"),
        ({"succeeded": f"{ID}\n"}, "entry id"),
    ],
    ids=str,
)
def test_what_cannot_be_said_is_refused_by_name(words: dict[str, object], named: str) -> None:
    """A word that does not fit is refused with its name."""
    with pytest.raises(InvalidInput, match=named):
        note(**words)


@pytest.mark.parametrize("status", ["failed", "halted"])
def test_a_reason_goes_with_what_went_wrong(status: str) -> None:
    """A reason is kept for a failure, a halt and a recovery."""
    assert "why" == note(status=status, reason="why").reason
    assert "why" == note(kind="recovery", reason="why").reason
    assert AgentStatus(status).has_reason
    assert not AgentStatus.COMPLETED.has_reason


@pytest.mark.parametrize("value", ["", "x" * 24, ID.upper(), f"{ID}0", ID[1:], None, 7])
def test_an_id_has_one_form(value: object) -> None:
    """Anything but 24 small hexadecimal digits is no id."""
    assert ID == check_entry_id(ID)
    with pytest.raises(InvalidInput, match="entry id"):
        check_entry_id(value)


def test_a_record_is_plain_data() -> None:
    """A record has text for the time and for the words, and shares no dict with the entry."""
    entry = Entry(id=ID, number=1, agent="a", timestamp=datetime(2026, 1, 31, tzinfo=UTC), step=3, metadata={"k": 1})
    record = entry.record()
    record["metadata"]["k"] = 2
    assert {"k": 1} == entry.metadata
    assert ("2026-01-31T00:00:00Z", "routine", "in_progress") == (record["timestamp"], record["kind"], record["status"])
    assert str is type(record["kind"])
