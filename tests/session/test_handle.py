import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, HaythamError, NotFound, Session, open_session
from haytham.domain.records import CheckpointRecord
from tests.evidence import PROJECT, SESSION, Clock, git, label, snapshot, subjects

AT = (PROJECT, SESSION)


@pytest.fixture
def session(manager: CheckpointManager, folder: Path) -> Session:
    """A fresh session, opened."""
    return Session(manager, *AT)


def _checkpoint(session: Session, number: int) -> CheckpointRecord:
    return session.manager.load_checkpoint(*AT, number)


def _statuses(session: Session, number: int) -> dict[str, str]:
    return {agent["agent_name"]: agent["status"] for agent in _checkpoint(session, number)["agents"]}


class BoomError(Exception):
    """What goes wrong in these tests."""


def _failing(session: Session, text: str, error: BaseException | type[BaseException]) -> None:
    with session.phase(1) as phase, phase.agent("a") as agent:
        agent.write(text)
        raise error


# The usual way


def test_phase_with_one_agent(session: Session, folder: Path) -> None:
    """A phase is started, timed, saved with its agent's output and figures, and committed once."""
    assert session.next_phase() == 1
    with session.phase(1) as phase:
        assert _checkpoint(session, 1)["status"] == "in_progress"
        with phase.agent("concept_expansion", model="m-1") as agent:
            agent.write("one ", input_tokens=10, output_tokens=1, cost=0.1, tools_used=["search"])
            agent.write("two", input_tokens=20, cost=0.2, tools_used=["search", "file"])
    record = _checkpoint(session, 1)
    assert (record["status"], record["execution_mode"], record["retry_count"]) == ("completed", "single", 0)
    assert (
        record["input_tokens"],
        record["output_tokens"],
        record["total_tokens"],
        record["cost"],
    ) == (30, 1, 31, 0.3)
    assert record["started"] < record["completed"]  # type: ignore[operator]  # both are known now
    assert record["duration"]
    assert session.outputs() == {1: {"concept_expansion": "one two"}}
    assert subjects(folder) == ["Session session-456 created", "Phase 1 Concept Expansion completed"]
    text = (folder / "phase_1_concept" / "concept_expansion.md").read_text(encoding="utf-8")
    assert "- Model: m-1\n" in text
    assert "- Tools Used: [search, file]\n" in text
    assert git(folder, "status", "--porcelain") == ""
    assert session.state()["next_phase"] == 2


def test_agents_one_after_the_other(session: Session) -> None:
    """Agents that do not overlap are told as a sequence."""
    with session.phase(2) as phase:
        for name in ("market_intelligence", "competitor_analysis"):
            with phase.agent(name) as agent:
                agent.write(name)
    assert _checkpoint(session, 2)["execution_mode"] == "sequential_interactive"
    assert _statuses(session, 2) == {"market_intelligence": "completed", "competitor_analysis": "completed"}


