import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import CheckpointManager, GateClosed, Session
from haytham.domain.errors import InvalidDocument
from tests.evidence import snapshot

AT = ("p", "s")
AGENT = [{"agent_name": "concept_expansion", "status": "completed", "output_file": "concept_expansion.md"}]


def _completed(base: Path, phases: tuple[int, ...] = (1,)) -> CheckpointManager:
    manager = CheckpointManager(base)
    manager.create_session(*AT, "ana", review="required")
    for phase in phases:
        manager.complete_phase(*AT, phase, [{"agent_name": f"agent_{phase}", "output_content": "text"}])
        if phase != phases[-1]:
            manager.save_user_feedback(*AT, phase, reviewed=True, approved=True)
    return manager


@pytest.mark.parametrize("how", ["API", "file"])
def test_whoever_sent_a_phase_back_may_change_their_mind(tmp_path: Path, how: str) -> None:
    """An approval of what was sent back completes the phase again, before anybody made another attempt."""
    manager = _completed(tmp_path)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=False, action="retry_with_changes")
    assert manager.load_session(*AT)["phase_statuses"][1] == "requires_retry"
    assert manager.review(*AT, 1)["decision"] == "retry_with_changes"
    if how == "API":
        manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    else:
        form = tmp_path / "p/sessions/s/phase_1_concept/user_feedback.md"
        form.write_text(form.read_text().replace("- Action: retry_with_changes", "- Action: approved"))
    assert manager.get_approved_phases(*AT) == [1]
    assert manager.load_session(*AT)["phase_statuses"][1] == "completed"
    assert (manager.review(*AT, 1)["decision"], manager.get_approved_phases(*AT)) == ("approved", [1])
    assert manager.load_checkpoint(*AT, 1)["retry_count"] == 0
    manager.complete_phase(*AT, 2, [{"agent_name": "agent_2", "output_content": "text"}])


def test_approval_from_before_does_not_undo_what_an_orchestrator_said(tmp_path: Path) -> None:
    """A phase that was approved and then sent back by its orchestrator needs a new attempt, or a new approval."""
    manager = _completed(tmp_path)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    manager.save_checkpoint(*AT, 1, "requires_retry", [])
    assert (manager.get_approved_phases(*AT), manager.next_phase(*AT)) == ([], 1)


def _exhausted(base: Path) -> CheckpointManager:
    """Returns a session whose first phase was sent back once too often."""
    manager = CheckpointManager(base)
    manager.create_session(*AT, "ana", review="required")
    for attempt in range(manager.workflow("idea_validation").max_retries + 1):
        manager.complete_phase(*AT, 1, [{"agent_name": "agent_1", "output_content": f"attempt {attempt}"}])
        manager.save_user_feedback(*AT, 1, reviewed=True, approved=False, action="retry_with_changes")
    assert manager.load_session(*AT)["phase_statuses"][1] == "failed"
    return manager


ATTEMPTS: dict[str, Callable[[CheckpointManager], object]] = {
    "save_checkpoint": lambda manager: manager.save_checkpoint(*AT, 1, "completed", []),
    "in_progress": lambda manager: manager.save_checkpoint(*AT, 1, "in_progress", []),
    "requires_retry": lambda manager: manager.save_checkpoint(*AT, 1, "requires_retry", []),
    "save_agent_output": lambda manager: manager.save_agent_output(*AT, 1, "agent_1", "once more"),
    "complete_phase": lambda manager: manager.complete_phase(
        *AT, 1, [{"agent_name": "agent_1", "output_content": "once more"}]
    ),
    "handle": lambda manager: Session(manager, *AT).phase(1).__enter__(),
    "async handle": lambda manager: asyncio.run(Session(manager, *AT).phase(1).__aenter__()),
}


