"""Journals inside a session: they enter history with their phase, and nobody takes them for a person's edit."""

from pathlib import Path

from haytham import CheckpointManager
from tests.evidence import PROJECT, SESSION, git, is_sound

AT = (PROJECT, SESSION)
NAME = "phase_1_concept/journal/concept_expansion.md"
OUTPUT = [{"agent_name": "concept_expansion", "output_content": "Found.\n"}]


def _worked(manager: CheckpointManager, steps: int = 3) -> bytes:
    journal = manager.journal(*AT, 1, "concept_expansion")
    for number in range(steps):
        journal.state.add_message("user", f"{number}")
        journal.save()
    return journal.path.read_bytes()


def test_a_journal_is_committed_with_its_phase(manager: CheckpointManager, folder: Path) -> None:
    """Completing a phase, in one call, commits its journals; git finds nothing left over and nothing wrong."""
    data = _worked(manager)
    assert "" == git(folder, "ls-files", NAME)
    manager.complete_phase(*AT, 1, OUTPUT)
    assert data == git(folder, "show", f"HEAD:{NAME}").encode() + b"\n"
    assert "" == git(folder, "status", "--porcelain")
    assert is_sound(folder)


def test_what_is_written_later_enters_with_the_next_commit(manager: CheckpointManager, folder: Path) -> None:
    """A journal that grows after its phase was completed is committed with the decision about it."""
    _worked(manager)
    manager.complete_phase(*AT, 1, OUTPUT)
    data = _worked(manager)
    assert f"M {NAME}" == git(folder, "status", "--porcelain")
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert data == git(folder, "show", f"HEAD:{NAME}").encode() + b"\n"
    assert "" == git(folder, "status", "--porcelain")


def test_a_journal_that_grows_confuses_nobody(manager: CheckpointManager, folder: Path, base: Path) -> None:
    """Steps that are saved while a phase runs are no edit of a person's, nor work for recovery, nor a commit."""
    manager.save_checkpoint(*AT, 1, "in_progress", [])
    before = manager.load_session(*AT), git(folder, "rev-parse", "HEAD")
    for _ in range(3):
        _worked(manager)
        state = manager.load_session(*AT)
        assert ([], [], 1) == (state["edited_files"], state["recovered"], state["current_phase"])
    fresh = CheckpointManager(base)
    assert {"finished": [], "removed": [], "edited_files": []} == fresh.recover(*AT)
    assert before == (fresh.load_session(*AT), git(folder, "rev-parse", "HEAD"))


def test_validation_asks_the_journals(manager: CheckpointManager, folder: Path) -> None:
    """A sound journal is among what was checked; a damaged one is a problem with its line, for phase and session."""
    data = _worked(manager)
    manager.complete_phase(*AT, 1, OUTPUT)
    sound = manager.validate_session(*AT)
    assert [] == sound["problems"]
    assert str(folder / NAME) in sound["documents"]
    (folder / NAME).write_bytes(data.replace(b"> 1", b"> 2"))
    problems = manager.validate_session(*AT)["problems"]
    assert 1 == len(problems)
    assert "damaged" in problems[0]["message"]
    is_valid, told = manager.validate_checkpoint(*AT, 1)
    assert (False, 1) == (is_valid, len(told))


def test_only_whole_entries_enter_history(manager: CheckpointManager, folder: Path) -> None:
    """The beginning of an entry, as somebody is just writing it, is not committed, and stays where it is."""
    data = _worked(manager)
    torn = data + b"\n## 4 \xc2\xb7 2026-01-31T10"
    (folder / NAME).write_bytes(torn)
    manager.complete_phase(*AT, 1, OUTPUT)
    assert data == git(folder, "show", f"HEAD:{NAME}").encode() + b"\n"
    assert torn == (folder / NAME).read_bytes()
    manager.rollback(*AT, commit=git(folder, "rev-parse", "HEAD"))
    assert data == (folder / NAME).read_bytes()
    assert torn == git(folder, "show", f"HEAD~1:{NAME}").encode()
    assert is_sound(folder)