def test_agents_in_threads_at_the_same_time(session: Session) -> None:
    """Agents that overlap are told as parallel, and nothing of either is lost."""
    together = threading.Barrier(2, timeout=10)

    def work(phase: Any, name: str) -> None:
        with phase.agent(name) as agent:
            together.wait()
            agent.write(name * 100)

    with session.phase(2) as phase:
        threads = [threading.Thread(target=work, args=(phase, name)) for name in ("a1", "a2")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert _checkpoint(session, 2)["execution_mode"] == "parallel"
    assert session.outputs() == {2: {"a1": "a1" * 100, "a2": "a2" * 100}}


def test_mode_that_is_given_stands(session: Session) -> None:
    """Who knows better says so."""
    with session.phase(1, execution_mode="parallel") as phase, phase.agent("a") as agent:
        agent.write("x")
    assert _checkpoint(session, 1)["execution_mode"] == "parallel"


def test_phase_without_agents(session: Session) -> None:
    """A phase may be done by other means."""
    with session.phase(1):
        pass
    assert (_checkpoint(session, 1)["status"], _checkpoint(session, 1)["agents"]) == ("completed", [])


def test_whole_session(session: Session) -> None:
    """Going from phase to phase until there is none left completes the session."""
    visited = []
    while (number := session.next_phase()) is not None:
        visited.append(number)
        with session.phase(number) as phase, phase.agent("worker") as agent:
            agent.write(f"result {number}")
    assert visited == [1, 2, 3, 6, 7]
    assert session.state()["status"] == "completed"


def test_open_session(session: Session, base: Path) -> None:
    """A session that exists is opened by its ids; one that does not is not found."""
    assert open_session(*AT, base_dir=base).next_phase() == 1
    with pytest.raises(NotFound):
        open_session(PROJECT, "other", base)


# What goes wrong


def test_error_in_an_agent_is_saved_and_goes_on(session: Session, folder: Path) -> None:
    """What the agent had written is kept as failed, with the error; so is the phase; the error is raised."""
    with pytest.raises(BoomError, match="it broke"):
        _failing(session, "partial", BoomError("it broke"))
    record = _checkpoint(session, 1)
    assert (record["status"], record["errors"], _statuses(session, 1)) == (
        "failed",
        ["BoomError: it broke"],
        {"a": "failed"},
    )
    text = (folder / "phase_1_concept" / "a.md").read_text(encoding="utf-8")
    assert "- Error Type: BoomError\n- Error Message: it broke\n" in text
    assert "Traceback" in text
    assert session.outputs([1]) == {1: {"a": "partial"}}
    assert (session.state()["status"], session.next_phase()) == ("failed", 1)
    assert subjects(folder)[-1] == "Phase 1 Concept Expansion failed"


def test_error_in_a_phase_fails_the_phase_only(session: Session) -> None:
    """An agent that had ended well stays completed."""

    def run() -> None:
        with session.phase(1) as phase:
            with phase.agent("a") as agent:
                agent.write("fine")
            raise BoomError

    with pytest.raises(BoomError):
        run()
    assert (
        _checkpoint(session, 1)["status"],
        _checkpoint(session, 1)["errors"],
        _statuses(session, 1),
    ) == ("failed", ["BoomError"], {"a": "completed"})


def test_error_that_is_caught_fails_the_agent_only(session: Session) -> None:
    """An orchestrator that can do without an agent goes on."""
    with session.phase(2) as phase:
        with pytest.raises(BoomError), phase.agent("a"):
            raise BoomError("no luck")
        with phase.agent("b") as agent:
            agent.write("fine")
    assert _checkpoint(session, 2)["status"] == "completed"
    assert _statuses(session, 2) == {"a": "failed", "b": "completed"}


def test_agent_may_be_tried_again_in_its_phase(session: Session) -> None:
    """A second run of an agent that has ended stands for it."""
    with session.phase(1) as phase:
        with pytest.raises(BoomError), phase.agent("a"):
            raise BoomError
        with phase.agent("a") as agent:
            agent.write("second")
    assert _statuses(session, 1) == {"a": "completed"}
    assert session.outputs() == {1: {"a": "second"}}


def test_agent_cannot_run_twice_at_once(session: Session) -> None:
    """Two runs of one agent at the same time, or names that differ by case, are refused before they do harm."""
    with session.phase(1) as phase, phase.agent("a") as agent:
        for name in ("a", "A"):
            with pytest.raises(ValueError, match=f"agent {name} cannot run while a is"):
                phase.agent(name)
        agent.write("x")
    assert _statuses(session, 1) == {"a": "completed"}


def test_agent_that_wrote_nothing_fails(session: Session) -> None:
    """An empty result is an error, not an empty file."""
    ended = pytest.raises(ValueError, match="agent a ended without writing anything")
    with ended, session.phase(1) as phase, phase.agent("a"):
        pass
    assert (_checkpoint(session, 1)["status"], _statuses(session, 1)) == ("failed", {"a": "failed"})


def test_empty_text_is_a_result_if_it_was_written(session: Session) -> None:
    """Who writes nothing on purpose says so."""
    with session.phase(1) as phase, phase.agent("a") as agent:
        agent.write("")
    assert session.outputs() == {1: {"a": ""}}


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupt_is_saved_and_goes_on(session: Session, kind: type[BaseException]) -> None:
    """Ctrl-C in the middle leaves a failed phase with what there was, and still ends the program."""
    with pytest.raises(kind):
        _failing(session, "so far", kind)
    assert ("failed", [kind.__name__]) == (_checkpoint(session, 1)["status"], _checkpoint(session, 1)["errors"])
    assert session.outputs([1]) == {1: {"a": "so far"}}


def test_error_whose_text_is_no_utf8_is_not_hidden(session: Session) -> None:
    """An error stays the error it is, whatever its wording."""
    with pytest.raises(BoomError), session.phase(1) as phase, phase.agent("a"):
        raise BoomError("file \udcff is gone")
    assert _checkpoint(session, 1)["errors"] == ["BoomError: file \\udcff is gone"]


@pytest.mark.parametrize("name", ["", "../x", "checkpoint", "a/b", None, "\ud800"], ids=label)
def test_bad_agent_name_is_refused_at_once(session: Session, name: Any) -> None:
    """A name that cannot be used is refused before the agent runs, and the phase goes on."""
    with session.phase(1) as phase:
        with pytest.raises(ValueError, match="agent name"):
            phase.agent(name)
        with phase.agent("a") as agent:
            agent.write("x")
    assert _statuses(session, 1) == {"a": "completed"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": b"bytes"},
        {"text": None},
        {"text": "\ud800"},
        {"text": "x", "input_tokens": -1},
        {"text": "x", "output_tokens": 1.5},
        {"text": "x", "cost": float("nan")},
    ],
    ids=label,
)
def test_bad_write_is_refused_at_once(session: Session, arguments: dict[str, Any]) -> None:
    """What cannot be saved is refused where it is written, and counts nothing."""
    with session.phase(1) as phase, phase.agent("a") as agent:
        agent.write("fine", input_tokens=1)
        with pytest.raises(ValueError) as caught:
            agent.write(**arguments)
        assert isinstance(caught.value, HaythamError)
    assert session.outputs() == {1: {"a": "fine"}}
    assert (_checkpoint(session, 1)["input_tokens"], _checkpoint(session, 1)["output_tokens"]) == (1, None)


