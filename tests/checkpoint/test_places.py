"""Folders that were renamed, copied or belong to somebody else, and manifests that broke under a running manager."""

import os
import shutil
from pathlib import Path

import pytest

from haytham import BrokenRepository, CheckpointManager, InvalidDocument, InvalidInput
from tests.evidence import git

AT = ("p", "s")
OUTPUT = [{"agent_name": "agent_1", "output_content": "text"}]


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    """A manager with one session whose first phase is completed."""
    made = CheckpointManager(tmp_path / "base")
    made.create_session(*AT, "ana")
    made.complete_phase(*AT, 1, OUTPUT)
    return made


@pytest.fixture
def folder(manager: CheckpointManager) -> Path:
    """The folder of that session."""
    return manager.base_dir / "p/sessions/s"


def test_copied_session_says_what_to_do(manager: CheckpointManager, folder: Path) -> None:
    """A copy beside the original is none of its own: the error names both ids and the way on."""
    shutil.copytree(folder, folder.with_name("copy"))
    with pytest.raises(InvalidInput) as caught:
        manager.load_session("p", "copy")
    assert caught.value.message == "the folder is session 'copy', but its manifest says 's'."
    assert "name it 's' again: a copy can lie below another base folder" in caught.value.hint
    with pytest.raises(BrokenRepository) as broken:
        manager.complete_phase("p", "copy", 2, OUTPUT)
    assert "give it its old name again" in broken.value.hint
    rows = {row["session_id"]: row["status"] for row in manager.list_sessions("p")}
    assert rows == {"s": "in_progress", "copy": "unreadable"}


def test_renamed_project_says_what_to_do(manager: CheckpointManager) -> None:
    """A project's folder under another name: its sessions say which name they know."""
    (manager.base_dir / "p").rename(manager.base_dir / "q")
    with pytest.raises(InvalidInput, match="the folder is project 'q', but its manifest says 'p'"):
        CheckpointManager(manager.base_dir).load_session("q", "s")


def test_other_branch_is_switched_back(manager: CheckpointManager, folder: Path) -> None:
    """Where the branch exists, switching to it is the way on."""
    git(folder, "switch", "-q", "-c", "mine")
    with pytest.raises(BrokenRepository) as caught:
        manager.complete_phase(*AT, 2, OUTPUT)
    assert caught.value.hint == "run: git switch sessions/s"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder away")
def test_repository_of_another_user_says_so(manager: CheckpointManager, folder: Path) -> None:
    """A repository that belongs to somebody else is not damaged, and the hint does not say so."""
    for path in (folder, folder / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(BrokenRepository, match="not owned by current user") as caught:
        CheckpointManager(manager.base_dir).load_session(*AT)
    assert caught.value.hint.startswith("it belongs to another user")


@pytest.mark.parametrize("content", [None, b"garbage\n", b""])
def test_running_manager_heals_its_manifest(manager: CheckpointManager, folder: Path, content: bytes | None) -> None:
    """A manifest that is deleted or overwritten while a manager runs is derived again when it next looks."""
    manager.load_session(*AT)
    manifest = folder / "session_manifest.md"
    before = manifest.read_bytes()
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    assert manager.load_session(*AT)["completed_phases"] == [1]
    assert b"| 1 | Concept Expansion | completed |" in manifest.read_bytes()
    assert (len(before) > 100, git(folder, "status", "--short")) == (True, "")


def test_hint_for_a_workflow_is_toml(tmp_path: Path) -> None:
    """What is missing in a workflow file is shown as TOML writes it."""
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\n[modes]\nall = [1]\n[[phases]]\nnumber = 1\n', encoding="utf-8")
    with pytest.raises(InvalidDocument) as caught:
        CheckpointManager(tmp_path / "base", workflows=[path])
    hints = [problem.hint for problem in caught.value.problems]
    assert any(hint.startswith('add "title = …"') for hint in hints)
    assert not any("- " in hint for hint in hints)
