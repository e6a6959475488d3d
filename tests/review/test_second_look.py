"""What a reviewer of this project broke once, and what holds since."""

import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

from haytham import CheckpointManager, GateClosed
from haytham.storage.history import Person

AT = ("p", "s")
QUORUM = """
name = "pair"
title = "Two phases"
[modes]
all = [1, 2]
[[phases]]
number = 1
name = "One"
folder = "phase_1"
agents = ["a"]
review = "required"
approvals = { minimum = 2, roles = ["legal"] }
[[phases]]
number = 2
name = "Two"
folder = "phase_2"
agents = ["b"]
"""


def _git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    return subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def _done(manager: CheckpointManager, phase: int = 1, text: str = "text") -> None:
    manager.complete_phase(*AT, phase, [{"agent_name": f"agent_{phase}", "output_content": text}])


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    """Gives a session whose reviews are required, with its first phase completed."""
    made = CheckpointManager(tmp_path, identity=lambda: Person(name="Ana", email="ana@example.org"))
    made.create_session(*AT, "ana", review="required")
    _done(made)
    return made


@pytest.fixture
def pair(tmp_path: Path) -> CheckpointManager:
    """Gives a session whose first phase needs two people, one of them legal."""
    (tmp_path / "pair.toml").write_text(QUORUM)
    made = CheckpointManager(tmp_path / "base", workflows=[tmp_path / "pair.toml"])
    made.create_session(*AT, "ana", "pair", "all")
    _done(made)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Gives the folder of the first one."""
    return tmp_path / "p" / "sessions" / "s"


@pytest.mark.parametrize(
    ("action", "status"),
    [("retry_with_changes", "requires_retry"), ("skip_phase", "skipped"), ("approved", "completed")],
)
def test_decision_committed_with_git_is_taken_in(
    manager: CheckpointManager, folder: Path, action: str, status: str
) -> None:
    """A reviewer may commit the form themselves: the decision is signed, and what follows from it happens."""
    form = folder / "phase_1_concept/user_feedback.md"
    form.write_text(form.read_text().replace("- Action: -", f"- Action: {action}"))
    _git(folder, "commit", "-qam", "my review")
    assert manager.load_session(*AT)["phase_statuses"][1] == status
    review = manager.review(*AT, 1)
    assert (review["decision"], review["reviewer"]) == (action, "Ana")
    assert review["timestamp"] is not None
    assert _git(folder, "status", "--short") == ""


@pytest.mark.parametrize("status", ["in_progress", "failed"])
def test_gate_cannot_be_got_round_by_way_of_another_status(manager: CheckpointManager, status: str) -> None:
    """What was produced under a required review can be skipped only by its review, whatever its phase is called now."""
    manager.save_checkpoint(*AT, 1, status, [])
    with pytest.raises(GateClosed):
        manager.save_checkpoint(*AT, 1, "skipped", [])
    with pytest.raises(GateClosed):
        _done(manager, 2)
    with pytest.raises(GateClosed):
        manager.complete_session(*AT)


def test_several_reviewers_skip_together(pair: CheckpointManager) -> None:
    """Where two people have to agree, one of them legal, one person cannot skip the phase."""
    say = {"reviewed": True, "approved": False, "action": "skip_phase"}
    pair.save_user_feedback(*AT, 1, **say, reviewer="Intern")  # type: ignore[arg-type]
    assert pair.load_session(*AT)["phase_statuses"][1] == "completed"
    with pytest.raises(GateClosed, match="another decision of Intern, who decided skip_phase"):
        _done(pair, 2)
    pair.save_user_feedback(*AT, 1, **say, reviewer="Lea", role="legal")  # type: ignore[arg-type]
    assert pair.load_session(*AT)["phase_statuses"][1] == "skipped"
    _done(pair, 2)


def test_approval_is_of_content_that_history_has(manager: CheckpointManager, folder: Path) -> None:
    """An output that was edited by hand is committed in its author's name before it is approved."""
    output = folder / "phase_1_concept/agent_1.md"
    output.write_text(output.read_text() + " by hand")
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert manager.get_approved_phases(*AT) == [1]
    assert _git(folder, "status", "--short") == ""
    assert _git(folder, "log", "-1", "--format=%an", "--", "phase_1_concept/agent_1.md") == "Ana\n"


