import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from haytham.domain import drift
from haytham.domain.drift import CycleCount, RepeatedActions
from haytham.domain.drift_monitor import DriftMonitor
from haytham.domain.due import Due
from haytham.domain.errors import Halted, InvalidInput
from haytham.domain.retention import DEFAULT, verdicts
from haytham.journal.guard import Guard
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.journal.conftest import Watch

START = datetime(2026, 3, 1, tzinfo=UTC)
EACH_STEP = Due(every_steps=1)
NEVER = Due(every_seconds=None, refresh_seconds=None)
LOOPS = "read with the same arguments 5 times in a row, 5 are a loop."


def _guard(journal: Journal, watch: Watch, **more: Any) -> Guard:
    return Guard(journal, clock=watch, **more)


def _told(journal: Journal) -> list[tuple[str, str, str]]:
    return [(each.kind.value, each.status.value, each.reason) for each in journal]


def test_first_step_is_saved(journal: Journal, watch: Watch) -> None:
    """While there is nothing to resume from, the first step is saved."""
    guard = _guard(journal, watch)
    assert (len(journal), guard.steps) == (0, 0)
    entry = guard.step("read")
    assert entry is not None
    assert (entry.step, entry.kind.value, len(journal)) == (1, "routine", 1)


def test_routine_snapshot_every_half_hour(journal: Journal, watch: Watch) -> None:
    """By default a snapshot is taken after 1,800 seconds, and holds the state of that moment."""
    guard = _guard(journal, watch)
    guard.step("read", 0)
    watch.move(1799)
    assert guard.step("read", 1) is None
    watch.move(1)
    journal.state["note"] = "half an hour"
    entry = guard.step("read", 2)
    assert entry is not None
    assert (entry.step, journal.state_at(entry)) == (3, {"note": "half an hour"})


def test_routine_snapshot_every_so_many_steps(journal: Journal, watch: Watch) -> None:
    """With `every_steps` the first and then each third step is saved."""
    guard = _guard(journal, watch, due=Due(every_steps=3))
    saved = [guard.step("read", number) is not None for number in range(8)]
    assert saved == [True, False, False, True, False, False, True, False]
    assert [each.step for each in journal] == [1, 4, 7]


def test_forced_means_forced(journal: Journal, watch: Watch) -> None:
    """A forced step is saved right after another, with every rule switched off."""
    guard = _guard(journal, watch, due=NEVER)
    guard.step("read", 0)
    assert guard.step("read", 1) is None
    entry = guard.step("read", 2, force=True, name="by hand")
    assert entry is not None
    assert (entry.step, entry.name) == (3, "by hand")


def test_policy_of_the_workflow(journal: Journal, watch: Watch) -> None:
    """Without `due` the journal's own policy holds, and a save by hand counts as a snapshot."""
    guard = _guard(journal, watch)
    assert guard.due == journal.policy.due
    guard.step("read", 0)
    watch.move(1800)
    journal.save(name="by hand")
    assert guard.step("read", 1) is None


def test_steps_go_on_after_a_restart(journal: Journal, watch: Watch, reopen: Callable[[], Journals]) -> None:
    """Another process goes on with the next step."""
    guard = _guard(journal, watch, due=EACH_STEP)
    for number in range(3):
        guard.step("read", number)
    again = _guard(reopen().journal("writer"), watch, due=EACH_STEP)
    assert again.steps == 3
    entry = again.step("read", 3)
    assert entry is not None
    assert entry.step == 4


def test_loop_that_ends_is_completed(journal: Journal, watch: Watch) -> None:
    """Leaving the block in peace saves the state as completed."""
    with _guard(journal, watch) as guard:
        guard.step("read")
        journal.state["done"] = True
    assert _told(journal)[-1] == ("routine", "completed", "")
    assert journal.state_at(journal.all()[-1]) == {"done": True}


