"""What the manager does when all is well, beyond the reference usage."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from haytham import BrokenRepository, CheckpointManager, NotFound
from haytham.storage.history import Person
from tests.conftest import REVIEWER
from tests.evidence import PROJECT, SESSION, USER, Clock, git, snapshot, subjects

AT = (PROJECT, SESSION)
AGENT: dict[str, Any] = {"agent_name": "concept_expansion", "status": "completed"}
WORKFLOW = """
name = "{name}"
title = "A look"
[modes]
only = [10]
[[phases]]
number = 10
name = "Look"
folder = "look"
agents = ["looker"]
"""

# Workflows


def _file(folder: Path, name: str, more: str = "") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(WORKFLOW.format(name=name) + more, encoding="utf-8")
    return path


def test_workflow_of_ones_own_is_registered(manager: CheckpointManager, tmp_path: Path) -> None:
    """A file makes a workflow known by its name; registering it again changes nothing."""
    path = _file(tmp_path, "look")
    assert [manager.register_workflow(path), manager.register_workflow(str(path))] == ["look", "look"]
    manager.create_session(*AT, USER, workflow_type="look", execution_mode="only")
    assert manager.load_session(*AT)["phase_statuses"] == {10: "pending"}


def test_name_of_a_known_workflow_is_taken(manager: CheckpointManager, tmp_path: Path) -> None:
    """Two different workflows cannot have one name, nor can one replace the built-in."""
    manager.register_workflow(_file(tmp_path, "look"))
    (tmp_path / "other").mkdir()
    for path in (_file(tmp_path / "other", "look", "agents_by_mode = {}\n"), _file(tmp_path, "idea_validation")):
        with pytest.raises(ValueError, match="another workflow is already known as"):
            manager.register_workflow(path)


def test_workflow_file_that_is_missing_or_broken_is_named(manager: CheckpointManager, tmp_path: Path) -> None:
    """A workflow that cannot be read is refused with its path."""
    with pytest.raises(FileNotFoundError, match=r"missing\.toml"):
        manager.register_workflow(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(ValueError, match=r"broken\.toml"):
        manager.register_workflow(tmp_path / "broken.toml")


def test_session_without_any_copy_of_its_workflow_is_broken(manager: CheckpointManager, folder: Path) -> None:
    """A session whose workflow is neither in its folder nor in its history cannot be guessed at."""
    git(folder, "rm", "-q", "workflow.toml")
    git(folder, "commit", "-q", "-m", "gone")
    with pytest.raises(BrokenRepository, match="copy of its workflow is gone"):
        CheckpointManager(manager.base_dir).load_session(*AT)


# Phases and outputs


def test_running_phase_is_no_commit(manager: CheckpointManager, folder: Path) -> None:
    """Pending and in_progress are states, not events: they are saved and not committed."""
    manager.save_checkpoint(*AT, 1, "pending", [])
    manager.save_checkpoint(*AT, 1, "in_progress", [AGENT], started="2026-01-31T10:00:00Z")
    manager.save_agent_output(*AT, 1, "concept_expansion", "text")
    assert subjects(folder) == ["Session session-456 created"]
    assert manager.load_session(*AT)["phase_statuses"][1] == "in_progress"
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    assert subjects(folder) == ["Session session-456 created", "Phase 1 Concept Expansion completed"]
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("completed", "completed"),
        ("failed", "failed"),
        ("skipped", "skipped"),
        ("requires_retry", "sent back for another attempt"),
    ],
)
def test_event_is_one_commit(manager: CheckpointManager, folder: Path, status: str, words: str) -> None:
    """Each recorded status is one commit that says so."""
    manager.save_checkpoint(*AT, 1, status, [AGENT], errors=["it broke\nbadly"] if status == "failed" else None)
    assert f"Phase 1 Concept Expansion {words}" == subjects(folder)[-1]
    assert len(subjects(folder)) == 2
    assert status == manager.load_checkpoint(*AT, 1)["status"]


def test_checkpoint_knows_what_its_agents_could_read(manager: CheckpointManager, folder: Path) -> None:
    """A phase records the content of the completed phases before it."""
    manager.save_agent_output(*AT, 1, "concept_expansion", "text")
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    manager.save_checkpoint(*AT, 2, "failed", [])
    manager.save_checkpoint(*AT, 3, "completed", [])
    content = manager.load_feedback(*AT, 1)["content"]
    expected = [{"phase": 1, "name": "Concept Expansion", "content": content}]
    assert expected == manager.load_checkpoint(*AT, 3)["inputs"]


def test_tokens_of_outputs_are_counted_in_either_order(manager: CheckpointManager, folder: Path) -> None:
    """Whether output or checkpoint comes first, the tokens add up."""
    manager.save_agent_output(*AT, 1, "concept_expansion", "text", input_tokens=12, output_tokens=3)
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    manager.save_checkpoint(*AT, 2, "completed", [{"agent_name": "market_intelligence", "status": "completed"}])
    manager.save_agent_output(*AT, 2, "market_intelligence", "text", input_tokens=20, output_tokens=5)
    assert [manager.load_checkpoint(*AT, number)["total_tokens"] for number in (1, 2)] == [15, 25]
    assert manager.load_session(*AT)["metrics"]["total_tokens"] == 40


def test_outputs_of_completed_phases_by_default(manager: CheckpointManager, folder: Path) -> None:
    """Without numbers, the outputs of all completed phases; with numbers, of those, whatever their status."""
    for number, status in ((1, "completed"), (2, "failed"), (3, "in_progress")):
        manager.save_agent_output(*AT, number, "worker", f"text {number}")
        manager.save_checkpoint(*AT, number, status, [])
    assert manager.get_phase_outputs(*AT) == {1: {"worker": "text 1"}}
    assert manager.get_phase_outputs(*AT, [2, 6]) == {2: {"worker": "text 2"}, 6: {}}
    assert manager.get_phase_outputs(*AT, []) == {}


def test_failed_output_keeps_its_error(manager: CheckpointManager, folder: Path) -> None:
    """Type, message and stack trace of an error stand in the output's document."""
    manager.save_agent_output(
        *AT, 1, "a", "partial", status="failed", error_type="Boom", error_message="no", stack_trace="line 1\nline 2"
    )
    text = (folder / "phase_1_concept" / "a.md").read_text(encoding="utf-8")
    assert "## Error Details\n- Error Type: Boom\n- Error Message: no\n" in text
    assert "line 1\nline 2" in text
    assert manager.get_phase_outputs(*AT, [1]) == {1: {"a": "partial"}}


