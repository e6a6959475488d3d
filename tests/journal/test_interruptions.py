"""A save that is interrupted, or that changes come in between, leaves a journal that says what the agent did."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham.domain.failures import told
from haytham.journal.guard import Guard
from haytham.journal.journal import Journal
from haytham.journal.journal_async import AsyncJournal
from haytham.journal.journals import Journals, consistent_point, recover_to
from tests.faults import programs
from tests.trials import count

Reopen = Callable[[], Journals]


def test_ctrl_c_leaves_a_state_to_go_on_from(tmp_path: Path) -> None:
    """Interrupted anywhere, the journal is whole, no step is doubled, and none that was saved is missing."""
    ended = programs.run("tests.journal.interrupted_worker", str(tmp_path), str(count(smoke=60, release=300)))
    assert ("whole\n", 0) == (ended.stdout, ended.returncode), ended.stderr[-3000:]


def test_change_during_a_save_is_in_the_next_one(journal: Journal, reopen: Reopen) -> None:
    """What an agent adds while a save is under way is not lost: the next save has it."""

    async def play() -> int:
        state, keeper, added = journal.state, AsyncJournal(journal), 0
        for _ in range(30):
            saving = asyncio.create_task(keeper.save())
            for _ in range(20):
                state.append("done", added)
                added += 1
                await asyncio.sleep(0)
            assert len(journal) <= added
            await saving
        await keeper.save()
        return added

    added = asyncio.run(play())
    other = reopen().journal("writer")
    assert tuple(range(added)) == other.state["done"]
    assert len(other) == len(journal) == 31


def test_file_of_a_person_beside_the_journals(journal: Journal, journals: Journals, tmp_path: Path) -> None:
    """Notes that somebody puts into the folder are no journal, and hinder nobody."""
    journal.save({"a": 1})
    (tmp_path / "journal/my notes.md").write_text("mine")
    assert ["writer"] == journals.titles()
    assert 1 == journal.cleanup()["kept"]


def test_recovering_together_twice_drops_what_was_not_saved(journals: Journals) -> None:
    """To go back to a point again means to be there, whatever was changed since."""
    both = [journals.journal("writer"), journals.journal("critic")]
    for each in both:
        each.save({"v": 1})
    point = consistent_point(both)
    recover_to(both, point)
    both[1].state["v"] = 99
    recover_to(both, point)
    assert [1, 1] == [each.state["v"] for each in both]


def test_halt_that_was_caught_stays_a_halt(journal: Journal) -> None:
    """A loop that was halted is not completed because its block ends well."""
    with Guard(journal) as guard, pytest.raises(Exception, match="halted"):
        guard.halt("a loop")
    last = journal.latest()
    assert last is not None
    assert "halted" == last.status


def test_error_that_cannot_tell_itself() -> None:
    """An exception whose text cannot be had is told by its kind."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "MuteError" == told(MuteError())
