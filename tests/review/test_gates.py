"""A required gate holds at every public entry point; a new one fails here until it is classified."""

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import CheckpointManager, GateClosed, ProjectManager, Session
from haytham.session.handle import AgentRun, PhaseRun
from tests.evidence import PROJECT, SESSION, USER, snapshot
from tests.review.desk import AT, Desk

# What starts work behind a gate, or writes it, or ends a session.
WORK: dict[str, Callable[[Desk], object]] = {
    "CheckpointManager.save_checkpoint": lambda desk: desk.complete(2),
    "CheckpointManager.save_agent_output": lambda desk: desk.write(2, "too early"),
    "CheckpointManager.complete_phase": lambda desk: desk.manager.complete_phase(
        *AT, 2, [{"agent_name": "checker", "output_content": "too early"}]
    ),
    "CheckpointManager.start_phase": lambda desk: desk.manager.start_phase(*AT, 2),
    "Session.phase": lambda desk: desk.session.phase(2).__enter__(),
    "PhaseRun.__enter__": lambda desk: _started(desk).__enter__(),
    "PhaseRun.__aenter__": lambda desk: asyncio.run(_started(desk).__aenter__()),
    "PhaseRun.__exit__": lambda desk: _started(desk).__exit__(None, None, None),
    "PhaseRun.__aexit__": lambda desk: asyncio.run(_started(desk).__aexit__(None, None, None)),
    "AgentRun.__exit__": lambda desk: _worked(desk).__exit__(None, None, None),
    "AgentRun.__aexit__": lambda desk: asyncio.run(_worked(desk).__aexit__(None, None, None)),
}
ENDS: dict[str, Callable[[Desk], object]] = {
    "CheckpointManager.complete_session": lambda desk: desk.manager.complete_session(*AT),
    "ProjectManager.complete_session": lambda desk: _projects(desk).complete_session(*AT, "requirements"),
}
OTHERS = {
    "CheckpointManager": """
        register_workflow workflow create_session claim_session load_session list_sessions next_phase can_resume recover
        history
        session_ids phases overview validate_session form attempts final_outputs
        load_checkpoint get_phase_outputs validate_checkpoint save_user_feedback load_feedback get_approved_phases
        review wait_for_review wait_for_review_async on_decision retry_request resume diff journals journal
        workflow_names watch watch_async
        export_session export_project export_page import_file migrate_project
        verify_session log show_phase diff_sessions
        fork rollback compare archive_session unarchive_session delete_session retain_sessions gc repair
    """,
    "ProjectManager": """
        create_project start_session list_user_projects get_project_status update_user_preferences get_user_preferences
        archive_project delete_project project_ids list_projects history validate_project
        verify_project log session_results
    """,
    "Session": """
        claim state next_phase outputs review wait_for_review wait_for_review_async resume watch watch_async
        journals journal export verify log show diff export_page
        fork rollback compare archive unarchive delete gc repair
    """,
    "PhaseRun": "agent note_start now",
    "AgentRun": "write is_running record journal __enter__ __aenter__",
}  # reads, decides, or is about something else
INSTANT = "2026-01-31T10:00:00Z"
ENTRIES = {"__enter__", "__exit__", "__aenter__", "__aexit__"}


def _started(desk: Desk) -> PhaseRun:
    """Returns a run that began while the gate was open."""
    run = desk.session.phase(2)
    run._started = INSTANT
    return run


def _worked(desk: Desk) -> AgentRun:
    """Returns an agent's run that began while the gate was open, and has something to say."""
    agent = _started(desk).agent("checker").__enter__()
    agent.write("too late")
    return agent


def _projects(desk: Desk) -> ProjectManager:
    return ProjectManager(desk.base, workflows=[desk.base.parent / "desk.toml"], clock=desk.clock)


def _public(kind: type) -> set[str]:
    names = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    return names | {name for name in ENTRIES if hasattr(kind, name)}


@pytest.mark.parametrize("kind", [CheckpointManager, ProjectManager, Session, PhaseRun, AgentRun])
def test_every_entry_point_is_classified(kind: type) -> None:
    """Each public method is listed here, as one that a gate holds or as one that it does not concern."""
    gated = {name.split(".")[1] for name in WORK | ENDS if name.startswith(f"{kind.__name__}.")}
    others = set(OTHERS[kind.__name__].split())
    assert gated | others == _public(kind)
    assert set() == gated & others