@pytest.mark.parametrize("number", [0, 4, 8, True, 1.0, "1", None], ids=label)
def test_bad_phase_is_refused_on_entry(session: Session, folder: Path, number: Any) -> None:
    """A phase that the session does not have never starts."""
    before = snapshot(folder)
    with pytest.raises(ValueError, match="phase number is"), session.phase(number):
        pytest.fail("the block must not run")
    assert before == snapshot(folder)


def test_attempts_are_counted(session: Session, folder: Path) -> None:
    """Running a phase that was sent back is the next attempt; running it again for another reason is not."""
    with session.phase(1) as phase, phase.agent("a") as agent:
        agent.write("first")
    assert _checkpoint(session, 1)["retry_count"] == 0
    with session.phase(1) as phase, phase.agent("a") as agent:
        agent.write("again")
    assert _checkpoint(session, 1)["retry_count"] == 0
    session.manager.save_checkpoint(*AT, 1, "requires_retry", [])
    with session.phase(1) as phase:
        assert phase.retry_count == 1
        with phase.agent("a") as agent:
            agent.write("second")
    assert _checkpoint(session, 1)["retry_count"] == 1
    assert git(folder, "log", "-1", "--format=%(trailers:key=Haytham-Attempt,valueonly)") == "2"
    assert not session.manager.load_feedback(*AT, 1)["reviewed"]