@pytest.mark.parametrize(
    "text", ["", "\0", "\ufeffx", "a\r\nb\r", "x\n" * 10, "\n\n", "| a |\n", "```\n", "<!--", "﻿# x"]
)
def test_output_comes_back_byte_for_byte(manager: CheckpointManager, folder: Path, text: str) -> None:
    """Whatever an agent produced is what the next one reads."""
    manager.save_agent_output(*AT, 1, "a", text)
    assert {1: {"a": text}} == manager.get_phase_outputs(*AT, [1])


# Reviews


def test_review_is_a_commit_by_the_reviewer(manager: CheckpointManager, folder: Path) -> None:
    """A decision carries the name of whom git knows the user as."""
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert str(REVIEWER) == git(folder, "log", "-1", "--format=%an <%ae>")
    assert REVIEWER.name == manager.load_feedback(*AT, 1)["reviewer"]


@pytest.mark.parametrize("identity", [None, Person(name=" ", email="")], ids=["unknown", "empty"])
def test_reviewer_without_a_name_is_the_sessions_user(base: Path, identity: Person | None) -> None:
    """Where git does not know the user's name, the session's user has reviewed."""
    manager = CheckpointManager(base, clock=Clock(), identity=lambda: identity)
    manager.create_session(*AT, USER)
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert manager.load_feedback(*AT, 1)["reviewer"] == USER
    assert manager.get_approved_phases(*AT) == [1]


