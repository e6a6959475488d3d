import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from haytham import DamagedJournal, InvalidInput, NotFound
from haytham.documents.journal_text import Written, entry_text
from haytham.domain.agent_state import AgentState
from haytham.domain.due import Due
from haytham.domain.journal_entry import Entry
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.retention import Retention
from haytham.domain.state_changes import Change, Verb
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.journal.conftest import Watch
from tests.journal.states import exact

Reopen = Callable[[], Journals]
UNKNOWN = "f" * 24


def _saved(journal: Journal, *names: str) -> list[Entry]:
    found = []
    for name in names:
        journal.state.add_message("user", name)
        found.append(journal.save(name=name))
    return found


def test_a_fresh_journal_is_empty(journal: Journal) -> None:
    """Nothing is there, and looking makes nothing."""
    assert (0, [], None, [], False) == (len(journal), list(journal), journal.latest(), journal.verify(), "x" in journal)
    assert ({}, None, "") == (journal.state.to_dict(), journal.resume(), journal.origin)
    assert not journal.path.exists()
    assert not journal.has_begun
    assert 0 == journal.summary()["total_count"]
    assert ("writer", "", "writer", "s-1") == (journal.agent, journal.branch, journal.title, journal.session)


def test_a_save_is_there_for_another_process(journal: Journal, reopen: Reopen) -> None:
    """What is saved is found by whoever opens the journal, with everything that was said about it."""
    first = _saved(journal, "one")[0]
    journal.state.spend(tokens=3)
    said: dict[str, Any] = {"kind": "pre_operation", "status": "failed", "reason": "no\nluck", "metadata": {"a": [1.0]}}
    second = journal.save(name="two", step=9, succeeded=first, **said)
    other = reopen().journal("writer")
    assert [first, second] == other.all() == list(other)
    assert exact(journal.state.to_dict()) == exact(other.state.to_dict()) == exact(other.state_at(second))
    assert exact({"messages": [{"role": "user", "content": "one"}]}) == exact(other.state_at(first.id))
    assert (9, first.id, first.id, 2) == (second.step, second.parent, second.succeeded, second.number)
    assert 10 == journal.save().step


def test_a_whole_state_may_be_handed_in(journal: Journal, reopen: Reopen) -> None:
    """A dict or another state takes the place of the present one, and only the difference is written."""
    long = {"memory": {"text": "x" * 5000}, "n": 1}
    journal.save(long)
    size = journal.path.stat().st_size
    journal.save({**long, "n": 2})
    assert journal.path.stat().st_size < size + 400
    entry = journal.save(AgentState({**long, "n": 3}))
    assert {**long, "n": 3} == reopen().journal("writer").state_at(entry)
    assert 3 == journal.state["n"]


def test_types_and_order_survive(journal: Journal, reopen: Reopen) -> None:
    """A number that turns into another type, and keys that change their order, are changes."""
    for state in ({"a": 1, "b": 2}, {"a": 1.0, "b": 2}, {"a": True, "b": 2}, {"b": 2, "a": True}, {"b": -0.0}):
        entry = journal.save(state)
        assert exact(state) == exact(reopen().journal("writer").state_at(entry))


def test_entries_are_found_in_many_ways(journal: Journal, watch: Watch) -> None:
    """By id, name, kind, status, time and step."""
    first = journal.save(name="a", step=5)
    watch.move(10)
    second = journal.save(name="b", kind="recovery", step=2)
    watch.move(10)
    third = journal.save(name="a", status="completed", step=3)
    assert first == journal.get(first.id)
    assert journal.get(UNKNOWN) is None
    assert [third, first] == journal.by_name("a")
    assert (third, second, first, None) == (
        journal.latest(),
        journal.latest(kind="recovery"),
        journal.latest(name="a", status="in_progress"),
        journal.latest(name="b", status="completed"),
    )
    assert [second, third, first] == journal.by_step()
    assert [second, third] == journal.since(first.timestamp)
    assert [first, second] == journal.between(first.timestamp, "2026-03-01T00:00:10Z")
    assert (True, True, False, False) == (first in journal, first.id in journal, UNKNOWN in journal, 5 in journal)