@pytest.mark.parametrize("step", [0.0, -60.0], ids=["stands still", "goes backwards"])
def test_odd_clock_does_no_harm(base: Path, step: float) -> None:
    """With a clock that stands still or goes backwards, durations are zero, and order and overlap are right."""
    manager = CheckpointManager(base, clock=Clock(step=step))
    folder = manager.create_session(*AT, "u")
    session = Session(manager, *AT)
    with session.phase(1) as phase:
        for name in ("a", "b"):
            with phase.agent(name) as agent:
                agent.write(name)
    with session.phase(2) as phase, phase.agent("a") as one, phase.agent("b") as two:
        one.write("1")
        two.write("2")
    first, second = _checkpoint(session, 1), _checkpoint(session, 2)
    assert (first["execution_mode"], second["execution_mode"]) == ("sequential_interactive", "parallel")
    assert (first["duration"], first["agents"][0]["duration"]) == (0, 0)
    assert (session.state()["completed_phases"], session.next_phase()) == ([1, 2], 3)
    assert subjects(folder)[1:] == ["Phase 1 Concept Expansion completed", "Phase 2 Market Research completed"]


# The same, async


def test_async_phase_with_agents_in_parallel(session: Session) -> None:
    """Two agents at once in one event loop: told as parallel, both saved."""

    async def work(phase: Any, name: str) -> None:
        async with phase.agent(name) as agent:
            await asyncio.sleep(0.01)
            agent.write(name, input_tokens=5)

    async def run() -> None:
        async with session.phase(2) as phase:
            await asyncio.gather(work(phase, "a"), work(phase, "b"))

    asyncio.run(run())
    record = _checkpoint(session, 2)
    assert (record["status"], record["execution_mode"], record["input_tokens"]) == ("completed", "parallel", 10)
    assert session.outputs() == {2: {"a": "a", "b": "b"}}


def test_async_error_is_saved_and_goes_on(session: Session) -> None:
    """An exception in an async agent is saved and raised as in a sync one."""

    async def run() -> None:
        async with session.phase(1) as phase, phase.agent("a") as agent:
            agent.write("partial")
            raise BoomError("async")

    with pytest.raises(BoomError):
        asyncio.run(run())
    assert (_checkpoint(session, 1)["status"], _checkpoint(session, 1)["errors"]) == ("failed", ["BoomError: async"])
    assert session.outputs([1]) == {1: {"a": "partial"}}


def test_async_empty_agent_fails(session: Session) -> None:
    """An async agent that wrote nothing fails too."""

    async def run() -> None:
        async with session.phase(1) as phase, phase.agent("a"):
            pass

    with pytest.raises(ValueError, match="without writing"):
        asyncio.run(run())
    assert _checkpoint(session, 1)["status"] == "failed"


def test_cancellation_is_saved_and_goes_on(session: Session) -> None:
    """A cancelled run leaves a failed phase with what there was, and stays cancelled."""

    async def work() -> None:
        async with session.phase(1) as phase, phase.agent("a") as agent:
            agent.write("so far")
            await asyncio.sleep(60)

    async def run() -> None:
        task = asyncio.create_task(work())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert (_checkpoint(session, 1)["status"], _checkpoint(session, 1)["errors"]) == ("failed", ["CancelledError"])
    assert session.outputs([1]) == {1: {"a": "so far"}}


def test_cancellation_during_a_save_waits_for_it(session: Session) -> None:
    """Whoever cancels while a save is under way gets a whole save first, in its order, and then the cancellation."""

    async def work() -> None:
        async with session.phase(1) as phase, phase.agent("a") as agent:
            agent.write("whole")
            asyncio.get_running_loop().call_soon(tasks[0].cancel)
            asyncio.get_running_loop().call_later(0.001, tasks[0].cancel)

    tasks: list[asyncio.Task[None]] = []

    async def run() -> None:
        tasks.append(asyncio.create_task(work()))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert _checkpoint(session, 1)["status"] == "failed"

    asyncio.run(run())
    assert _statuses(session, 1) == {"a": "completed"}
    assert session.outputs([1]) == {1: {"a": "whole"}}


def test_failing_save_is_raised_with_its_cause(session: Session, folder: Path) -> None:
    """When saving the failure fails as well, both are told."""

    def run() -> None:
        with session.phase(1):
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/elsewhere\n", encoding="ascii")
            raise BoomError

    with pytest.raises(HaythamError) as caught:
        run()
    assert isinstance(caught.value.__context__, BoomError)
