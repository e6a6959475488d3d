"""Exports and imports through the API."""

import threading
import zipfile
from pathlib import Path

import pytest

from haytham import CheckpointManager, InvalidInput, NotFound, ProjectManager
from haytham.domain.errors import InvalidDocument, StorageFailure
from haytham.session.handle import Session
from tests.evidence import PROJECT, SESSION, USER, Clock, git, is_sound, snapshot, subjects
from tests.exchange.conftest import AT


def documents(folder: Path) -> dict[str, bytes | str]:
    """Returns everything in a folder but git's own."""
    return {name: data for name, data in snapshot(folder).items() if ".git" not in name.split("/")}


def log(folder: Path) -> str:
    """Returns what git itself tells about a history, with every id, author, time and message."""
    return git(folder, "log", "--format=raw")


def test_same_history_same_state_byte_for_byte(
    manager: CheckpointManager, other: CheckpointManager, session: Path, tmp_path: Path
) -> None:
    """An imported session has the same log, the same files and the same state, down to the last byte."""
    (session / "notes of mine.txt").write_bytes(b"\xff\x00 kept\r\n")
    form = session / "phase_2_market_research" / "user_feedback.md"
    form.write_text(form.read_text().replace("## User Comments\n", "## User Comments\n\nhalf a thought"))
    before = documents(session)
    record = manager.export_session(*AT, tmp_path)
    assert record["path"] == str(tmp_path / f"{SESSION}.haytham.zip")
    arrived = Path(other.import_file(record["path"])["path"])
    assert before == documents(session) == documents(arrived)
    assert log(session) == log(arrived)
    assert git(session, "status", "--short") == git(arrived, "status", "--short") != ""
    assert is_sound(arrived)
    assert manager.load_session(*AT) == other.load_session(*AT)
    assert manager.overview(*AT) == other.overview(*AT)
    assert manager.review(*AT, 1)["approved"] is other.review(*AT, 1)["approved"] is True
    journals = [each.journal(*AT, 2, "market_intelligence") for each in (manager, other)]
    states = [journal.state_at(entry) for journal in journals if (entry := journal.latest())]
    assert states[0] == states[1] != {}
    assert other.journal(*AT, 2, "market_intelligence").verify() == []


def test_work_goes_on_where_it_was(
    manager: CheckpointManager, other: CheckpointManager, session: Path, tmp_path: Path
) -> None:
    """A phase that was in progress is ours there too, nobody's edit, and can be completed."""
    other.import_file(manager.export_session(*AT, tmp_path)["path"])
    state = other.load_session(*AT)
    assert (state["edited_files"], state["phase_statuses"][3]) == ([], "in_progress")
    other.journal(*AT, 3, "decision_agent").save({"partial_results": ["day shifts"]})
    other.complete_phase(*AT, 3, [{"agent_name": "decision_agent", "output_content": "go"}])
    assert other.load_session(*AT)["phase_statuses"][3] == "completed"
    assert other.validate_session(*AT)["problems"] == []