def test_a_name_that_is_the_beginning_of_another_is_another(journals: Journals) -> None:
    """Hazard: agent-1 is not agent-10, a is not a_b; what happens to one leaves the others alone."""
    for agent in ("agent-1", "agent-10", "a", "a_b", "latest"):
        journals.journal(agent).save({"who": agent})
    assert 1 == journals.journal("agent-1").clear()
    journals.journal("a").cleanup(Retention(limit=1))
    assert [0, 1, 1, 1, 1] == [len(journals.journal(each)) for each in ("agent-1", "agent-10", "a", "a_b", "latest")]


def test_rolling_back_adds_an_entry(journal: Journal, reopen: Reopen) -> None:
    """The state is as it was, what came between stays, and work goes on from there."""
    first, second = _saved(journal, "one", "two")
    back = journal.rollback_to(first, reason="wrong way")
    assert ("recovery", "one", first.id, first.step) == (back.kind, back.name, back.parent, back.step)
    journal.state.add_message("user", "another")
    last = journal.save()
    other = reopen().journal("writer")
    said = [[each["content"] for each in other.state_at(e)["messages"]] for e in (first, second, back, last)]
    assert [["one"], ["one", "two"], ["one"], ["one", "another"]] == said


@pytest.mark.parametrize("call", ["rollback_to", "state_at", "fork", "fork_into"])
def test_an_entry_that_is_not_there_is_named(call: str, journal: Journal, journals: Journals) -> None:
    """Going to an unknown entry is refused with its id, and nothing changes."""
    _saved(journal, "one")
    before = journal.path.read_bytes()
    calls: dict[str, Callable[[], object]] = {
        "rollback_to": lambda: journal.rollback_to(UNKNOWN),
        "state_at": lambda: journal.state_at(UNKNOWN),
        "fork": lambda: journal.fork("b", UNKNOWN),
        "fork_into": lambda: journal.fork_into(journals, "b", UNKNOWN),
    }
    with pytest.raises(NotFound, match=UNKNOWN):
        calls[call]()
    assert before == journal.path.read_bytes()
    assert ["writer"] == journals.titles()
    with pytest.raises(InvalidInput, match="entry id"):
        journal.state_at("../x")


def test_there_is_nothing_to_fork_in_an_empty_journal(journal: Journal) -> None:
    """A fork needs an entry."""
    with pytest.raises(NotFound, match="no entries yet"):
        journal.fork("b")


def test_a_failed_rollback_leaves_the_state(journal: Journal, reopen: Reopen) -> None:
    """If the entry cannot be written, the state to work on is the one before."""
    first, _ = _saved(journal, "one", "two")
    before = journal.state.to_dict()
    with pytest.raises(InvalidInput):
        journal.rollback_to(first, metadata={"a": object()})
    journal.path.rename(journal.path.with_name("away"))
    journal.path.mkdir()
    with pytest.raises(OSError):
        journal.rollback_to(first)
    assert before == journal.state.to_dict()
    journal.path.rmdir()
    journal.path.with_name("away").rename(journal.path)
    assert before == reopen().journal("writer").state_at(journal.save())


@pytest.mark.parametrize("said", [{"kind": "x"}, {"name": "a\nb"}, {"reason": "r"}, {"metadata": {1: 2}}, {"step": -1}])
def test_what_cannot_be_said_writes_nothing(said: dict[str, Any], journal: Journal) -> None:
    """A word that does not fit is refused before anything is written."""
    with pytest.raises(InvalidInput):
        journal.save(**said)
    with pytest.raises(InvalidInput):
        journal.save({"a": object()})
    assert not journal.path.exists()


def test_unsaved_changes_are_dropped_by_resuming(journal: Journal) -> None:
    """Resuming goes on from the newest entry, whoever wrote it."""
    entry = journal.save({"a": 1})
    journal.state["a"] = 2
    assert entry == journal.resume()
    assert 1 == journal.state["a"]


def test_two_writers_do_not_lose_each_others_work(journal: Journal, reopen: Reopen) -> None:
    """Two processes on one journal: every entry is there, and each state is what its writer saved."""
    other = reopen().journal("writer")
    expected = []
    for number in range(6):
        writer = (journal, other)[number % 2]
        writer.state[f"by {number % 2}"] = number
        expected.append((writer.save(), writer.state.to_dict()))
    fresh = reopen().journal("writer")
    assert [entry for entry, _ in expected] == fresh.all()
    assert [exact(state) for _, state in expected] == [exact(fresh.state_at(entry)) for entry, _ in expected]
    assert [1, 2, 3, 4, 5, 6] == [each.number for each in fresh]