def test_edit_between_output_and_checkpoint_is_its_authors(manager: CheckpointManager, folder: Path) -> None:
    """What a person changes while a phase runs is committed in their name, not as the agent's."""
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    manager.save_agent_output(*AT, 2, "market_intelligence", "by the agent")
    output = folder / "phase_2_market_research/market_intelligence.md"
    output.write_text(output.read_text().replace("the agent", "a person"))
    manager.save_checkpoint(*AT, 2, "completed", [])
    assert _git(folder, "log", "-1", "--format=%an", "--", str(output.relative_to(folder))) == "Ana\n"
    assert manager.get_phase_outputs(*AT)[2] == {"market_intelligence": "by a person"}


def test_wait_outlasts_an_editor_that_moves_the_file_away(manager: CheckpointManager, folder: Path) -> None:
    """Many editors keep the old file under another name for a moment; the wait goes on."""
    form = folder / "phase_1_concept/user_feedback.md"
    text = form.read_text().replace("- Action: -", "- Action: approved")

    def save() -> None:
        time.sleep(0.3)
        form.rename(form.with_name("user_feedback.md~"))
        time.sleep(0.3)
        form.write_text(text)

    editor = threading.Thread(target=save)
    editor.start()
    review = manager.wait_for_review(*AT, 1, timeout=20)
    editor.join()
    assert review["decision"] == "approved"


def test_deleted_form_is_issued_again(manager: CheckpointManager, folder: Path) -> None:
    """A completed phase always has a form to decide in."""
    form = folder / "phase_1_concept/user_feedback.md"
    form.unlink()
    assert manager.review(*AT, 1)["decision"] is None
    assert "- Action: -" in form.read_text()


def _save_while_git_runs(manager: CheckpointManager, folder: Path, words: list[str]) -> None:
    """Saves twelve attempts while somebody runs git again and again, and finds them all in a sound history."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            subprocess.run(words, cwd=folder, check=False, capture_output=True)

    somebody = threading.Thread(target=work)
    somebody.start()
    try:
        for number in range(12):
            manager.save_checkpoint(*AT, 1, "completed", [], retry_count=number)
    finally:
        stop.set()
        somebody.join()
    attempts = _git(folder, "log", "--format=%(trailers:key=Haytham-Attempt,valueonly)").split()
    assert {str(number) for number in range(1, 13)} <= set(attempts)
    _git(folder, "fsck", "--strict")


def test_own_commit_of_a_person_is_built_upon(manager: CheckpointManager, folder: Path) -> None:
    """Somebody who commits in the session's folder at the same time neither loses nor stops anything."""
    words = ["git", "-c", "user.name=Ana", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "mine"]
    _save_while_git_runs(manager, folder, words)  # it fails where we are a moment faster


def test_gc_takes_nothing_away(manager: CheckpointManager, folder: Path) -> None:
    """Git may collect garbage, even without mercy, while a session is being worked on."""
    _save_while_git_runs(manager, folder, ["git", "gc", "-q", "--prune=now"])
    assert list((folder / ".git/objects/pack").glob("*.keep")) == []


def test_files_of_a_moment_are_not_for_committing(manager: CheckpointManager, folder: Path) -> None:
    """A person's `git add --all` leaves our temporary files alone."""
    (folder / ".x.0123.haytham-tmp").write_text("x")
    (folder / ".x.0123.haytham-swap").write_text("x")
    assert _git(folder, "status", "--short") == ""


def test_modes_stay(manager: CheckpointManager, folder: Path) -> None:
    """A form that a group may write stays so."""
    form = folder / "phase_1_concept/user_feedback.md"
    form.chmod(0o660)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert stat.S_IMODE(form.stat().st_mode) == 0o660
