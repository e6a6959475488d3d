"""What a project manager answers about many projects and sessions at once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from haytham import CheckpointManager, ProjectManager
from haytham.project import timeline
from haytham.storage.history import Entry, Person
from tests.evidence import USER, Clock, Ids, git, snapshot


@pytest.fixture
def projects(tmp_path: Path) -> ProjectManager:
    """A manager of two projects, the second of which has a session."""
    manager = ProjectManager(tmp_path / "projects", clock=Clock(), new_id=Ids())
    manager.create_project(USER, "one")
    manager.start_session(manager.create_project(USER, "two")["project_id"])
    return manager


def _second(projects: ProjectManager) -> tuple[str, str]:
    project = projects.project_ids()[1]
    return project, projects.sessions.session_ids(project)[0]


def _entry(name: str, hour: int, head: str | None = None) -> Entry:
    time, trailers = datetime(2026, 1, 1, hour, tzinfo=UTC), {"Haytham-Head": head} if head else {}
    return Entry(id=name, author=Person(name="Ada", email=""), time=time, subject=name, body="", trailers=trailers)


def test_projects_are_listed_with_their_sessions(projects: ProjectManager) -> None:
    """Each project is listed as `get_project_status` tells it, by id; a folder of somebody else's is not."""
    (projects.base_dir / "notes").mkdir()
    ids = projects.project_ids()
    assert ids == ["project-000000000001", "project-000000000002"]
    assert projects.list_projects() == [projects.get_project_status(each) for each in ids]


def test_a_project_that_cannot_be_read_is_listed_with_its_problem(projects: ProjectManager) -> None:
    """A broken document hides neither its project nor the others, and is not changed."""
    first, second = projects.project_ids()
    (projects.base_dir / first / "project.md").write_text("nothing of ours")
    before = snapshot(projects.base_dir)
    broken, sound = projects.list_projects()
    assert (broken["project_id"], broken["status"], broken["sessions"]) == (first, "unreadable", [])
    assert "project.md" in broken["problem"]
    assert sound == projects.get_project_status(second)
    assert before == snapshot(projects.base_dir)


def test_history_of_a_project_has_those_of_its_sessions(projects: ProjectManager) -> None:
    """The project's own commits and those of each session are told as one, by time."""
    project, session = _second(projects)
    events = projects.history(project)
    of_session = [event.entry.id for event in events if event.session_id == session]
    own = [event.entry.id for event in events if event.session_id is None]
    folder = projects.base_dir / project
    assert of_session == git(folder / "sessions" / session, "log", "--format=%H").splitlines()
    assert own == git(folder, "log", "--format=%H").splitlines()
    times = [event.entry.time for event in events]
    assert times == sorted(times, reverse=True)


def test_a_clock_that_went_back_reorders_no_history() -> None:
    """Histories are merged by time, and each keeps its own order."""
    own = [_entry("p3", 8), _entry("p2", 12), _entry("p1", 7)]
    events = timeline.interleaved({"s-1": [_entry("s2", 11), _entry("s1", 9)]}, own)
    assert [event.entry.id for event in events] == ["s2", "s1", "p3", "p2", "p1"]
    assert {event.session_id for event in events if event.entry.id.startswith("p")} == {None}


def test_causes_come_before_what_they_cause() -> None:
    """In one second, a session's commits stand before what the project notes of them, and after what it noted first."""
    own = [_entry("completed", 8, "s3"), _entry("started", 8, "s1"), _entry("created", 8)]
    events = timeline.interleaved({"s-1": [_entry("s3", 8), _entry("s2", 8), _entry("s1", 8)]}, own)
    assert [event.entry.id for event in events] == ["completed", "s3", "s2", "started", "s1", "created"]


def test_a_project_is_checked_with_its_sessions(projects: ProjectManager) -> None:
    """The check of a project has one report for it and one for each session; nothing is changed."""
    project, session = _second(projects)
    folder = projects.base_dir / project
    assert [report["problems"] for report in projects.validate_project(project)] == [[], []]
    (folder / "project.md").write_text("# Project\n")
    (folder / "sessions" / session / "session_manifest.md").write_text("")
    before = snapshot(projects.base_dir)
    own, of_session = projects.validate_project(project)
    assert (own["folder"], of_session["folder"]) == (str(folder), str(folder / "sessions" / session))
    assert {problem["path"] for problem in own["problems"]} == {str(folder / "project.md")}
    manifest = folder / "sessions" / session / "session_manifest.md"
    assert {problem["path"] for problem in of_session["problems"]} == {str(manifest)}
    assert before == snapshot(projects.base_dir)


def test_an_overview_is_the_session_with_its_phases(projects: ProjectManager) -> None:
    """An overview says what `load_session` says, and how each phase stands."""
    ids = _second(projects)
    sessions: CheckpointManager = projects.sessions
    sessions.complete_phase(*ids, 1, [{"agent_name": "concept_expansion", "output_content": "x", "cost": 0.5}])
    overview, state = sessions.overview(*ids), sessions.load_session(*ids)
    assert {key: overview[key] for key in state} == state  # type: ignore[literal-required]
    assert [row["number"] for row in overview["phases"]] == [phase.number for phase in sessions.phases(*ids)]
    first, second = overview["phases"][:2]
    assert (first["status"], first["cost"], first["review"], first["attempt"]) == ("completed", 0.5, "open", 1)
    assert (second["status"], second["cost"], second["review"], second["attempt"]) == ("pending", None, None, None)
    assert (overview["problems"], overview["rescued_files"]) == ([], [])


def test_an_overview_tells_a_form_that_cannot_be_understood(projects: ProjectManager) -> None:
    """A broken form is a word in its row and a problem with its place; the other phases are told as ever."""
    ids = _second(projects)
    projects.sessions.complete_phase(*ids, 1, [{"agent_name": "concept_expansion", "output_content": "x"}])
    form = projects.sessions.form(*ids, 1)
    form.write_text(form.read_text().replace("- Action:", "- Action: perhaps"))
    overview = projects.sessions.overview(*ids)
    assert overview["phases"][0]["review"] == "unreadable"
    assert [problem["path"] for problem in overview["problems"]] == [str(form)]
    assert overview["phases"][1]["review"] is None


def test_a_void_approval_is_told_as_data_and_in_words(projects: ProjectManager) -> None:
    """An approval of content that changed is the review's `previous`, with why it is void."""
    ids = _second(projects)
    sessions = projects.sessions
    sessions.complete_phase(*ids, 1, [{"agent_name": "concept_expansion", "output_content": "x"}])
    sessions.save_user_feedback(*ids, 1, reviewed=True, approved=True, reviewer="Rita")
    assert sessions.review(*ids, 1)["previous"] is None
    sessions.save_agent_output(*ids, 1, "concept_expansion", "y")
    previous = sessions.review(*ids, 1)["previous"]
    assert previous is not None
    assert (previous["decision"], previous["reviewer"], previous["attempt"]) == ("approved", "Rita", 1)
    assert previous["void_because"]
    void = f"approved by Rita, void because {previous['void_because']}"
    assert sessions.overview(*ids)["phases"][0]["void"] == void
