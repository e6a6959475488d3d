from pathlib import Path

import pytest

from haytham import CheckpointManager
from haytham.domain.errors import InvalidDocument

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


def test_a_phase_that_was_sent_back_is_not_approved_without_another_attempt(tmp_path: Path) -> None:
    """An approval of what was sent back is recorded, but the phase stays sent back: nobody waits for it as approved."""
    manager = _completed(tmp_path)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=False, action="retry_with_changes")
    assert manager.load_session(*AT)["phase_statuses"][1] == "requires_retry"
    assert manager.review(*AT, 1)["decision"] == "retry_with_changes"
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert manager.load_session(*AT)["phase_statuses"][1] == "requires_retry"
    assert (manager.review(*AT, 1)["decision"], manager.get_approved_phases(*AT)) == (None, [])


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
    assert manager.load_session(*AT)["edited_files"] == ["phase_1_concept/agent_1.md"]