def test_a_failing_callback_fails_no_save(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    """What a callback raises is reported, and the others are called."""
    heard: list[object] = []
    journal.before_save(lambda state, note: heard.append((state["n"], note.name)))
    journal.before_save(lambda _state, _note: 1 / 0)
    journal.after_save(lambda entry: [][entry.number])
    journal.after_save(heard.append)
    entry = journal.save({"n": 1}, name="kept")
    assert [(1, "kept"), entry] == heard
    assert 1 == len(journal)
    assert ["ZeroDivisionError", "IndexError"] == [each.split(": ")[1] for each in journal.problems]
    assert 2 == len([each for each in caplog.records if each.levelno == logging.ERROR])


def test_a_snapshot_is_due_by_the_policy(journal: Journal, watch: Watch) -> None:
    """By steps or seconds since the last entry; forced means forced."""
    journal.policy = JournalPolicy(due=Due(every_steps=3, every_seconds=60))
    assert journal.should_save()
    journal.save(step=1)
    assert ("", "") == (journal.should_save(), journal.should_save(3))
    assert journal.should_save(4)
    assert journal.should_save(1, force=True)
    watch.move(60)
    assert journal.should_save(2)


def test_ids_that_repeat_are_asked_for_again(tmp_path: Path, watch: Watch) -> None:
    """An id that is taken is not used again; one that is none is refused."""
    made = iter(["0" * 24, "0" * 24, "0" * 24, "1" * 24, "bad"])
    journal = Journals(tmp_path / "j", tmp_path / "n", "s", clock=watch, make_id=lambda: next(made)).journal("a")
    assert ["0" * 24, "1" * 24] == [journal.save().id, journal.save().id]
    with pytest.raises(InvalidInput, match="entry id"):
        journal.save()


def test_cleaning_up_keeps_what_the_policy_keeps(journal: Journal, reopen: Reopen) -> None:
    """A dry run tells the same and changes nothing; what stays has its state, bit for bit."""
    for number in range(10):
        journal.save({"n": number, "text": "x" * 100})
    kept = {each.id: journal.state_at(each) for each in journal.all()[-3:]}
    before = journal.path.read_bytes()
    told = journal.cleanup(dry_run=True)
    assert (7, 3, 0, True) == (len(told["removed"]), told["kept"], told["bytes_freed"], told["dry_run"])
    assert before == journal.path.read_bytes()
    done = journal.cleanup()
    assert (told["removed"], told["reasons"]) == (done["removed"], done["reasons"])
    assert len(before) - journal.path.stat().st_size == done["bytes_freed"] > 0
    fresh = reopen().journal("writer")
    assert kept == {each.id: fresh.state_at(each) for each in fresh}
    assert [8, 9, 10] == [each.number for each in fresh]
    assert [] == fresh.verify() == journal.verify()
    assert 11 == journal.save().number
    assert [] == fresh.cleanup(Retention(routine=None))["removed"]


def test_clearing_keeps_the_state_to_work_on(journal: Journal, reopen: Reopen) -> None:
    """All entries, or all of one kind, go; the state stays, and the next save holds all of it."""
    _saved(journal, "one", "two")
    journal.save(kind="recovery")
    assert (1, 0, 2) == (journal.clear("recovery"), journal.clear("recovery"), len(journal))
    assert (2, 0) == (journal.clear(), journal.clear())
    assert ([], 0) == (journal.verify(), len(reopen().journal("writer")))
    entry = journal.save()
    assert ["one", "two"] == [each["content"] for each in reopen().journal("writer").state_at(entry)["messages"]]
    with pytest.raises(InvalidInput, match="kind"):
        journal.clear("x")


def test_a_writer_goes_on_after_another_cleaned_up(journal: Journal, reopen: Reopen) -> None:
    """If the entry that a state goes on from was removed, the whole state is written."""
    _saved(journal, "one")
    reopen().journal("writer").clear()
    journal.state.add_message("user", "two")
    entry = journal.save()
    assert ["one", "two"] == [each["content"] for each in reopen().journal("writer").state_at(entry)["messages"]]


def test_a_state_that_is_rewritten_again_and_again_stays_quick_to_read(journal: Journal) -> None:
    """When there is much more to read than the state is long, it is written whole."""
    for number in range(40):
        journal.save({"text": f"{number}" * 1000})
    assert journal._log.state_at(journal.all()[-1].id)[1] < 25_000
    assert {"text": "7" * 1000} == journal.state_at(journal.all()[7])


def test_a_summary_tells_what_there_is(journal: Journal, watch: Watch) -> None:
    """Counts, names, first, last, time, size and what saving only changes has saved."""
    first = journal.save({"text": "x" * 2000}, name="a")
    watch.move(5)
    for name in ("a", "b", ""):
        journal.save(name=name)
    journal.rollback_to(first)
    found = journal.summary()
    assert (5, 2, {"a": 3, "b": 1}) == (found["total_count"], found["unique_names"], found["names"])
    assert ({"routine": 4, "recovery": 1}, 5.0) == (found["kinds"], found["duration_seconds"])
    assert first.record() == found["first"]
    assert (first.id, journal.path.stat().st_size) == (journal.all()[0].id, found["size_bytes"])
    assert abs(5 * 2012 - found["whole_bytes"]) < 50
    assert 0.6 < found["savings"] < 0.9


def test_a_journal_under_another_name_is_refused_each_time(journal: Journal, journals: Journals) -> None:
    """A copy under another agent's name is not taken for that agent's, not even the second time, nor written to."""
    _saved(journal, "one")
    copied = journal.path.with_name("other.md")
    copied.write_bytes(journal.path.read_bytes())
    other = journals.journal("other")
    for call in (other.all, other.all, other.save, other.save, other.resume):
        with pytest.raises(DamagedJournal, match="journal of writer"):
            call()
    assert 1 == len(other.verify())
    assert journal.path.read_bytes() == copied.read_bytes()


def test_another_format_is_refused(journal: Journal, reopen: Reopen) -> None:
    """A journal of a newer version is neither read nor put aside."""
    from haytham.documents import journal_text

    _saved(journal, "one")
    first = journal_text.header_text(journal._log.header)[:-37].replace(b"journal 1", b"journal 2").decode()
    newer = journal_text._signed(b"", first) + b"\nwhatever it holds\n"
    journal.path.write_bytes(newer)
    for call in (reopen().journal("writer").all, reopen().journal("writer").save):
        with pytest.raises(DamagedJournal, match="format version 2"):
            call()
    assert newer == journal.path.read_bytes()


def test_a_repaired_journal_goes_on(journal: Journal, reopen: Reopen) -> None:
    """Damage is refused until it is repaired; then the whole entries are there, and the rest lies beside."""
    _saved(journal, "one", "two", "three")
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole.replace(b"> two", b"> TWO"))
    fresh = reopen().journal("writer")
    with pytest.raises(DamagedJournal, match="not what was written"):
        fresh.save({"a": 1})
    assert whole.replace(b"> two", b"> TWO") == journal.path.read_bytes()
    aside = fresh.repair()
    assert aside is not None
    assert b"> TWO" in aside.read_bytes()
    assert (["one"], []) == ([each.name for each in fresh], fresh.verify())
    assert fresh.repair() is None
    fresh.state.add_message("user", "again")
    assert ["one", "again"] == [each["content"] for each in fresh.state_at(fresh.save())["messages"]]
    assert [] == fresh.verify()