@pytest.mark.parametrize("entry", WORK)
def test_closed_gate_holds(desk: Desk, entry: str) -> None:
    """Work behind a required review is refused, nothing is written, and the error says what is missing and who can."""
    desk.run(1)
    before = snapshot(desk.folder)
    with pytest.raises(GateClosed) as caught:
        WORK[entry](desk)
    assert "phase 1 Draft needs 1 more approval" in caught.value.message
    assert str(desk.form(1)) == caught.value.location.path
    assert caught.value.hint == (
        "haytham review 1 opens that file; whoever can edit it can decide: set Action and save."
    )
    assert before == snapshot(desk.folder)


@pytest.mark.parametrize("decision", ["approved", "skip_phase"])
@pytest.mark.parametrize("how", ["API", "file"])
@pytest.mark.parametrize("entry", ["save_checkpoint", "save_agent_output", "complete_phase"])
def test_open_gate_lets_through(desk: Desk, entry: str, decision: str, how: str) -> None:
    """Once the phase is approved or skipped, through the API or in the form, the work goes on."""
    desk.run(1)
    if how == "API":
        desk.decide(1, decision)
    else:
        desk.edit(1, decision)
    WORK[f"CheckpointManager.{entry}"](desk)


def test_open_gate_lets_handles_through(desk: Desk) -> None:
    """The handle goes on once the form is approved, both in the plain and in the async way."""
    desk.run(1)
    desk.edit(1, "approved")
    with desk.session.phase(2) as run, run.agent("checker") as agent:
        agent.write("checked")
    desk.approve_all(2)

    async def third() -> None:
        async with desk.session.phase(3) as run, run.agent("printer") as agent:
            agent.write("printed")

    asyncio.run(third())
    assert desk.manager.load_session(*AT)["completed_phases"] == [1, 2, 3]


@pytest.mark.parametrize("state", ["not run", "in_progress", "failed", "sent back", "voided"])
def test_gate_is_closed_whatever_the_reason(desk: Desk, state: str) -> None:
    """A phase that has not run, has not ended, failed, was sent back, or changed after its approval is no open gate."""
    if state in {"in_progress", "failed"}:
        desk.complete(1, state)
    elif state != "not run":
        desk.run(1)
        desk.decide(1, "approved" if state == "voided" else "retry_with_changes")
    if state == "voided":
        desk.output(1).write_bytes(desk.output(1).read_bytes() + b" ")
    for attempt in WORK.values():
        with pytest.raises(GateClosed):
            attempt(desk)


def test_gate_names_the_role(desk: Desk) -> None:
    """Where a role has to approve, the error says so."""
    desk.run(1)
    desk.decide(1)
    desk.run(2)
    desk.decide(2, reviewer="Bob")
    with pytest.raises(GateClosed) as caught:
        desk.write(3, "too early")
    assert "needs an approval in the role legal" in caught.value.message
    assert "in the role legal" in caught.value.hint


@pytest.mark.parametrize("entry", ENDS)
def test_session_does_not_end_with_a_review_open(desk: Desk, entry: str) -> None:
    """A session whose required review is missing cannot be completed; afterwards it can."""
    desk.run(1)
    before = snapshot(desk.base)
    with pytest.raises(GateClosed, match="the session may not be completed: phase 1 Draft needs 1 more approval"):
        ENDS[entry](desk)
    assert before == snapshot(desk.base)
    desk.decide(1)
    ENDS[entry](desk)
    assert desk.manager.load_session(*AT)["status"] == "completed"


def test_skipping_is_the_reviewers(desk: Desk) -> None:
    """An orchestrator cannot open a gate by reporting the reviewed phase as skipped; a reviewer can."""
    desk.run(1)
    with pytest.raises(GateClosed, match="phase 1 may be skipped only by its review"):
        desk.complete(1, "skipped")
    desk.decide(1, "skip_phase")
    desk.write(2, "goes on")
    assert desk.status(1) == "skipped"


@pytest.mark.parametrize("policy", ["required", "optional", "none"])
def test_policy_of_a_session(base: Path, policy: str) -> None:
    """A session may have other policies than its workflow, for all phases or for some."""
    manager = CheckpointManager(base)
    manager.create_session(PROJECT, SESSION, USER, review={1: policy})
    manager.create_session(PROJECT, "other", USER, review=policy)
    for session in (SESSION, "other"):
        manager.save_checkpoint(PROJECT, session, 1, "completed", [])
        assert manager.review(PROJECT, session, 1)["policy"] == policy
        if policy == "required":
            with pytest.raises(GateClosed):
                manager.save_agent_output(PROJECT, session, 2, "market_intelligence", "x")
        else:
            manager.save_agent_output(PROJECT, session, 2, "market_intelligence", "x")