def test_export_is_deterministic_and_changes_nothing(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """The same session gives the same bytes, also after git packed its objects anew."""
    before = snapshot(session)
    first = manager.export_session(*AT, tmp_path / "first.zip")
    assert before == snapshot(session)
    git(session, "gc", "--quiet")
    second = manager.export_session(*AT, tmp_path / "second.zip")
    assert first["sha256"] == second["sha256"]
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_git_alone_can_read_the_history(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """Without Haytham: unzip, and clone the bundle."""
    with zipfile.ZipFile(manager.export_session(*AT, tmp_path)["path"]) as file:
        file.extractall(tmp_path / "unzipped")
    inside = tmp_path / "unzipped" / "sessions" / SESSION
    git(session, "bundle", "verify", "--quiet", str(inside / "history.bundle"))
    git(tmp_path, "clone", "--quiet", str(inside / "history.bundle"), "cloned")
    assert subjects(session) == subjects(tmp_path / "cloned")
    assert git(tmp_path / "cloned", "branch", "--show-current") == f"sessions/{SESSION}"
    name = "phase_1_concept/concept_expansion.md"
    assert (inside / "files" / name).read_bytes() == (session / name).read_bytes()


def test_import_tells_the_project(
    manager: CheckpointManager, other: CheckpointManager, session: Path, tmp_path: Path
) -> None:
    """The project's own log has the arrival; a project that is not there is made."""
    other.import_file(manager.export_session(*AT, tmp_path)["path"])
    project = other.base_dir / PROJECT
    assert subjects(project) == [f"Project {PROJECT} created", f"Session {SESSION} imported"]
    assert git(project, "status", "--short") == ""
    assert [each["session_id"] for each in other.list_sessions(PROJECT)] == [SESSION]


def test_never_overwrites(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """A session that exists is refused, with a way out, and stays as it is; so is one that differs only by case."""
    path = manager.export_session(*AT, tmp_path)["path"]
    before = snapshot(manager.base_dir)
    with pytest.raises(InvalidInput, match="exists already") as caught:
        manager.import_file(path)
    assert caught.value.hint == "nothing was overwritten; choose another id with --as."
    with pytest.raises(InvalidInput, match="differs only by case"):
        manager.import_file(path, as_id=SESSION.upper())
    with pytest.raises(InvalidInput, match="not allowed"):
        manager.import_file(path, as_id="../x")
    assert before == snapshot(manager.base_dir)
    with pytest.raises(InvalidInput, match="there is such a file already"):
        manager.export_session(*AT, tmp_path)
    with pytest.raises(NotFound):
        manager.export_session(*AT, tmp_path / "nowhere" / "x.zip")


def test_another_id_is_one_commit_on_top(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """Under another id the history is the same, with one commit that says where it came from."""
    manifest = session / "session_manifest.md"
    manifest.write_bytes(manifest.read_bytes() + b"\nA word of mine.\n")
    path = manager.export_session(*AT, tmp_path)["path"]
    record = manager.import_file(path, project_id="project-9", as_id="second")
    folder = Path(record["path"])
    assert subjects(folder) == [
        *subjects(session),
        "session_manifest.md as edited by hand",
        "Imported as project-9/second",
    ]
    trailer = git(folder, "log", "-1", "--format=%(trailers:key=Haytham-Imported-From,valueonly)")
    assert trailer == f"{PROJECT}/{SESSION}"
    assert b"A word of mine." in (folder / "session_manifest.md").read_bytes()
    state = manager.load_session("project-9", "second")
    assert (state["project_id"], state["session_id"]) == ("project-9", "second")
    assert state["phase_statuses"] == manager.load_session(*AT)["phase_statuses"]
    assert manager.get_approved_phases("project-9", "second") == manager.get_approved_phases(*AT)
    assert manager.validate_session("project-9", "second")["problems"] == []
    assert manager.journal("project-9", "second", 2, "market_intelligence").verify() == []


def test_project(projects: ProjectManager, other: CheckpointManager, tmp_path: Path) -> None:
    """A project comes with its sessions and results, byte for byte; under another id with one commit each."""
    made = projects.create_project("ada", "an idea", "Nightdesk")["project_id"]
    sessions = [projects.start_session(made)["session_id"] for _ in range(2)]
    projects.complete_session(made, sessions[0], "# Requirements")
    record = projects.sessions.export_project(made, tmp_path)
    assert (record["kind"], record["sessions"]) == ("project", sessions)
    other.import_file(record["path"])
    theirs, ours = other.base_dir / made, projects.base_dir / made
    assert documents(ours) == documents(theirs)
    for place in (".", *(f"sessions/{each}" for each in sessions)):
        assert log(ours / place) == log(theirs / place)
        assert is_sound(theirs / place)
    again = other.import_file(record["path"], as_id="copy")
    assert again["original_project_id"] == made
    assert ProjectManager(other.base_dir).get_project_status("copy")["project_id"] == "copy"
    assert [other.load_session("copy", each)["project_id"] for each in sessions] == ["copy", "copy"]
    with pytest.raises(InvalidInput, match="exists already"):
        other.import_file(record["path"])
    with pytest.raises(InvalidInput, match="goes into no other project"):
        other.import_file(record["path"], project_id="x")


def test_export_refuses_what_an_import_would(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """A document that cannot be understood, a link, a name that not every disk takes: named, and no file made."""
    form = session / "phase_1_concept" / "user_feedback.md"
    good = form.read_bytes()
    form.write_bytes(good.replace(b"- Action: approved", b"- Action: aproved"))
    with pytest.raises(InvalidDocument, match="aproved") as caught:
        manager.export_session(*AT, tmp_path / "x.zip")
    assert caught.value.location.path.endswith("phase_1_concept/user_feedback.md")
    form.write_bytes(good)
    (session / "link").symlink_to("/etc/passwd")
    with pytest.raises(StorageFailure, match="symbolic link"):
        manager.export_session(*AT, tmp_path / "x.zip")
    (session / "link").unlink()
    (session / "a\\b").write_bytes(b"")
    with pytest.raises(InvalidInput, match="not every file system"):
        manager.export_session(*AT, tmp_path / "x.zip")
    (session / "a\\b").unlink()
    assert not (tmp_path / "x.zip").exists()
    Session(manager, *AT).export(tmp_path / "x.zip")
    assert (tmp_path / "x.zip").exists()


def test_two_imports_at_once(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """Of two that import the same file, one succeeds and the other is refused; what appears is whole."""
    path = manager.export_session(*AT, tmp_path)["path"]
    told: list[str] = []

    def run() -> None:
        try:
            CheckpointManager(tmp_path / "both", clock=Clock()).import_file(path)
            told.append("done")
        except InvalidInput:
            told.append("refused")

    threads = [threading.Thread(target=run) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(told) == ["done", "refused"]
    assert CheckpointManager(tmp_path / "both").validate_session(*AT)["problems"] == []
    assert USER == CheckpointManager(tmp_path / "both").load_session(*AT)["user_id"]