def test_exception_is_saved_and_goes_on(journal: Journal, watch: Watch, reopen: Callable[[], Journals]) -> None:
    """An exception saves a recovery with its reason and the state of that moment, then goes on."""
    error = RuntimeError("the model hung up \udcff")
    with pytest.raises(RuntimeError) as caught, _guard(journal, watch) as guard:  # noqa: PT012
        guard.step("read")
        journal.state["half"] = "done"
        raise error
    assert caught.value is error
    assert _told(journal)[-1] == ("recovery", "failed", "RuntimeError: the model hung up \\udcff")
    assert reopen().journal("writer").state.to_dict() == {"half": "done"}


def test_interruption_leaves_a_resumable_state(journal: Journal, watch: Watch, reopen: Callable[[], Journals]) -> None:
    """Ctrl-C saves the state as halted, with the reason, and goes on."""
    with pytest.raises(KeyboardInterrupt), _guard(journal, watch) as guard:  # noqa: PT012
        guard.step("read")
        journal.state["half"] = "done"
        raise KeyboardInterrupt
    assert _told(journal)[-1] == ("recovery", "halted", "KeyboardInterrupt")
    assert reopen().journal("writer").state.to_dict() == {"half": "done"}


def test_ctrl_c_in_a_real_process(tmp_path: Path, reopen: Callable[[], Journals]) -> None:
    """A process at work that gets SIGINT ends, and another goes on from its last state."""
    program = f"""
        import itertools, time
        from pathlib import Path
        from haytham.journal.guard import Guard
        from haytham.journal.journals import Journals

        folder = Path({str(tmp_path)!r})
        journal = Journals(folder / "journal", folder / "notes", "s-1").journal("writer")
        with Guard(journal) as guard:
            for number in itertools.count():
                journal.state["number"] = number
                guard.step("work", number, progress=number)
                print(number, flush=True)
                time.sleep(0.01)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        seen = [int(process.stdout.readline()) for _ in range(5)]
        os.kill(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    last = [*seen, *map(int, out.split())][-1]
    journal = reopen().journal("writer")
    assert _told(journal)[-1] == ("recovery", "halted", "KeyboardInterrupt")
    assert journal.state["number"] in {last, last + 1}
    assert process.returncode == -signal.SIGINT


def test_loop_detector_halts(journal: Journal, watch: Watch, reopen: Callable[[], Journals]) -> None:
    """The fifth equal call in a row halts the agent: the state is saved as halted, once, with the reason."""
    with pytest.raises(Halted, match="agent writer was halted: read with the same arguments 5 times") as caught:  # noqa: PT012,SIM117
        with _guard(journal, watch) as guard:
            for number in range(9):
                journal.state["number"] = number
                guard.step("read", {"path": "a.md"})
    assert caught.value.hint == "its state is saved; resume() goes on from there."
    assert _told(journal) == [("routine", "in_progress", ""), ("recovery", "halted", LOOPS)]
    assert reopen().journal("writer").state.to_dict() == {"number": 4}


def test_detector_of_ones_own_halts(journal: Journal, watch: Watch) -> None:
    """The guard takes whichever monitor it is given."""
    monitor = DriftMonitor(START, [RepeatedActions(times=2)])
    guard = _guard(journal, watch, drift=monitor)
    guard.step("read")
    with pytest.raises(Halted, match="2 times in a row"):
        guard.step("read")


def test_halt_by_the_loop_itself(journal: Journal, watch: Watch) -> None:
    """A loop can stop by itself and say why."""
    with pytest.raises(Halted), _guard(journal, watch) as guard:
        guard.halt("waiting for the review of phase 2")
    assert _told(journal) == [("recovery", "halted", "waiting for the review of phase 2")]


def test_bad_step_changes_nothing(journal: Journal, watch: Watch) -> None:
    """Arguments that are no JSON data are refused before anything is counted or saved."""
    guard = _guard(journal, watch)
    with pytest.raises(InvalidInput, match="arguments is a object"):
        guard.step("read", object())
    assert (guard.steps, len(journal)) == (0, 0)


def test_operation_that_succeeds(journal: Journal, watch: Watch) -> None:
    """A snapshot before, a mark after; the mark frees the snapshot for retention."""
    guard = _guard(journal, watch)
    with guard.operation("deploy") as operation:
        assert [(each.kind.value, each.name) for each in journal] == [("pre_operation", "deploy")]
        journal.state["deployed"] = True
    before, after = journal.all()
    assert operation.before == before
    assert (after.succeeded, after.metadata) == (before.id, {"operation": "deploy"})
    assert [journal.state_at(before), journal.state_at(after)] == [{}, {"deployed": True}]
    assert [each.stays for each in verdicts(journal.all(), DEFAULT, START)] == [False, True]


def test_operation_that_fails_is_rolled_back_if_asked(
    journal: Journal, watch: Watch, reopen: Callable[[], Journals]
) -> None:
    """What the operation left is saved with the reason; then the state from before it is back."""
    guard = _guard(journal, watch)
    journal.state["version"] = 1
    with pytest.raises(OSError, match="no route"), guard.operation("deploy", rollback=True):  # noqa: PT012
        journal.state["version"] = 2
        raise OSError("no route")
    assert _told(journal) == [
        ("pre_operation", "in_progress", ""),
        ("recovery", "in_progress", "OSError: no route"),
        ("recovery", "in_progress", "deploy failed: OSError: no route"),
    ]
    assert [journal.state_at(each)["version"] for each in journal] == [1, 2, 1]
    assert journal.state.to_dict() == reopen().journal("writer").state.to_dict() == {"version": 1}


def test_operation_that_fails_is_left_if_not_asked(journal: Journal, watch: Watch) -> None:
    """Without `rollback` the state stays as the operation left it, and is saved with the reason."""
    guard = _guard(journal, watch)
    with pytest.raises(OSError, match="no route"), guard.operation("deploy"):  # noqa: PT012
        journal.state["version"] = 2
        raise OSError("no route")
    assert _told(journal)[1:] == [("recovery", "in_progress", "OSError: no route")]
    assert journal.state.to_dict() == {"version": 2}
    assert [each.stays for each in verdicts(journal.all(), DEFAULT, START)] == [True, True]


def test_loop_goes_on_after_a_failed_operation(journal: Journal, watch: Watch) -> None:
    """A loop that catches the failure tries again from the state before it."""
    with _guard(journal, watch, due=EACH_STEP) as guard:
        for attempt in range(3):
            try:
                with guard.operation("deploy", rollback=True):
                    journal.state.append("tries", attempt)
                    if attempt < 2:
                        raise OSError("busy")  # noqa: TRY301
            except OSError:
                guard.step("deploy", attempt, ok=False)
    assert journal.state.to_dict() == {"tries": [2]}
    assert _told(journal)[-1] == ("routine", "completed", "")


def test_halt_inside_an_operation_stays_a_halt(journal: Journal, watch: Watch) -> None:
    """A loop detected inside an operation that is rolled back ends as halted, with the state from before it."""
    journal.state["version"] = 1
    with pytest.raises(Halted), _guard(journal, watch) as guard, guard.operation("deploy", rollback=True):  # noqa: PT012
        journal.state["version"] = 2
        guard.halt("enough")
    assert _told(journal)[-1][:2] == ("recovery", "halted")
    assert "enough" in _told(journal)[-1][2]
    assert journal.state.to_dict() == {"version": 1}


def test_refresh_after_two_hours(journal: Journal, watch: Watch) -> None:
    """After 7,200 seconds a refresh is due: a recovery, and a fresh state from it; then the time starts anew."""
    guard = _guard(journal, watch)
    guard.step("read")
    watch.move(7199)
    assert guard.refresh_due == ""
    watch.move(1)
    reason = "7200 seconds since the start, at most 7200 are wanted"
    assert reason == guard.refresh_due
    journal.state["note"] = "kept"
    before = journal.state
    entry = guard.refresh()
    assert (entry.kind.value, entry.reason) == ("recovery", reason)
    assert journal.state is not before
    assert (journal.state.to_dict(), guard.refresh_due) == ({"note": "kept"}, "")


def test_refresh_after_too_many_cycles(journal: Journal, watch: Watch) -> None:
    """What a fresh context helps against does not halt: a refresh is due, and the count starts anew."""
    guard = _guard(journal, watch, drift=DriftMonitor(START, [CycleCount(above=3)]))
    for number in range(4):
        guard.step("read", number)
    assert guard.refresh_due == "4 cycles since the start, more than 3."
    assert guard.refresh().reason == "4 cycles since the start, more than 3."
    assert guard.refresh_due == ""
    assert guard.steps == 4


def test_refresh_by_hand(journal: Journal, watch: Watch) -> None:
    """A refresh that is not due can be asked for."""
    assert _guard(journal, watch).refresh().reason == "a refresh was asked for"


def test_trouble_with_saving_does_not_hide_the_error(journal: Journal, watch: Watch) -> None:
    """If the last state cannot be saved either, the error that went before goes on, with a note."""
    with pytest.raises(RuntimeError, match="first") as caught, _guard(journal, watch) as guard:  # noqa: PT012
        guard.step("read")
        journal.path.write_bytes(b"x" + journal.path.read_bytes())
        raise RuntimeError("first")
    assert caught.value.__notes__[0].startswith("The state could not be saved: ")


def test_async(journal: Journal, watch: Watch) -> None:
    """The same with `async with`: steps, operations, refreshes, completion."""

    async def work() -> None:
        async with _guard(journal, watch, due=EACH_STEP) as guard:
            await guard.step_async("read", 1)
            async with guard.operation("deploy"):
                journal.state["deployed"] = True
            await guard.refresh_async()

    asyncio.run(work())
    assert [(each.kind.value, each.status.value) for each in journal] == [
        ("routine", "in_progress"),
        ("pre_operation", "in_progress"),
        ("routine", "in_progress"),
        ("recovery", "in_progress"),
        ("routine", "completed"),
    ]


def test_cancelled_task_leaves_a_resumable_state(
    journal: Journal, watch: Watch, reopen: Callable[[], Journals]
) -> None:
    """A cancelled task saves its state as halted before the cancellation goes on."""

    async def work(begun: asyncio.Event) -> None:
        async with _guard(journal, watch) as guard:
            await guard.step_async("read")
            journal.state["half"] = "done"
            begun.set()
            await asyncio.Event().wait()

    async def main() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(work(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert _told(journal)[-1] == ("recovery", "halted", "CancelledError")
    assert reopen().journal("writer").state.to_dict() == {"half": "done"}


def test_default_detectors_watch(journal: Journal, watch: Watch) -> None:
    """Without a monitor of its own a guard uses the default detectors."""
    guard = _guard(journal, watch)
    for number in range(19):
        guard.step("call", number, ok=number % 2 == 0 and number < 18)
    with pytest.raises(Halted, match="11 of the last 20 cycles failed, more than 50%"):
        guard.step("call", 19, ok=False)
    assert len(drift.DEFAULT) == 5


def test_step_is_a_success_unless_told_otherwise(journal: Journal, watch: Watch) -> None:
    """Who says nothing about errors has none."""
    guard = _guard(journal, watch)
    for number in range(25):
        guard.step("call", number)
    assert not guard.drift.report(watch()).is_drifting
    asyncio.run(guard.step_async("call", 25))
    assert [each.ok for each in guard.drift.history(watch()).recent] == [True] * 26


def test_trouble_with_saving_a_failed_operation_does_not_hide_the_failure(journal: Journal, watch: Watch) -> None:
    """If what an operation left cannot be saved, its own error goes on, with a note."""
    guard = _guard(journal, watch)
    with pytest.raises(RuntimeError, match="first") as caught, guard.operation("deploy"):  # noqa: PT012
        journal.path.write_bytes(b"x" + journal.path.read_bytes())
        raise RuntimeError("first")
    assert caught.value.__notes__[0].startswith("The state could not be saved: ")
