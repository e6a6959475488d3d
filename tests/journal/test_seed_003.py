"""The API of the fourth seed document, call by call, then its hazards."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haytham.domain.due import Due
from haytham.domain.errors import InvalidInput
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journal_async import AsyncJournal
from haytham.journal.journals import Journals
from tests.journal.conftest import Watch

POLICY = JournalPolicy(due=Due(every_steps=5, every_seconds=60), retention=Retention(limit=20))


@pytest.fixture
def managed(tmp_path: Path, watch: Watch) -> Journal:
    """A journal with a policy of its own: every 5 steps or 60 seconds, 20 entries."""
    return Journals(tmp_path / "journal", tmp_path / "notes", "s-1", clock=watch, policy=POLICY).journal("writer")


def test_state_manager(managed: Journal) -> None:
    """Frequency, interval and retention are one policy."""
    assert managed.policy == POLICY


def test_checkpoint_frequency(managed: Journal) -> None:
    """A snapshot is due after so many steps."""
    managed.save(step=10)
    assert managed.should_save(14) == ""
    assert managed.should_save(15) == "5 steps since the last one, at most 5 are wanted"


def test_checkpoint_interval(managed: Journal, watch: Watch) -> None:
    """A snapshot is due after so many seconds."""
    managed.save(step=10)
    watch.move(59)
    assert managed.should_save(10) == ""
    watch.move(1)
    assert managed.should_save(10) == "60 seconds since the last one, at most 60 are wanted"


def test_retention_count(managed: Journal) -> None:
    """More than so many do not stay; the oldest go."""
    made = [managed.save(name=f"n{number}") for number in range(25)]
    assert managed.cleanup()["kept"] == 20
    assert managed.all() == made[5:]


def test_should_checkpoint(managed: Journal) -> None:
    """While there is nothing to resume from, a snapshot is due."""
    assert managed.should_save(0) == "there is none yet"


def test_save_checkpoint(journal: Journal) -> None:
    """A saved state has an id of its own."""
    assert journal.save({"day": 1}).id != journal.save({"day": 1}).id


def test_load_checkpoint(journal: Journal) -> None:
    """Any state comes back by the id of its entry, as data that the caller may change."""
    made = [journal.save({"day": day}) for day in (1, 2, 3)]
    loaded = journal.state_at(made[1].id)
    loaded["day"] = 99
    assert journal.state_at(made[1].id) == {"day": 2}


def test_resume_from_latest(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """Another process goes on from the newest state."""
    journal.save({"day": 1})
    newest = journal.save({"day": 2})
    found = reopen().journal("writer")
    assert (found.resume(), found.state.to_dict()) == (newest, {"day": 2})


def test_fork_from_checkpoint(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """A branch begins with the state of any entry, and neither side sees what the other does."""
    second = [journal.save({"day": day}) for day in (1, 2)][-1]
    journal.save({"day": 3, "auth": "plain"})
    fork = journal.fork("experiment", second)
    assert fork.state.to_dict() == {"day": 2}
    fork.save({"day": 3, "auth": "other"})
    again = reopen()
    assert again.journal("writer").state["auth"] == "plain"
    assert again.journal("writer", "experiment").state["auth"] == "other"
    with pytest.raises(InvalidInput, match="there is a journal writer@experiment already"):
        journal.fork("experiment")


def test_list_checkpoints(journal: Journal) -> None:
    """All, with their ids and statuses."""
    made = [journal.save(), journal.save(status="completed")]
    assert [(each.id, each.status.value) for each in journal] == [
        (made[0].id, "in_progress"),
        (made[1].id, "completed"),
    ]


def test_cleanup_old_checkpoints(managed: Journal) -> None:
    """The dry run and the cleanup name the same entries."""
    for number in range(22):
        managed.save(name=f"n{number}")
    planned = managed.cleanup(dry_run=True)
    assert (len(planned["removed"]), len(managed)) == (2, 22)
    done = managed.cleanup()
    assert (done["removed"], len(managed)) == (planned["removed"], 20)


def test_checkpoint_tree(journal: Journal, journals: Journals) -> None:
    """Forks, and forks of forks, as a tree."""
    journal.save({"day": 1})
    journal.fork("a").fork("b")
    (root,) = journals.tree()
    (first,) = root["forks"]
    assert [root["title"], first["title"], first["forks"][0]["title"]] == ["writer", "writer@a", "writer@b"]
    assert first["forked_from"] == journal.all()[-1].id


def test_hooks(journal: Journal) -> None:
    """Callbacks before and after each save; before, the state can still be completed."""
    seen: list[Any] = []
    journal.before_save(lambda state, note: seen.append(("before", note.name, len(state))))
    journal.after_save(lambda entry: seen.append(("after", entry.name, entry.step)))
    journal.save({"day": 1}, name="day 1")
    assert seen == [("before", "day 1", 1), ("after", "day 1", 1)]


def test_budget(journal: Journal) -> None:
    """Tokens and cost add up, and are part of the state."""
    journal.state.spend(tokens=100, cost=0.25)
    journal.state.spend(tokens=20, cost=0.5)
    entry = journal.save()
    assert journal.state_at(entry) == {"budget": {"tokens": 120, "cost": 0.75}}


def test_compression(journal: Journal) -> None:
    """The summary tells what saving only changes has spared, by the real sizes."""
    for number in range(50):
        journal.state.add_message("user", f"{number} {'x' * 200}")
        journal.save()
    summary = journal.summary()
    assert summary["size_bytes"] == journal.path.stat().st_size
    assert summary["savings"] == 1 - summary["size_bytes"] / summary["whole_bytes"]
    assert summary["savings"] > 0.9


def test_async(journal: Journal) -> None:
    """The same calls can be awaited."""

    async def work() -> list[object]:
        twin = AsyncJournal(journal)
        entry = await twin.save({"day": 1})
        await twin.save({"day": 2})
        await twin.rollback_to(entry)
        return [await twin.state_at(entry), len(await twin.all()), (await twin.cleanup())["kept"]]

    assert asyncio.run(work()) == [{"day": 1}, 3, 3]


def test_hazard_force_does_nothing(managed: Journal) -> None:
    """Forced means forced: right after a save, a snapshot that is asked for is due."""
    managed.save(step=10)
    assert (managed.should_save(10), managed.should_save(10, force=True)) == ("", "it was asked for")


def test_hazard_compressed_files_cannot_be_loaded_back(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """Whatever is saved can be loaded: each state, after a restart, after retention, and through an export."""
    states: list[dict[str, Any]] = [
        {"n": n, "text": "é\x00\r\n| # x" * n, "list": [None, True, 1.5, -0.0]} for n in range(9)
    ]
    made = [journal.save(each, name=f"n{each['n']}") for each in states]
    assert [reopen().journal("writer").state_at(each.id) for each in made] == states
    journal.cleanup(Retention(limit=4))
    copy = journal.fork_into(reopen(), "copy")
    assert copy.state.to_dict() == states[-1]
    other = reopen().journal("writer", "other")
    other.import_entries(journal.export())
    assert [other.state_at(each.id) for each in made[-4:]] == states[-4:]


def test_hazard_a_fork_keeps_the_parents_agent_id(journal: Journal, journals: Journals) -> None:
    """A fork has a name of its own, so that the newest of one is never taken for the newest of the other."""
    journal.save({"day": 1})
    fork = journal.fork("experiment")
    newest = fork.save({"day": 2})
    assert [journal.title, fork.title] == ["writer", "writer@experiment"]
    assert journal.latest() != newest
    assert fork.clear() == 2
    assert [each.title for each in journals.all()] == ["writer", "writer@experiment"]
    assert len(journal) == 1
