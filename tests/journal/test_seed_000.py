"""The API of the first seed document, call by call, then its hazards, then what it left for later."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from haytham import CheckpointManager
from haytham.domain.drift_monitor import DriftMonitor
from haytham.domain.errors import NotFound
from haytham.journal.guard import Guard
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals, consistent_point, recover_to
from tests.journal.conftest import Watch

STATE: dict[str, Any] = {
    "current_task": {"id": "T-1", "status": "running", "progress_percentage": 40, "context": {"file": "a.md"}},
    "mailbox": {"last_processed_id": "m-9", "pending_count": 2},
    "operational_context": {"goals": ["ship"], "constraints": ["no downtime"], "decisions": ["use git"]},
    "memory": {"short_term": ["a thought"], "session": {"user": "ana"}},
}


@pytest.mark.parametrize("kind", ["routine", "pre_operation", "recovery"])
def test_create_checkpoint(journal: Journal, kind: str) -> None:
    """Each of the three types keeps the four parts of the state."""
    entry = journal.save(STATE, kind=kind)
    assert (entry.kind, journal.state_at(entry)) == (kind, STATE)


def test_restore_checkpoint(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """An agent gets back what it was, here and in another process."""
    entry = journal.save(STATE)
    journal.save({"current_task": {"id": "T-2"}})
    journal.rollback_to(entry)
    assert journal.state.to_dict() == reopen().journal("writer").state.to_dict() == STATE


def test_get_latest_checkpoint(journal: Journal) -> None:
    """The newest of all, and the newest of each type."""
    assert journal.latest() is None
    routine, before, recovery = (journal.save(kind=kind) for kind in ("routine", "pre_operation", "recovery"))
    assert [journal.latest(kind=each.kind) for each in (routine, before)] == [routine, before]
    assert journal.latest() == recovery


def test_retention(journal: Journal, watch: Watch) -> None:
    """Three routine ones, those before an operation that has not succeeded, and seven days of recoveries stay."""
    before, after = journal.save(kind="pre_operation"), journal.save(kind="recovery")
    routine = [journal.save() for _ in range(5)]
    watch.move(7 * 86_400)
    assert [each["id"] for each in journal.cleanup()["removed"]] == [each.id for each in routine[:2]]
    watch.move(1)
    newest = journal.save(succeeded=before)
    assert [each["id"] for each in journal.cleanup()["removed"]] == [before.id, after.id, routine[2].id]
    assert journal.all() == [*routine[3:], newest]


def test_detect_drift(watch: Watch) -> None:
    """More than 300 cycles are drift."""
    monitor = DriftMonitor(watch())
    for number in range(301):
        assert not monitor.report(watch()).is_drifting
        monitor.observe("work", number, time=watch())
    assert str(monitor.report(watch())) == "301 cycles since the start, more than 300."


def test_integrate_with_agent_loop(journal: Journal, watch: Watch) -> None:
    """A routine snapshot each 1,800 seconds, a refresh at 7,200, a recovery on an error."""
    with pytest.raises(RuntimeError), Guard(journal, clock=watch) as guard:  # noqa: PT012
        for number in range(13):
            guard.step("work", number)
            if guard.refresh_due:
                guard.refresh()
            watch.move(600)
        raise RuntimeError("boom")
    assert [(each.step, each.kind.value, each.reason[:4]) for each in journal] == [
        (1, "routine", ""),
        (4, "routine", ""),
        (7, "routine", ""),
        (10, "routine", ""),
        (13, "routine", ""),
        (13, "recovery", "7200"),
        (13, "recovery", "Runt"),
    ]


def test_hazard_file_names_of_one_second_overwrite_each_other(journal: Journal) -> None:
    """With a clock that stands still, a hundred saves are a hundred entries with ids of their own."""
    made = [journal.save({"number": number}) for number in range(100)]
    assert len({each.id for each in made}) == len(journal) == 100
    assert [journal.state_at(each)["number"] for each in made] == list(range(100))


def test_hazard_agent_1_matches_agent_10(journals: Journals) -> None:
    """Names are compared whole: agent-1 neither sees nor clears what agent-10 saved."""
    one, ten = journals.journal("agent-1"), journals.journal("agent-10")
    saved = ten.save({"whose": "ten"})
    assert (one.latest(), len(one), journals.latest(agent="agent-1")) == (None, 0, None)
    one.save({"whose": "one"})
    assert one.clear() == 1
    assert ten.all() == [saved]


def test_hazard_any_error_on_restore_became_false(journal: Journal) -> None:
    """A state that cannot be restored is an error that says which, and leaves the present one alone."""
    journal.save(STATE)
    with pytest.raises(NotFound, match=f"the journal of writer has no entry {'0' * 24}"):
        journal.rollback_to("0" * 24)
    assert (journal.state.to_dict(), len(journal)) == (STATE, 1)


def test_future_differential_storage(journal: Journal) -> None:
    """A step costs what changed in it: the hundredth no more than the first few."""
    sizes = [0]
    for number in range(100):
        journal.state.add_message("assistant", f"{number:03} {'x' * 500}")
        journal.save()
        sizes.append(journal.path.stat().st_size)
    costs = [after - before for before, after in pairwise(sizes[1:])]
    assert max(costs) < 1.1 * min(costs)


def test_future_recovery_across_agents(journals: Journals, watch: Watch) -> None:
    """Several agents go back to one point that all of them had reached."""
    reader, writer = journals.journal("reader"), journals.journal("writer")
    for number in range(3):
        for each in (reader, writer):
            each.save({"number": number})
        watch.move(60)
    writer.save({"number": 99})
    point = consistent_point([reader, writer])
    recover_to([reader, writer], point)
    assert [each.state["number"] for each in (reader, writer)] == [2, 2]


def test_future_recovery_on_another_machine(
    journal: Journal, tmp_path_factory: pytest.TempPathFactory, watch: Watch
) -> None:
    """An export is all that another machine needs."""
    entry = journal.save(STATE)
    there = tmp_path_factory.mktemp("there")
    other = Journals(there / "journal", there / "notes", "s-9", clock=watch).journal("writer")
    assert other.import_entries(journal.export()) == 1
    assert (other.state_at(entry.id), other.state.to_dict()) == (STATE, STATE)


def test_future_integrity_checks(journal: Journal) -> None:
    """A changed byte is found."""
    journal.save(STATE)
    assert journal.verify() == []
    text = journal.path.read_bytes()
    journal.path.write_bytes(text.replace(b"no downtime", b"mo downtime"))
    assert len(journal.verify()) == 1


def test_current_task_by_path(journal: Journal) -> None:
    """One figure of a part can be changed alone."""
    journal.save(STATE)
    journal.state["current_task", "progress_percentage"] = 50
    journal.save()
    assert journal.state["current_task", "progress_percentage"] == 50
    assert journal.state["mailbox", "pending_count"] == 2


def test_checkpoint_directory(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The files stand in the folder of their phase, one for each agent."""
    base = tmp_path_factory.mktemp("base")
    manager = CheckpointManager(base)
    folder = manager.create_session("p", "s", "ana")
    manager.journal("p", "s", 1, "concept_expansion").save(STATE)
    assert [path.name for path in (folder / "phase_1_concept" / "journal").iterdir()] == ["concept_expansion.md"]