@pytest.mark.parametrize("entry", ATTEMPTS)
def test_no_attempt_after_the_last_one(tmp_path: Path, entry: str) -> None:
    """A phase that was sent back once too often refuses another attempt, and says how a person can go on."""
    manager = _exhausted(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(GateClosed) as caught:
        ATTEMPTS[entry](manager)
    assert caught.value.message == "phase 1 Concept Expansion has used up its attempts: 3 retries."
    assert "approve or skip it in that file, or raise max_retries" in caught.value.hint
    assert before == snapshot(tmp_path)
    assert manager.resume(*AT)[0]["action"] == "review"


@pytest.mark.parametrize(("action", "status"), [("approved", "completed"), ("skip_phase", "skipped")])
def test_reviewer_lets_a_phase_without_attempts_go_on(tmp_path: Path, action: str, status: str) -> None:
    """Approved or skipped, the last attempt counts, and its failure is history."""
    manager = _exhausted(tmp_path)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=action == "approved", action=action)
    checkpoint = manager.load_checkpoint(*AT, 1)
    assert (checkpoint["status"], checkpoint["errors"], checkpoint["retry_count"]) == (status, [], 3)
    manager.complete_phase(*AT, 2, [{"agent_name": "agent_2", "output_content": "text"}])


def test_raised_limit_gives_another_attempt_of_its_own_number(tmp_path: Path) -> None:
    """Whoever raises max_retries in the session's workflow gets the next attempt, and it is counted."""
    manager = _exhausted(tmp_path)
    workflow = tmp_path / "p/sessions/s/workflow.toml"
    workflow.write_text(workflow.read_text().replace("max_retries = 3", "max_retries = 4"))
    ATTEMPTS["complete_phase"](manager)
    assert (manager.load_checkpoint(*AT, 1)["retry_count"], manager.review(*AT, 1)["attempt"]) == (4, 5)


def test_a_session_that_waits_for_its_last_review_is_not_completed(tmp_path: Path) -> None:
    """All phases are completed, the last review is missing: in progress, nothing to run, a review to give."""
    manager = _completed(tmp_path, (1, 2, 3, 6, 7))
    state = manager.load_session(*AT)
    assert (state["status"], state["next_phase"], state["can_resume"]) == ("in_progress", None, True)
    assert [(step["phase_num"], step["action"]) for step in manager.resume(*AT)] == [(7, "review")]
    commits = len(manager.history(*AT))
    manager.save_user_feedback(*AT, 7, reviewed=True, approved=True)
    state = manager.load_session(*AT)
    assert (state["status"], state["next_phase"], state["can_resume"]) == ("completed", None, False)
    assert (len(manager.history(*AT)), manager.resume(*AT)) == (commits + 1, [])


def test_only_haytham_says_that_the_attempts_are_used_up(tmp_path: Path) -> None:
    """A person cannot fail a phase by writing the action that Haytham keeps for itself."""
    manager = _completed(tmp_path)
    form = tmp_path / "p/sessions/s/phase_1_concept/user_feedback.md"
    form.write_text(form.read_text().replace("- Action: -", "- Action: max_retries_exceeded"))
    with pytest.raises(InvalidDocument, match="which only Haytham says"):
        manager.review(*AT, 1)
    assert manager.load_session(*AT)["phase_statuses"][1] == "completed"


def test_a_broken_form_is_a_step_to_take(tmp_path: Path) -> None:
    """What is left to do is told even if one form cannot be understood."""
    manager = _completed(tmp_path)
    form = tmp_path / "p/sessions/s/phase_1_concept/user_feedback.md"
    form.write_text(form.read_text().replace("- Action: -", "- Action: perhaps"))
    first = manager.resume(*AT)[0]
    assert (first["phase_num"], first["action"]) == (1, "review")
    assert first["reason"] == "its form cannot be understood"


def test_a_deleted_output_is_reported(tmp_path: Path) -> None:
    """A person who deletes an output has edited the session: it is reported, and the approval does not hold."""
    manager = _completed(tmp_path)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert manager.get_approved_phases(*AT) == [1]
    (tmp_path / "p/sessions/s/phase_1_concept/agent_1.md").unlink()
    assert manager.get_approved_phases(*AT) == []
    assert manager.recover(*AT)["edited_files"] == ["phase_1_concept/agent_1.md"]