def test_completed_phase_has_a_form(manager: CheckpointManager, folder: Path) -> None:
    """The form is there, undecided, and about the present content; a later output makes it about that."""
    manager.save_agent_output(*AT, 1, "concept_expansion", "text")
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    first = manager.load_feedback(*AT, 1)
    assert (first["reviewed"], first["action"], first["is_current"]) == (False, None, True)
    manager.save_agent_output(*AT, 1, "concept_expansion", "other text")
    second = manager.load_feedback(*AT, 1)
    assert first["content"] != second["content"]
    assert second["is_current"]


def test_decision_about_the_same_content_stands(manager: CheckpointManager, folder: Path) -> None:
    """Reporting a phase again without a change of its outputs does not take the decision back."""
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True, comments="good")
    manager.save_checkpoint(*AT, 1, "completed", [AGENT], duration=3)
    assert manager.get_approved_phases(*AT) == [1]
    manager.save_agent_output(*AT, 1, "concept_expansion", "new")
    assert manager.get_approved_phases(*AT) == []
    assert not manager.load_feedback(*AT, 1)["reviewed"]


# Sessions


def test_sessions_are_listed_newest_first(manager: CheckpointManager) -> None:
    """Every session of a project is listed, also one that was never worked on."""
    for name in ("b", "a", "c"):
        manager.create_session(PROJECT, name, USER)
    assert [row["session_id"] for row in manager.list_sessions(PROJECT)] == ["c", "a", "b"]


def test_session_may_be_completed_early(manager: CheckpointManager, folder: Path) -> None:
    """Who completes a session leaves phases out on purpose; saying it again is no new event."""
    first = manager.complete_session(*AT)
    assert (first["status"], first["next_phase"], first["can_resume"]) == ("completed", None, False)
    before = snapshot(folder)
    assert manager.complete_session(*AT)["status"] == "completed"
    assert before == snapshot(folder)
    assert subjects(folder)[-1] == "Session completed"


def test_history_is_the_log(manager: CheckpointManager, folder: Path) -> None:
    """The commits of a session, newest first, with their trailers."""
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    newest, oldest = manager.history(*AT)
    assert (newest.trailers["Haytham-Phase"], newest.trailers["Haytham-Status"]) == ("1", "completed")
    assert oldest.trailers["Haytham-Session"] == SESSION
    assert git(folder, "rev-parse", "HEAD") == newest.id


def test_manifest_that_was_changed_while_open_is_derived_again(manager: CheckpointManager, folder: Path) -> None:
    """A manager that has the session open notices a manifest that contradicts the checkpoints."""
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    path = folder / "session_manifest.md"
    path.write_text(path.read_text(encoding="utf-8").replace("| completed |", "| failed |"), encoding="utf-8")
    state = manager.load_session(*AT)
    assert (
        state["completed_phases"],
        state["recovered"],
    ) == ([1], ["session_manifest.md was derived again from the checkpoints"])


def test_document_before_its_time_is_not_found(manager: CheckpointManager, folder: Path) -> None:
    """There is no checkpoint before the phase was reported."""
    with pytest.raises(NotFound, match="phase 1 Concept Expansion has no checkpoint yet"):
        manager.load_checkpoint(*AT, 1)


def test_no_process_is_started_by_a_save(manager: CheckpointManager, folder: Path) -> None:
    """A whole phase, saved while no program can be started at all."""
    code = (
        "import sys\nfrom haytham import CheckpointManager\n"
        "sys.addaudithook(lambda event, _: sys.exit(9) if event in ('subprocess.Popen', 'os.exec', 'os.fork',"
        " 'os.posix_spawn', 'os.system') else None)\n"
        "m = CheckpointManager(sys.argv[1])\n"
        "m.save_agent_output('project-123', 'session-456', 1, 'a', 'text')\n"
        "m.save_checkpoint('project-123', 'session-456', 1, 'completed', [])\n"
        "m.save_user_feedback('project-123', 'session-456', 1, reviewed=True, approved=True)\n"
        "m.load_session('project-123', 'session-456')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, manager.base_dir], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(subjects(folder)) == 3
