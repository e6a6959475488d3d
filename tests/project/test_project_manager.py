import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from haytham import BrokenRepository, CheckpointManager, HaythamError, NotFound, ProjectManager, StorageFailure
from haytham.storage.project_store import ProjectStore
from tests.evidence import USER, Clock, Ids, git, is_sound, label, refused, snapshot, subjects

WORKFLOW = """
name = "quick"
title = "Quick look"
[modes]
only = [10, 20]
[[phases]]
number = 10
name = "Look"
folder = "look"
agents = ["looker"]
[[phases]]
number = 20
name = "Tell"
folder = "tell"
agents = ["teller"]
"""


@pytest.fixture
def project(projects: ProjectManager) -> str:
    """The id of a fresh project."""
    return projects.create_project(USER, "An idea", "My project")["project_id"]


@pytest.fixture
def session(projects: ProjectManager, project: str) -> str:
    """The id of a session of that project."""
    return projects.start_session(project)["session_id"]


# The usual way


def test_project_is_made(projects: ProjectManager, base: Path) -> None:
    """A project is a folder with its document and a clean history."""
    made = projects.create_project(USER, "An idea\nof two lines", execution_mode="full")
    assert made["project_id"] == "project-000000000001"
    assert (made["project_name"], made["execution_mode"], made["status"]) == ("An idea of two lines", "full", "active")
    folder = base / made["project_id"]
    assert sorted(p.name for p in folder.iterdir()) == [
        ".git",
        ".gitattributes",
        ".gitignore",
        "project.md",
        "sessions",
    ]
    assert subjects(folder) == ["Project An idea of two lines created"]
    assert git(folder, "status", "--porcelain") == ""
    assert made == {k: v for k, v in projects.get_project_status(made["project_id"]).items() if k in made}


def test_session_is_started(projects: ProjectManager, base: Path, project: str) -> None:
    """A session is started in the project's mode, and the project's log tells it."""
    started = projects.start_session(project)
    assert (
        started["session_id"],
        started["user_id"],
        started["execution_mode"],
        started["status"],
    ) == ("session-000000000002", USER, "mvp", "in_progress")
    assert Path(started["path"]) == base / project / "sessions" / started["session_id"]
    status = projects.get_project_status(project)
    assert started["session_id"] == status["current_session"]
    assert status["session_counts"] == {"in_progress": 1}
    assert f"Session {started['session_id']} started" == subjects(base / project)[-1]


def test_sessions_are_listed_newest_first(projects: ProjectManager, project: str) -> None:
    """The sessions of a project, and how many are in which status."""
    ids = [projects.start_session(project)["session_id"] for _ in range(3)]
    projects.sessions.complete_session(project, ids[0])
    status = projects.get_project_status(project)
    assert ids[::-1] == [row["session_id"] for row in status["sessions"]]
    assert status["session_counts"] == {"completed": 1, "in_progress": 2}


def test_session_is_completed(projects: ProjectManager, base: Path, project: str, session: str) -> None:
    """Completing a session keeps its result byte for byte, closes it, and is a commit of the project's."""
    text = "# Requirements\r\n\0no newline at the end"
    result = projects.complete_session(project, session, text, {"score": 0.5, "note": "ünï"})
    assert (
        result["requirements_version"],
        result["status"],
        result["unfinished_phases"],
    ) == (1, "completed", [1, 2, 3, 6, 7])
    assert result["metrics"] == {"total_duration": 0, "total_tokens": 0, "total_cost": 0, "score": 0.5, "note": "ünï"}
    file = base / project / "outputs" / "requirements_v1.md"
    assert str(file) == result["requirements_file"]
    assert text.encode() == file.read_bytes()
    folder = base / project
    assert f"Session {session} completed, requirements v1" == subjects(folder)[-1]
    metrics = git(folder, "log", "-1", "--format=%(trailers:key=Haytham-Metrics,valueonly)")
    assert json.loads(metrics) == {"score": 0.5, "note": "ünï"}
    assert git(folder, "status", "--porcelain") == ""
    assert is_sound(folder)
    assert projects.sessions.load_session(project, session)["status"] == "completed"


