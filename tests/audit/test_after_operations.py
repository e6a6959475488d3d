"""Whatever is done to sessions with Haytham itself: verification finds nothing afterwards."""

from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import CheckpointManager, ProjectManager
from haytham.documents.migrations import Steps
from haytham.exchange import migration
from tests.evidence import PROJECT, Clock, git
from tests.review.desk import AT, Desk

OTHER = "other"
STEPS: Steps = {"checkpoint": {0: lambda text: text.replace("checkpoint v0 -->", "checkpoint v1 -->", 1)}}


@pytest.fixture
def done(desk: Desk) -> Desk:
    """A session with a second attempt, approvals of one and of two people, and a journal."""
    journal = desk.manager.journal(*AT, 1, "writer")
    journal.save({"task": "draft"}, name="begun")
    journal.close()
    desk.run(1, "first\n")
    desk.decide(1, "retry_with_changes", changes=["shorter"])
    for number in (1, 2, 3):
        desk.run(number, f"text {number}\n")
        desk.approve_all(number)
    return desk


def found(base: Path) -> dict[str, list[str]]:
    """Returns the findings in every folder of every project, by session."""
    projects = ProjectManager(base, clock=Clock())
    return {
        report["session_id"] or project.name: [each["message"] for each in report["findings"]]
        for project in base.iterdir()
        for report in projects.verify_project(project.name)
    }


def _fork(desk: Desk) -> None:
    desk.manager.fork(*AT, OTHER)


def _fork_phase(desk: Desk) -> None:
    desk.manager.fork(*AT, OTHER, phase=1)


def _fork_commit(desk: Desk) -> None:
    for index, entry in enumerate(desk.history()):
        desk.manager.fork(*AT, f"{OTHER}-{index}", commit=entry.id)


def _fork_of_fork(desk: Desk) -> None:
    desk.manager.fork(*AT, OTHER, phase=2)
    desk.manager.fork(PROJECT, OTHER, "another", phase=1)


def _roll_back(desk: Desk) -> None:
    desk.manager.rollback(*AT, phase=1, reason="once more")


def _roll_back_everywhere(desk: Desk) -> None:
    for entry in desk.history():
        desk.manager.rollback(*AT, commit=entry.id)


def _roll_back_and_go_on(desk: Desk) -> None:
    desk.manager.rollback(*AT, phase=1)
    desk.run(2, "another\n")
    desk.approve_all(2)


def _archive(desk: Desk) -> None:
    desk.manager.archive_session(*AT)


def _unarchive(desk: Desk) -> None:
    desk.manager.archive_session(*AT)
    desk.manager.unarchive_session(*AT)


def _clean(desk: Desk) -> None:
    desk.manager.fork(*AT, OTHER)
    desk.manager.gc(PROJECT)


def _delete(desk: Desk) -> None:
    desk.manager.fork(*AT, OTHER)
    desk.manager.delete_session(*AT)


def _repair(desk: Desk) -> None:
    desk.manager.repair(*AT)


def _migrate(desk: Desk) -> None:
    name = "phase_1_draft/checkpoint.md"
    path = desk.folder / name
    path.write_text(path.read_text().replace("checkpoint v1 -->", "checkpoint v0 -->", 1))
    git(desk.folder, "commit", "-q", "-m", "as an older release wrote it", name)
    store = desk.manager._access.store(*AT)
    with store.locked():
        rewrites = migration.plan(store, {name: "checkpoint"}, STEPS)
        assert len(rewrites) == 1
        migration.migrate(store, rewrites)


OPERATIONS: list[Callable[[Desk], None]] = [
    _fork,
    _fork_phase,
    _fork_commit,
    _fork_of_fork,
    _roll_back,
    _roll_back_everywhere,
    _roll_back_and_go_on,
    _archive,
    _unarchive,
    _clean,
    _delete,
    _repair,
    _migrate,
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_is_found(done: Desk, operation: Callable[[Desk], None]) -> None:
    """Neither in the session, nor in one that came of it, nor in the project."""
    heads = [git(done.folder, "rev-parse", "HEAD")]
    operation(done)
    named = found(done.base)
    assert not [words for words in named.values() if words], named
    assert len(named) > 1
    if done.folder.exists():
        assert done.manager.verify_session(*AT, head=heads[0])["findings"] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nothing_is_found_after_the_way_to_another_folder(
    done: Desk, tmp_path: Path, operation: Callable[[Desk], None]
) -> None:
    """Exported and imported, as a project and session by session, with the ids they had and with others."""
    operation(done)
    whole = done.manager.export_project(PROJECT, tmp_path / "project.zip")
    other = CheckpointManager(tmp_path / "elsewhere", clock=done.clock)
    other.import_file(whole["path"])
    other.import_file(whole["path"], as_id="project-2")
    for each in whole["sessions"]:
        path = done.manager.export_session(PROJECT, each, tmp_path / f"{each}.zip")["path"]
        other.import_file(path, project_id="third")
        other.import_file(path, project_id="third", as_id=f"{each}-again")
    named = found(other.base_dir)
    assert not [words for words in named.values() if words], named
    assert len(named) >= 3 + len(whole["sessions"]) * 2
