"""What people do to `project.md`: break it, delete it, edit it. No other project suffers, and nothing is lost."""

from pathlib import Path

import pytest

from haytham import ProjectManager
from haytham.storage.history import Person
from tests.evidence import Clock, Ids, git

ANA = Person(name="Ana", email="ana@example.org")


@pytest.fixture
def manager(tmp_path: Path) -> ProjectManager:
    """A manager with two projects of Ana's."""
    made = ProjectManager(tmp_path, clock=Clock(), new_id=Ids(), identity=lambda: ANA)
    made.create_project("ana", "first idea")
    made.create_project("ana", "second idea")
    return made


def _folder(manager: ProjectManager, number: int) -> Path:
    return manager.base_dir / f"project-{number:012d}"


def test_broken_document_does_not_hide_the_others(manager: ProjectManager) -> None:
    """The other projects are listed, the broken one with its problem, to its own user only."""
    (_folder(manager, 1) / "project.md").write_text("garbage\n", encoding="utf-8")
    listed = manager.list_user_projects("ana")
    assert [(each["startup_idea"], "problem" in each) for each in listed] == [
        ("second idea", False),
        ("first idea", True),
    ]
    assert str(_folder(manager, 1) / "project.md") in listed[1]["problem"]
    assert manager.list_user_projects("bob") == []


def test_document_that_history_cannot_tell_is_listed_for_everybody(manager: ProjectManager) -> None:
    """Where nobody knows whose it is, it is not hidden from anybody."""
    folder = _folder(manager, 1)
    (folder / "project.md").write_text("garbage\n", encoding="utf-8")
    git(folder, "commit", "-qam", "broken")
    (listed,) = manager.list_user_projects("bob")
    assert (listed["project_id"], listed["status"]) == (folder.name, "unreadable")
    assert len(manager.list_user_projects("ana")) == 2


def test_deleted_document_comes_back(manager: ProjectManager) -> None:
    """A deleted document is read from history, and written again with the next change; the deletion is Ana's."""
    folder = _folder(manager, 1)
    before = manager.get_project_status(folder.name)
    (folder / "project.md").unlink()
    assert manager.get_project_status(folder.name) == before
    assert len(manager.list_user_projects("ana")) == 2
    manager.archive_project(folder.name)
    assert (folder / "project.md").read_text(encoding="utf-8").count("first idea") > 0
    assert git(folder, "log", "-3", "--format=%an").split() == ["Haytham", "Ana", "Haytham"]
    assert git(folder, "status", "--short") == ""


def test_edit_is_its_authors(manager: ProjectManager) -> None:
    """What a person changes in the document is committed in their name before it is written again."""
    folder = _folder(manager, 1)
    path = folder / "project.md"
    path.write_text(path.read_text(encoding="utf-8").replace("first idea", "better idea"), encoding="utf-8")
    manager.update_user_preferences(folder.name, {"tone": "short"})
    assert git(folder, "log", "-2", "--format=%an").split() == ["Haytham", "Ana"]
    assert manager.get_project_status(folder.name)["startup_idea"] == "better idea"
