"""Folders that people, programs and accidents have been at: named or healed, and nothing lost."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from haytham import BrokenRepository, CheckpointManager, InvalidDocument, StorageFailure
from haytham.domain.errors import Problem
from tests.evidence import PROJECT, SESSION, USER, Clock, git, is_sound, refused, snapshot, subjects

AT = (PROJECT, SESSION)
AGENT = {"agent_name": "concept_expansion", "status": "completed"}
MANIFEST = "session_manifest.md"
PHASE = "phase_1_concept"


@pytest.fixture
def worked(manager: CheckpointManager, folder: Path) -> Path:
    """The folder of a session whose first phase is completed and approved."""
    manager.save_agent_output(*AT, 1, "concept_expansion", "what was found")
    manager.save_checkpoint(*AT, 1, "completed", [AGENT], duration=1.5)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True, comments="good")
    return folder


def _again(folder: Path) -> CheckpointManager:
    """Returns a manager of another process, so to say: one that has not opened the session yet."""
    return CheckpointManager(folder.parents[2], clock=Clock(), lock_timeout=5)


def _save_everything(manager: CheckpointManager) -> list[Callable[[], object]]:
    return [
        lambda: manager.save_checkpoint(*AT, 2, "in_progress", [AGENT]),
        lambda: manager.save_checkpoint(*AT, 2, "completed", [AGENT]),
        lambda: manager.save_agent_output(*AT, 2, "market_intelligence", "text"),
        lambda: manager.save_agent_output(*AT, 1, "concept_expansion", "other text"),
        lambda: manager.save_user_feedback(*AT, 1, reviewed=True, approved=True),
        lambda: manager.complete_session(*AT),
    ]


# The base folder


@pytest.fixture
def read_only(tmp_path: Path, base: Path, worked: Path) -> Iterator[Path]:
    """A session's folder on a disk that cannot be written."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", disk], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a file system")
    try:
        shutil.copytree(base, disk / "projects", symlinks=True)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        yield disk / worked.relative_to(tmp_path)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_read_only_disk_can_be_read(read_only: Path) -> None:
    """A session on a disk that cannot be written can still be looked at."""
    manager = _again(read_only)
    assert manager.load_session(*AT)["completed_phases"] == [1]
    assert manager.get_approved_phases(*AT) == [1]
    assert manager.get_phase_outputs(*AT) == {1: {"concept_expansion": "what was found"}}
    assert manager.validate_checkpoint(*AT, 1) == (True, [])


def test_read_only_disk_refuses_every_save(read_only: Path) -> None:
    """Every save says that the disk refused, and changes nothing."""
    manager = _again(read_only)
    for call in _save_everything(manager):
        error = refused(read_only, OSError, call)
        assert isinstance(error, StorageFailure)
    with pytest.raises(StorageFailure):
        manager.create_session(PROJECT, "another", USER)
    with pytest.raises(StorageFailure, match="cannot be written"):
        CheckpointManager(read_only.parents[3] / "elsewhere")


def test_base_folder_inside_another_repository_leaves_that_alone(tmp_path: Path) -> None:
    """Haytham never commits into, or reads from, a repository that happens to enclose its base folder."""
    git(tmp_path, "init", "-q", "-b", "work")
    (tmp_path / "code.py").write_text("pass\n", encoding="utf-8")
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-q", "-m", "theirs")
    (tmp_path / "staged.py").write_text("staged\n", encoding="utf-8")
    git(tmp_path, "add", "staged.py")
    before, head = snapshot(tmp_path / ".git"), git(tmp_path, "rev-parse", "HEAD")
    manager = CheckpointManager(tmp_path / "projects", clock=Clock())
    folder = manager.create_session(*AT, USER)
    manager.save_checkpoint(*AT, 1, "completed", [AGENT])
    assert before == snapshot(tmp_path / ".git")
    assert head == git(tmp_path, "rev-parse", "HEAD")
    assert len(subjects(folder)) == 2
    assert git(folder, "status", "--porcelain") == ""