def test_each_result_has_its_own_version(projects: ProjectManager, base: Path, project: str, session: str) -> None:
    """A later result never takes the place of an earlier one, whatever else lies beside it."""
    projects.complete_session(project, session, "one")
    (base / project / "outputs" / "requirements_v7.md").write_text("mine", encoding="utf-8")
    (base / project / "outputs" / "notes.md").write_text("mine", encoding="utf-8")
    other = projects.start_session(project)["session_id"]
    assert projects.complete_session(project, other, "two")["requirements_version"] == 8
    contents = {path.name: path.read_text(encoding="utf-8") for path in (base / project / "outputs").iterdir()}
    assert contents == {
        "requirements_v1.md": "one",
        "requirements_v7.md": "mine",
        "requirements_v8.md": "two",
        "notes.md": "mine",
    }
    assert sorted(line.strip() for line in git(base / project, "status", "--porcelain").splitlines()) == [
        "?? outputs/notes.md",
        "?? outputs/requirements_v7.md",
    ]


def test_session_is_closed_once(projects: ProjectManager, base: Path, project: str, session: str) -> None:
    """Closing a session that is closed says nothing new."""
    projects.sessions.complete_session(project, session)
    before = subjects(base / project / "sessions" / session)
    projects.complete_session(project, session, "result")
    assert before == subjects(base / project / "sessions" / session)


def test_projects_are_listed_by_user_and_status(projects: ProjectManager, base: Path) -> None:
    """A user sees their own projects, newest first, and may ask for those of one status."""
    ids = [projects.create_project(user, "x")["project_id"] for user in ("a", "b", "a")]
    (base / "not-a-project").mkdir()
    (base / "file.txt").write_text("x", encoding="utf-8")
    assert [ids[2], ids[0]] == [each["project_id"] for each in projects.list_user_projects("a")]
    projects.archive_project(ids[0])
    assert [ids[0]] == [each["project_id"] for each in projects.list_user_projects("a", "archived")]
    assert [ids[2]] == [each["project_id"] for each in projects.list_user_projects("a", status="active")]
    assert projects.list_user_projects("nobody") == []


def test_preferences_are_kept(projects: ProjectManager, base: Path, project: str) -> None:
    """Preferences are laid over each other, survive, and their change is in the log."""
    assert projects.get_user_preferences(project) == {}
    projects.update_user_preferences(project, {"tone": "dry", "limits": {"cost": 1.5}, "": "empty"})
    projects.update_user_preferences(project, {"tone": "warm"})
    expected = {"tone": "warm", "limits": {"cost": 1.5}, "": "empty"}
    assert expected == ProjectManager(base).get_user_preferences(project)
    assert subjects(base / project)[-1] == "Preferences changed"


def test_preference_cannot_forge_a_trailer(projects: ProjectManager, base: Path, project: str) -> None:
    """The name of a preference stays a name in the log."""
    projects.update_user_preferences(project, {"x\n\nHaytham-Status: archived": 1})
    assert git(base / project, "log", "-1", "--format=%(trailers:key=Haytham-Status,valueonly)") == ""


def test_project_is_archived(projects: ProjectManager, base: Path, project: str, session: str) -> None:
    """Archiving changes the status and nothing else."""
    before = snapshot(base / project / "sessions")
    assert projects.archive_project(project)["status"] == "archived"
    assert projects.get_project_status(project)["status"] == "archived"
    assert before == snapshot(base / project / "sessions")


def test_project_is_deleted(projects: ProjectManager, base: Path, project: str, session: str) -> None:
    """Deleting a project removes it with its sessions, and nothing beside it."""
    other = projects.create_project(USER, "stays")["project_id"]
    before = snapshot(base / other)
    projects.delete_project(project)
    assert [other] == [path.name for path in base.iterdir()]
    assert before == snapshot(base / other)
    with pytest.raises(FileNotFoundError):
        projects.get_project_status(project)


def test_session_of_a_workflow_of_ones_own(tmp_path: Path, base: Path) -> None:
    """A registered workflow runs in its own mode where it does not know the project's, and is read by its own copy."""
    file = tmp_path / "quick.toml"
    file.write_text(WORKFLOW, encoding="utf-8")
    projects = ProjectManager(base, workflows=[file], clock=Clock(), new_id=Ids())
    project = projects.create_project(USER, "An idea")["project_id"]
    started = projects.start_session(project, "quick")
    assert (started["workflow_type"], started["execution_mode"]) == ("quick", "only")
    at = (project, started["session_id"])
    projects.sessions.save_checkpoint(*at, 10, "completed", [])
    file.unlink()
    plain = CheckpointManager(base)
    assert plain.load_session(*at)["phase_statuses"] == {10: "completed", 20: "pending"}
    plain.save_checkpoint(*at, 20, "completed", [])
    assert plain.load_session(*at)["status"] == "completed"


# Bad input