def test_changes_that_do_not_fit_are_damage(journal: Journal, reopen: Reopen) -> None:
    """An entry that is whole but does not fit the state before it is named with its line."""
    from haytham.documents.journal_text import Written
    from haytham.domain.state_changes import Change, Verb

    entry = journal.save({"a": 1})
    with journal._log.changing():
        forged = Entry(id="e" * 24, number=2, agent="writer", timestamp=entry.timestamp, step=2, parent=entry.id)
        change = Change(Verb.DROP, ("nowhere",), None)
        journal._log.append(Written(entry=forged, previous=entry.id, changes=[change]))
    found = reopen().journal("writer").verify()
    assert 1 == len(found)
    assert "do not fit" in found[0]
    assert "line" in found[0]


def test_a_clock_that_goes_back_changes_no_order(journal: Journal, watch: Watch) -> None:
    """The order is that of the saves, whatever the clock says."""
    first = journal.save()
    watch.now -= timedelta(days=1)
    second = journal.save()
    assert [first, second] == journal.all()
    assert second == journal.latest()
    assert [] == journal.verify()
    assert -86400.0 == journal.summary()["duration_seconds"]


def test_a_closed_journal_can_be_used(journal: Journal) -> None:
    """Closing lets go of the file only."""
    journal.save({"a": 1})
    journal.close()
    journal.save({"a": 2})
    assert 2 == len(journal)