def test_session_without_its_own_repository_does_not_use_the_enclosing_one(tmp_path: Path) -> None:
    """When a session's repository is gone, the one around it does not take its place."""
    git(tmp_path, "init", "-q")
    manager = CheckpointManager(tmp_path / "projects", clock=Clock())
    folder = manager.create_session(*AT, USER)
    shutil.rmtree(folder / ".git")
    shutil.rmtree(folder.parent.parent / ".git")
    error = refused(tmp_path, BrokenRepository, lambda: manager.save_checkpoint(*AT, 1, "completed", [AGENT]))
    assert "restore the folder .git" in error.hint


# The repository


def _gone(folder: Path) -> None:
    shutil.rmtree(folder / ".git")


def _empty(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").mkdir()


def _other_branch(folder: Path) -> None:
    git(folder, "switch", "-q", "-c", "mine")


def _detached(folder: Path) -> None:
    git(folder, "switch", "-q", "--detach")


def _beheaded(folder: Path) -> None:
    (folder / ".git" / "refs" / "heads" / "sessions" / SESSION).write_text(f"{'1' * 40}\n", encoding="ascii")


def _link_file(folder: Path) -> None:
    shutil.move(folder / ".git", folder.parent / "elsewhere.git")
    (folder / ".git").write_text(f"gitdir: {folder.parent / 'elsewhere.git'}\n", encoding="utf-8")


def _linked(folder: Path) -> None:
    shutil.move(folder / ".git", folder.parent.parent.parent.parent / "elsewhere.git")
    (folder / ".git").symlink_to(folder.parent.parent.parent.parent / "elsewhere.git")


DAMAGES = [_gone, _empty, _other_branch, _detached, _beheaded, _link_file]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("is_open", [False, True], ids=["fresh", "open"])
def test_no_save_without_the_sessions_repository_on_its_branch(
    manager: CheckpointManager, worked: Path, damage: Callable[[Path], None], *, is_open: bool
) -> None:
    """Where the repository is gone, damaged or on another branch, every save is refused and writes nothing."""
    damage(worked)
    using = manager if is_open else _again(worked)
    for call in _save_everything(using):
        error = refused(worked.parents[3], BrokenRepository, call)
        assert error.hint
        assert str(worked) in str(error.location)


@pytest.mark.parametrize("damage", [_other_branch, _detached])
def test_way_out_of_another_branch_is_the_hint(
    manager: CheckpointManager, worked: Path, damage: Callable[[Path], None]
) -> None:
    """Doing what the hint says makes the session usable again."""
    damage(worked)
    with pytest.raises(BrokenRepository) as caught:
        manager.complete_session(*AT)
    assert f"run: git switch sessions/{SESSION}" == caught.value.hint
    git(worked, *caught.value.hint.removeprefix("run: git ").split())
    manager.save_checkpoint(*AT, 2, "completed", [AGENT])
    assert subjects(worked)[-1] == "Phase 2 Market Research completed"


def test_linked_repository_isrefused(worked: Path) -> None:
    """A symbolic link in the place of the repository is not followed, and nothing is written behind it."""
    _linked(worked)
    for call in _save_everything(_again(worked)):
        refused(worked.parents[3], StorageFailure, call)


# The manifest


def _deleted(path: Path) -> None:
    path.unlink()


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _garbage(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00garbage")


def _merge_markers(path: Path) -> None:
    path.write_bytes(b"<<<<<<< HEAD\n" + path.read_bytes() + b"=======\n>>>>>>> theirs\n")


def test_it_is_said_what_could_not_be_read(worked: Path) -> None:
    """Whoever edits the manifest into something unreadable is told the line, and finds the words in history."""
    path = worked / MANIFEST
    path.write_text(path.read_text().replace("- Status: in_progress", "- Status: bogus\n- Mine: a word", 1))
    told = _again(worked).load_session(*AT)["recovered"]
    why = 'because it could not be read (line 12: Status is "bogus"); what it said is in history'
    assert told == [f"session_manifest.md was derived again from the checkpoints, {why}"]
    assert "- Mine: a word" in git(worked, "show", f"HEAD~1:{MANIFEST}")


@pytest.mark.parametrize("damage", [_deleted, _emptied, _truncated, _garbage, _merge_markers])
def test_damaged_manifest_is_derived_again(worked: Path, damage: Callable[[Path], None]) -> None:
    """A manifest is healed from history and checkpoints, said to be, and what was in its place is kept in history."""
    before = _again(worked).load_session(*AT)
    assert before["recovered"] == []
    damage(worked / MANIFEST)
    damaged = (worked / MANIFEST).read_bytes() if (worked / MANIFEST).exists() else None
    state = _again(worked).load_session(*AT)
    assert [told[:58] for told in state["recovered"]] == ["session_manifest.md was derived again from the checkpoints"]
    assert {**before, "recovered": 0, "last_updated": 0} == {**state, "recovered": 0, "last_updated": 0}
    assert subjects(worked)[-1] == "Manifest derived again"
    if damaged is not None:
        assert subjects(worked)[-2] == "session_manifest.md as edited by hand"
        kept = subprocess.run(["git", "show", f"HEAD~1:{MANIFEST}"], cwd=worked, capture_output=True, check=True).stdout
        assert damaged == kept
    assert git(worked, "status", "--porcelain") == ""
    assert _again(worked).load_session(*AT)["recovered"] == []


@pytest.mark.parametrize("damage", [_deleted, _emptied, _truncated, _garbage])
def test_damaged_manifest_does_not_stop_a_save(worked: Path, damage: Callable[[Path], None]) -> None:
    """The next save heals the manifest on its way."""
    damage(worked / MANIFEST)
    manager = _again(worked)
    manager.save_checkpoint(*AT, 2, "completed", [AGENT])
    assert manager.load_session(*AT)["completed_phases"] == [1, 2]
    assert is_sound(worked)


def test_damaged_manifest_is_healed_while_the_session_is_open(manager: CheckpointManager, worked: Path) -> None:
    """A manager that has the session open notices too."""
    _emptied(worked / MANIFEST)
    manager.save_checkpoint(*AT, 2, "completed", [AGENT])
    assert manager.load_session(*AT)["completed_phases"] == [1, 2]


def test_list_names_a_session_that_cannot_be_read(manager: CheckpointManager, worked: Path) -> None:
    """One broken session does not hide the others, and is listed with its problem."""
    manager.create_session(PROJECT, "other", USER)
    _emptied(worked / MANIFEST)
    rows = {row["session_id"]: row for row in manager.list_sessions(PROJECT)}
    assert (rows["other"]["status"], rows[SESSION]["status"]) == ("in_progress", "unreadable")
    assert MANIFEST in rows[SESSION]["problem"]


# Checkpoints and feedback


@pytest.mark.parametrize("damage", [_emptied, _truncated, _garbage, _merge_markers])
def test_unreadable_feedback_makes_every_reader_raise(worked: Path, damage: Callable[[Path], None]) -> None:
    """Feedback that cannot be understood counts neither as approved nor as not reviewed."""
    manager = _again(worked)
    assert manager.get_approved_phases(*AT) == [1]
    path = worked / PHASE / "user_feedback.md"
    damage(path)
    for reader in (
        lambda: manager.load_feedback(*AT, 1),
        lambda: manager.get_approved_phases(*AT),
        lambda: manager.save_user_feedback(*AT, 1, reviewed=True, approved=True),
        lambda: manager.save_agent_output(*AT, 1, "concept_expansion", "other"),
        lambda: manager.save_checkpoint(*AT, 1, "completed", [AGENT]),
    ):
        error = refused(worked, ValueError, reader)
        assert str(path) == error.location.path
        assert error.location.line
    is_valid, problems = manager.validate_checkpoint(*AT, 1)
    assert not is_valid
    assert str(path) in problems[0]


@pytest.mark.parametrize("damage", [_emptied, _truncated, _garbage, _merge_markers])
def test_unreadable_checkpoint_makes_every_reader_raise(worked: Path, damage: Callable[[Path], None]) -> None:
    """A checkpoint that cannot be understood is never guessed at: not completed, not pending."""
    manager = _again(worked)
    manager.load_session(*AT)
    path = worked / PHASE / "checkpoint.md"
    damage(path)
    for reader in (
        lambda: manager.load_checkpoint(*AT, 1),
        lambda: manager.load_session(*AT),
        lambda: manager.next_phase(*AT),
        lambda: manager.can_resume(*AT),
        lambda: manager.get_phase_outputs(*AT),
        lambda: _again(worked).load_session(*AT),
        lambda: manager.save_checkpoint(*AT, 1, "completed", [AGENT]),
        lambda: manager.save_checkpoint(*AT, 2, "completed", [AGENT]),
        lambda: manager.complete_session(*AT),
    ):
        error = refused(worked, ValueError, reader)
        assert str(path) == error.location.path
    assert not manager.validate_checkpoint(*AT, 1)[0]


def test_unreadable_output_makes_its_readers_raise(worked: Path) -> None:
    """An output whose form is broken is not handed to the next agent."""
    path = worked / PHASE / "concept_expansion.md"
    path.write_text("# Agent Output\n\n## Metadata\n- Agent: x\n", encoding="utf-8")
    error = refused(worked, InvalidDocument, lambda: _again(worked).get_phase_outputs(*AT))
    assert str(path) == error.location.path


def test_validation_names_an_output_that_is_gone(worked: Path) -> None:
    """A checkpoint that names an output which is not there is not valid."""
    manager = _again(worked)
    manager.save_checkpoint(*AT, 1, "completed", [{**AGENT, "output_file": "concept_expansion.md"}])
    assert manager.validate_checkpoint(*AT, 1) == (True, [])
    (worked / PHASE / "concept_expansion.md").unlink()
    expected = (
        "the output concept_expansion.md of agent concept_expansion is not there.\n"
        f"  {worked / PHASE / 'checkpoint.md'}\n"
        f"Hint: git shows what it was: git log -- {PHASE}/concept_expansion.md"
    )
    assert (False, [expected]) == manager.validate_checkpoint(*AT, 1)


def test_validation_names_what_is_missing(worked: Path) -> None:
    """A phase without folder, without checkpoint, or with the checkpoint of another phase is not valid."""
    manager = _again(worked)
    second, third = worked / "phase_2_market_research", worked / "phase_3_niche_selection"
    expected = f"phase 2 Market Research has no checkpoint yet.\n  {second}"
    assert manager.validate_checkpoint(*AT, 2) == (False, [expected])
    shutil.copy(worked / PHASE / "checkpoint.md", second)
    expected = f"this is the checkpoint of phase 1, not 2.\n  {second / 'checkpoint.md'}"
    assert (False, [expected]) == manager.validate_checkpoint(*AT, 2)
    third.rmdir()
    expected = f"phase 3 has no folder phase_3_niche_selection.\n  {third}"
    assert manager.validate_checkpoint(*AT, 3) == (False, [expected])


@pytest.mark.parametrize("name", ["checkpoint.md", "concept_expansion.md", "user_feedback.md", "reviews/eve.md"])
def test_checks_of_a_phase_and_of_a_session_agree(worked: Path, name: str) -> None:
    """Whatever is wrong with a document of a phase is told alike by the check of the phase and of the session."""
    manager = _again(worked)
    assert manager.validate_session(*AT)["problems"] == []
    path = worked / PHASE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\xff")
    report = manager.validate_session(*AT)
    assert str(path) in report["documents"]
    assert [problem["path"] for problem in report["problems"]] == [str(path)]
    told = [str(Problem.of(problem)) for problem in report["problems"]]
    assert (False, told) == manager.validate_checkpoint(*AT, 1)


def test_a_linked_folder_is_a_problem_of_the_session(worked: Path, tmp_path: Path) -> None:
    """A phase's folder that is a link is told, and what is behind it is not read."""
    (worked / PHASE).rename(tmp_path / "elsewhere")
    (worked / PHASE).symlink_to(tmp_path / "elsewhere")
    report = _again(worked).validate_session(*AT)
    assert [problem["path"] for problem in report["problems"]] == [str(worked / PHASE)]
    assert not [name for name in report["documents"] if PHASE in name]


def test_feedback_of_another_phase_approves_nothing(manager: CheckpointManager, worked: Path) -> None:
    """A copied approval does not count, even where both phases have the same content."""
    shutil.copy(worked / PHASE / "concept_expansion.md", worked / "phase_2_market_research")
    shutil.copy(worked / PHASE / "user_feedback.md", worked / "phase_2_market_research")
    assert manager.get_approved_phases(*AT) == [1]


def test_phase_folder_that_is_gone_comes_back(manager: CheckpointManager, worked: Path) -> None:
    """Creating the session again makes missing phase folders, and nothing else."""
    (worked / "phase_3_niche_selection").rmdir()
    before = snapshot(worked)
    manager.create_session(*AT, USER)
    assert before | {"phase_3_niche_selection": ""} == snapshot(worked)


# Links


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Path]:
    """A folder outside that nothing may touch."""
    folder = tmp_path / "canary"
    folder.mkdir()
    (folder / "secret.md").write_text("secret", encoding="utf-8")
    before = snapshot(folder)
    yield folder
    assert before == snapshot(folder)


@pytest.mark.parametrize("name", ["checkpoint.md", "user_feedback.md"])
def test_linked_document_isrefused(worked: Path, canary: Path, name: str) -> None:
    """A symbolic link in the place of a document is neither read nor written through."""
    path = worked / PHASE / name
    path.unlink()
    path.symlink_to(canary / "secret.md")
    manager = _again(worked)
    for call in (
        lambda: manager.save_agent_output(*AT, 1, "concept_expansion", "x"),
        lambda: manager.save_checkpoint(*AT, 1, "completed", [AGENT]),
        lambda: manager.save_user_feedback(*AT, 1, reviewed=True, approved=True),
    ):
        error = refused(worked, StorageFailure, call)
        assert "symbolic link" in error.message
    is_valid, problems = manager.validate_checkpoint(*AT, 1)
    assert not is_valid
    assert "symbolic link" in problems[0]


def test_linked_output_is_not_written_through(worked: Path, canary: Path) -> None:
    """A symbolic link in the place of an output stays as it is."""
    path = worked / PHASE / "concept_expansion.md"
    path.unlink()
    path.symlink_to(canary / "secret.md")
    manager = _again(worked)
    refused(worked, StorageFailure, lambda: manager.save_agent_output(*AT, 1, "concept_expansion", "x"))
    with pytest.raises(StorageFailure, match="symbolic link"):
        manager.get_approved_phases(*AT)


def test_linked_manifest_isrefused(worked: Path, canary: Path) -> None:
    """The manifest is not read through a link either."""
    (worked / MANIFEST).unlink()
    (worked / MANIFEST).symlink_to(canary / "secret.md")
    refused(worked, StorageFailure, lambda: _again(worked).load_session(*AT))


def _everything(manager: CheckpointManager) -> list[Callable[[], object]]:
    return [
        *_save_everything(manager),
        lambda: manager.load_session(*AT),
        lambda: manager.load_checkpoint(*AT, 1),
        lambda: manager.load_feedback(*AT, 1),
        lambda: manager.get_phase_outputs(*AT, [1]),
        lambda: manager.get_approved_phases(*AT),
        lambda: manager.recover(*AT),
        lambda: manager.create_session(*AT, USER),
    ]


@pytest.mark.parametrize("below", [PHASE, "", ".."], ids=["phase", "session", "sessions"])
def test_linked_folder_isrefused(worked: Path, canary: Path, below: str) -> None:
    """A symbolic link in the place of a folder is not followed: not to a copy of the session, not anywhere."""
    target = Path(os.path.normpath(worked / below))
    shutil.move(target, canary / "moved")
    target.symlink_to(canary / "moved")
    try:
        before = snapshot(canary)
        for call in _everything(_again(worked)):
            error = refused(canary, StorageFailure, call)
            assert "symbolic link" in error.message
        assert before == snapshot(canary)
    finally:
        shutil.rmtree(canary / "moved")


def test_session_is_not_made_through_a_link(base: Path, manager: CheckpointManager, canary: Path) -> None:
    """Neither a linked project nor a linked folder of sessions gets a new session."""
    (base / PROJECT).symlink_to(canary)
    with pytest.raises(StorageFailure, match="symbolic link"):
        manager.create_session(*AT, USER)
    manager.create_session("another", "first", USER)
    shutil.rmtree(base / "another" / "sessions")
    (base / "another" / "sessions").symlink_to(canary)
    with pytest.raises(StorageFailure, match="symbolic link"):
        manager.create_session("another", "second", USER)