def _each(key: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{key: value} for value in values]


BAD: dict[str, list[dict[str, Any]]] = {
    "create_project": [
        *_each("user_id", ["", "a\nb", None, b"u", "\ud800"]),
        *_each("startup_idea", [None, b"idea", "\ud800", 7]),
        *_each("project_name", ["", "a\nb", 7, "\ud800"]),
        *_each("execution_mode", ["", "fast", None, 1, ["mvp"]]),
    ],
    "start_session": _each("workflow_type", ["", "other", None, [], b"idea_validation"]),
    "complete_session": [
        *_each("requirements_content", [None, b"text", "\ud800", 7]),
        *(
            {"metrics": each}
            for each in ("x", [1], {1: 2}, {"a": float("nan")}, {"a": {1}}, {"a": b"x"}, {"a": "\ud800"})
        ),
        *_each("session_id", ["", "../x", None, 7, b"s"]),
    ],
    "list_user_projects": [
        *_each("user_id", ["", None, 7, "a\nb"]),
        *_each("status", ["", "deleted", 7, True]),
    ],
    "update_user_preferences": _each(
        "preferences", [None, "x", [1], {1: 2}, {"a": float("inf")}, {"a": b"x"}, {"\ud800": 1}]
    ),
}
GOOD: dict[str, dict[str, Any]] = {
    "create_project": {"user_id": USER, "startup_idea": "An idea"},
    "start_session": {"project_id": "project-000000000001"},
    "complete_session": {
        "project_id": "project-000000000001",
        "session_id": "session-000000000002",
        "requirements_content": "text",
    },
    "list_user_projects": {"user_id": USER},
    "get_project_status": {"project_id": "project-000000000001"},
    "update_user_preferences": {"project_id": "project-000000000001", "preferences": {"a": 1}},
    "get_user_preferences": {"project_id": "project-000000000001"},
    "archive_project": {"project_id": "project-000000000001"},
    "delete_project": {"project_id": "project-000000000001"},
}
WITH_PROJECT = [name for name, arguments in GOOD.items() if "project_id" in arguments]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> ProjectManager:
    """A manager with one project and one session; shared, because nothing here may change it."""
    manager = ProjectManager(tmp_path_factory.mktemp("base") / "projects", clock=Clock(), new_id=Ids())
    manager.start_session(manager.create_project(USER, "An idea")["project_id"])
    return manager


@pytest.mark.parametrize(("name", "changes"), [(n, c) for n, values in BAD.items() for c in values], ids=label)
def test_bad_values_arerefused(shared: ProjectManager, name: str, changes: dict[str, Any]) -> None:
    """Every argument is checked before anything is written, and the error helps."""
    call = getattr(shared, name)
    error = refused(shared.base_dir.parent, ValueError, lambda: call(**(GOOD[name] | changes)))
    assert error.hint


@pytest.mark.parametrize("bad", ["", ".", "..", "../x", "a/b", ".git", "a\0", "é", "CON", None, 7, b"p"], ids=label)
@pytest.mark.parametrize("name", WITH_PROJECT)
def test_bad_project_ids_arerefused(shared: ProjectManager, name: str, bad: Any) -> None:
    """No method takes a project id that could not safely name a folder."""
    call = getattr(shared, name)
    error = refused(shared.base_dir.parent, ValueError, lambda: call(**(GOOD[name] | {"project_id": bad})))
    assert "project id" in error.message


@pytest.mark.parametrize("name", WITH_PROJECT)
def test_missing_project_is_not_found(shared: ProjectManager, name: str) -> None:
    """A project that does not exist is not found, and those that exist are named."""
    call = getattr(shared, name)
    error = refused(shared.base_dir.parent, FileNotFoundError, lambda: call(**(GOOD[name] | {"project_id": "other"})))
    assert error.hint == "projects here: project-000000000001."


@pytest.mark.parametrize("name", [each for each in WITH_PROJECT if each != "delete_project"])
def test_folder_without_project_document_is_no_project(projects: ProjectManager, base: Path, name: str) -> None:
    """A folder that only looks like one is not taken for a project."""
    (base / "project-000000000001" / "sessions").mkdir(parents=True)
    with pytest.raises(HaythamError):
        getattr(projects, name)(**GOOD[name])
    assert [path.name for path in (base / "project-000000000001").iterdir()] == ["sessions"]


