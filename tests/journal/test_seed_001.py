"""The API of the second seed document, call by call, then its hazards."""

import json
from collections.abc import Callable

import pytest

from haytham.domain.errors import InvalidInput, NotFound
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.journal.conftest import Watch


def test_create(journal: Journal) -> None:
    """A name, data and metadata make an entry."""
    entry = journal.save({"task": 1}, name="task_started", metadata={"by": "ana"})
    assert (entry.name, dict(entry.metadata), journal.state_at(entry)) == ("task_started", {"by": "ana"}, {"task": 1})


def test_get(journal: Journal) -> None:
    """An entry is found by its id; what is not there is None."""
    entry = journal.save()
    assert (journal.get(entry.id), journal.get("0" * 24)) == (entry, None)


def test_get_by_name(journal: Journal) -> None:
    """All of one name, newest first."""
    first, _, third = (journal.save(name=name) for name in ("a", "b", "a"))
    assert journal.by_name("a") == [third, first]
    assert journal.by_name("c") == []


def test_get_latest(journal: Journal) -> None:
    """The newest of all, or of one name."""
    assert journal.latest(name="a") is None
    first, second = journal.save(name="a"), journal.save(name="b")
    assert (journal.latest(), journal.latest(name="a"), journal.latest(name="c")) == (second, first, None)


def test_get_all(journal: Journal) -> None:
    """All, oldest first."""
    assert journal.all() == []
    made = [journal.save() for _ in range(3)]
    assert made == journal.all()


def test_get_since(journal: Journal, watch: Watch) -> None:
    """Those after a point in time, which itself is left out."""
    first = journal.save()
    watch.move(10)
    second = journal.save()
    assert journal.since(first.timestamp) == [second]
    assert journal.since("2026-02-28T00:00:00Z") == [first, second]


def test_get_between(journal: Journal, watch: Watch) -> None:
    """Those from one point in time to another, both included."""
    made = []
    for _ in range(4):
        made.append(journal.save())
        watch.move(10)
    assert journal.between(made[1].timestamp, made[2].timestamp) == made[1:3]


def test_rollback_to(journal: Journal) -> None:
    """The state is that of the entry again; nothing that was saved goes away."""
    first, _ = journal.save({"task": 1}, name="good"), journal.save({"task": 2})
    entry = journal.rollback_to(first.id, reason="the second was wrong")
    assert (entry.parent, entry.kind, entry.reason) == (first.id, "recovery", "the second was wrong")
    assert (journal.state.to_dict(), len(journal)) == ({"task": 1}, 3)
    with pytest.raises(NotFound):
        journal.rollback_to("0" * 24)


def test_clear(journal: Journal) -> None:
    """Everything goes, and is counted."""
    assert journal.clear() == 0
    for _ in range(3):
        journal.save()
    assert (journal.clear(), len(journal), journal.latest()) == (3, 0, None)


def test_get_summary(journal: Journal, watch: Watch) -> None:
    """Counts, names, the first, the last, and the time between them."""
    assert journal.summary()["total_count"] == 0
    first = journal.save(name="a")
    journal.save(name="b")
    watch.move(90)
    last = journal.save(name="a")
    summary = journal.summary()
    assert (summary["total_count"], summary["unique_names"], summary["names"]) == (3, 2, {"a": 2, "b": 1})
    assert (summary["first"], summary["last"]) == (first.record(), last.record())
    assert summary["duration_seconds"] == 90


def test_on_checkpoint(journal: Journal) -> None:
    """A callback is called with each entry."""
    seen: list[object] = []
    journal.after_save(seen.append)
    made = [journal.save() for _ in range(2)]
    assert made == seen


def test_on_checkpoint_that_fails(journal: Journal) -> None:
    """A callback that fails does not fail the save, and is reported."""
    journal.after_save(lambda _: 1 // 0)
    entry = journal.save()
    assert journal.all() == [entry]
    assert journal.problems == ["a callback failed: ZeroDivisionError: integer division or modulo by zero"]


def test_export(journal: Journal) -> None:
    """All entries as JSON."""
    entry = journal.save({"task": 1}, name="a")
    (only,) = json.loads(journal.export())["entries"]
    assert (only["id"], only["name"]) == (entry.id, "a")


def test_import_checkpoints(journal: Journal, journals: Journals) -> None:
    """What was exported can be taken in elsewhere: the same entries, the same states, counted."""
    made = [journal.save({"task": number}, name=f"n{number}") for number in range(3)]
    other = journals.journal("writer", "copy")
    assert other.import_entries(journal.export()) == 3
    assert [other.state_at(each.id) for each in made] == [{"task": number} for number in range(3)]
    with pytest.raises(InvalidInput):
        other.import_entries('[{"id": 1}]')
    assert len(other) == 3


def test_len(journal: Journal) -> None:
    """The number of entries."""
    assert len(journal) == 0
    journal.save()
    assert len(journal) == 1


def test_iter(journal: Journal) -> None:
    """All, oldest first, and whether one is among them."""
    made = [journal.save() for _ in range(3)]
    assert made == list(journal)
    assert made[0] in journal
    assert "0" * 24 not in journal


def test_compress_after(journal: Journal) -> None:
    """Above 50: the first, the newest of each name and the last 20 stay, each with the state that it had."""
    made = [journal.save({"number": number}, name="ab"[number % 2]) for number in range(51)]
    assert journal.cleanup()["kept"] == 21  # the newest of both names are among the last 20
    left = journal.all()
    assert left[:1] == made[:1]
    assert [journal.state_at(each)["number"] for each in left] == [0, *range(31, 51)]


def test_hazard_limit_was_never_enforced(journal: Journal) -> None:
    """A limit is a limit, whatever the names, and after each cleanup."""
    for number in range(30):
        journal.save(name=f"n{number}")
    assert journal.cleanup(Retention(limit=10))["kept"] == len(journal) == 10
    journal.save(name="one more")
    assert journal.cleanup(Retention(limit=10), dry_run=True)["kept"] == 10
    assert len(journal) == 11
    assert journal.cleanup(Retention(limit=10))["kept"] == len(journal) == 10


def test_hazard_ids_repeat_after_an_import(
    journal: Journal, journals: Journals, reopen: Callable[[], Journals]
) -> None:
    """What is saved after an import has an id that neither journal had; the same entries are not taken in twice."""
    for _ in range(3):
        journal.save()
    other = journals.journal("writer", "copy")
    other.save()
    other.import_entries(journal.export())
    again = reopen().journal("writer", "copy")
    again.save()
    assert len({each.id for each in again}) == len(again) == 5
    with pytest.raises(InvalidInput, match="is in the journal already"):
        again.import_entries(journal.export())