def test_what_is_said_about_an_entry_cannot_be_changed(journal: Journal, reopen: Reopen) -> None:
    """Nobody who holds an entry can make the journal say something else about it; plain data is the holder's own."""
    entry = journal.save(metadata={"a": {"b": [1]}})
    for each in (entry, journal.all()[0], reopen().journal("writer").all()[0]):
        with pytest.raises(TypeError):
            each.metadata["a"] = 2  # type: ignore[index]
        with pytest.raises(TypeError):
            each.metadata["a"]["b"] = 2
        with pytest.raises(AttributeError):
            each.metadata["a"]["b"].append(2)
        each.record()["metadata"]["a"]["b"].append(2)
        assert {"a": {"b": [1]}} == each.record()["metadata"]
    assert entry == reopen().journal("writer").all()[0]


def test_callbacks_are_told_of_a_rollback(journal: Journal) -> None:
    """Going back is a save: before it the callbacks get the state that comes back, after it the entry."""
    first, _ = _saved(journal, "one", "two")
    told: list[object] = []
    journal.before_save(lambda state, note: told.append((len(state["messages"]), note.kind, note.reason)))
    journal.after_save(told.append)
    journal.after_save(lambda _: 1 / 0)
    back = journal.rollback_to(first, reason="why")
    assert [(1, "recovery", "why"), back] == told
    assert "ZeroDivisionError" in journal.problems[0]


def test_the_state_is_there_while_it_is_saved(journal: Journal) -> None:
    """A thread that looks at the state does not wait for one that saves it, nor sees a rollback before it is saved."""
    first, _ = _saved(journal, "one", "two")
    begun, go_on = threading.Event(), threading.Event()

    def hold(*_: object) -> None:
        begun.set()
        assert go_on.wait(10)

    journal.before_save(hold)
    for call in (journal.save, lambda: journal.rollback_to(first)):
        thread = threading.Thread(target=call)
        thread.start()
        assert begun.wait(10)
        with ThreadPoolExecutor(1) as pool:
            assert 2 == len(pool.submit(lambda: journal.state).result(5)["messages"])
        go_on.set()
        thread.join()
        begun.clear()
        go_on.clear()
    assert 1 == len(journal.state["messages"])


def test_every_state_is_verified(journal: Journal, reopen: Reopen) -> None:
    """An entry that is whole by its hash, but whose change does not fit, is found wherever it stands."""
    _saved(journal, "one")
    last = journal.all()[-1]
    bad = Entry(id="a" * 24, number=2, agent="writer", timestamp=last.timestamp, step=2, parent=last.id)
    good = replace(bad, id="b" * 24, number=3, step=3, parent=None)
    text = journal.path.read_bytes()
    text += entry_text(Written(entry=bad, previous=last.id, changes=[Change(Verb.DROP, ("no",), None)]), text[-37:-5])
    whole = [Change(Verb.CLEAR, (), None), Change(Verb.PUT, ("a",), 1)]
    line = journal.path.read_bytes().count(b"\n") + 1
    text += entry_text(Written(entry=good, previous=bad.id, changes=whole), text[-37:-5])
    journal.path.write_bytes(text)
    (found,) = reopen().journal("writer").verify()
    assert "do not fit" in found
    assert f", line {line}" in found


def test_a_last_entry_that_nobody_noted_is_damaged_or_torn(journal: Journal, reopen: Reopen, tmp_path: Path) -> None:
    """In a clone nobody can tell a flipped byte of the last entry from one that was never written; both are told."""
    _saved(journal, "one", "two")
    data = journal.path.read_bytes()
    start = data.index(b"\n## 2")
    line = data.count(b"\n", 0, start) + 1
    (tmp_path / "notes" / "writer.md").unlink()
    for place in range(start, len(data)):
        journal.path.write_bytes(data[:place] + bytes([data[place] ^ 0x01]) + data[place + 1 :])
        (found,) = reopen().journal("writer").verify()
        assert "the last entry is damaged or torn" in found
        assert f", line {line}" in found