def test_id_that_is_taken_isrefused(base: Path) -> None:
    """An id maker that repeats itself, or differs by case only, does not overwrite a project."""
    ids = iter(["abc", "abc", "ABC"])
    projects = ProjectManager(base, clock=Clock(), new_id=lambda: next(ids))
    projects.create_project(USER, "first")
    refused(base, ValueError, lambda: projects.create_project(USER, "second"))
    refused(base, ValueError, lambda: projects.create_project(USER, "third"))


# Damage and crashes


@pytest.mark.parametrize("name", ["archive_project", "update_user_preferences", "complete_session"])
@pytest.mark.parametrize("damage", ["gone", "branch"])
def test_no_save_without_the_projects_repository(
    projects: ProjectManager, base: Path, project: str, session: str, damage: str, name: str
) -> None:
    """Where the project's repository is gone or on another branch, saves are refused and write nothing, anywhere."""
    if damage == "gone":
        shutil.rmtree(base / project / ".git")
    else:
        git(base / project, "switch", "-q", "-c", "mine")
    error = refused(base, BrokenRepository, lambda: getattr(projects, name)(**GOOD[name]))
    assert error.hint


def test_linked_project_isrefused(projects: ProjectManager, base: Path, project: str, tmp_path: Path) -> None:
    """A project's folder that is a symbolic link is not followed, not even to be deleted."""
    shutil.move(base / project, tmp_path / "elsewhere")
    (base / project).symlink_to(tmp_path / "elsewhere")
    for call in (
        lambda: projects.archive_project(project),
        lambda: projects.delete_project(project),
        lambda: projects.start_session(project),
        lambda: projects.get_project_status(project),
    ):
        refused(tmp_path, StorageFailure, call)


def test_unreadable_project_makes_its_readers_raise(projects: ProjectManager, base: Path, project: str) -> None:
    """A project document that cannot be understood is named with its place, and never overwritten."""
    (base / project / "project.md").write_text("# Project\n", encoding="utf-8")
    for call in (
        lambda: projects.get_project_status(project),
        lambda: projects.archive_project(project),
        lambda: projects.start_session(project),
    ):
        error = refused(base, ValueError, call)
        assert str(base / project / "project.md") == error.location.path


def test_edit_of_the_project_document_is_kept(projects: ProjectManager, base: Path, project: str) -> None:
    """What a person changed in the document is in history before it is written anew, and stays in it."""
    path = base / project / "project.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n## My Notes\n\nmine\n", encoding="utf-8")
    projects.archive_project(project)
    assert subjects(base / project)[-2:] == ["project.md as edited by hand", "Project archived"]
    assert "\n## My Notes\n\nmine\n" in path.read_text(encoding="utf-8")


def test_result_without_its_commit_is_committed(
    projects: ProjectManager, base: Path, project: str, session: str
) -> None:
    """A result that was written when the process died enters history with the next change."""
    store = ProjectStore(base / project, clock=Clock(), lock_timeout=5)
    (base / project / "outputs").mkdir()
    with store.locked():
        store.save({"outputs/requirements_v1.md": b"result"})
    (base / project / "outputs" / "mine.md").write_text("mine", encoding="utf-8")
    projects.archive_project(project)
    assert subjects(base / project)[-2:] == ["What a crash had left uncommitted", "Project archived"]
    assert git(base / project, "status", "--porcelain") == "?? outputs/mine.md"
    assert is_sound(base / project)


def test_half_made_project_is_not_seen(projects: ProjectManager, base: Path, project: str) -> None:
    """What a process that died while making or deleting a project left is not listed."""
    shutil.copytree(base / project, base / ".project-2.0123456789ab.haytham-tmp")
    assert [project] == [each["project_id"] for each in projects.list_user_projects(USER)]


def test_missing_session_is_not_found(projects: ProjectManager, project: str) -> None:
    """A session of another project is not this project's."""
    other = projects.create_project(USER, "other")["project_id"]
    session = projects.start_session(other)["session_id"]
    with pytest.raises(NotFound):
        projects.complete_session(project, session, "text")


@pytest.mark.parametrize("is_on_another_branch", [True, False])
def test_project_that_cannot_note_it(
    projects: ProjectManager, base: Path, project: str, session: str, *, is_on_another_branch: bool
) -> None:
    """Where the project's history cannot tell of it, no session is started, and none is completed."""
    if is_on_another_branch:
        git(base / project, "switch", "-q", "-c", "mine")
    else:
        (base / project / "project.md").write_text("no project\n")
    refused(base, HaythamError, lambda: projects.start_session(project))
    refused(base, HaythamError, lambda: projects.complete_session(project, session, "text"))
