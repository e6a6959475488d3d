import re
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests import reference
from tests.evidence import git, is_sound, subjects

SOURCES = {"page": reference.page_blocks(), "own": reference.own_blocks()}


@pytest.fixture(scope="module", params=SOURCES)
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Runs the reference usage in an empty folder; that folder, and the names that the code leaves."""
    blocks = SOURCES[request.param]
    if blocks is None:
        pytest.skip("the reference's page is not beside this checkout; the same calls run as code of our own")
    folder = tmp_path_factory.mktemp("work")
    with chdir(folder):
        return folder, reference.run(blocks)


@pytest.fixture
def names(work: tuple[Path, dict[str, Any]]) -> dict[str, Any]:
    """The names that the reference usage leaves."""
    return work[1]


@pytest.fixture
def session(work: tuple[Path, dict[str, Any]]) -> Path:
    """The folder of the session that the reference usage makes."""
    return work[0] / "projects" / "project-123" / "sessions" / "session-456"


def _sections(path: Path) -> list[str]:
    return re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_reference_usage_runs_as_written(names: dict[str, Any], session: Path) -> None:
    """Every call of the reference does what its page says."""
    assert session == session.parents[3] / names["session_dir"]
    state = names["session_state"]
    assert (state["current_phase"], state["completed_phases"], state["status"]) == (3, [1, 2], "in_progress")
    assert state["phase_statuses"] == {1: "completed", 2: "completed", 3: "pending", 6: "pending", 7: "pending"}
    assert names["concept_output"] == "Agent analysis and recommendations..."
    assert names["market_output"] == "What market_intelligence found"
    assert (names["is_valid"], names["errors"]) == (True, [])


def test_state_has_every_documented_key(names: dict[str, Any], session: Path) -> None:
    """`load_session` returns at least what the reference documents."""
    keys = "session_id project_id user_id workflow_type execution_mode created last_updated status current_phase"
    assert {*keys.split(), "completed_phases", "phase_statuses"} <= set(names["session_state"])


def test_folders_and_files_are_the_documented_ones(session: Path) -> None:
    """A session is made of the documented folders, each with its documents."""
    assert sorted(path.name for path in session.iterdir() if path.is_dir() and path.name != ".git") == [
        "phase_1_concept",
        "phase_2_market_research",
        "phase_3_niche_selection",
        "phase_6_validation",
        "phase_7_synthesis",
    ]
    files = sorted(path.name for path in (session / "phase_1_concept").iterdir())
    assert files == ["checkpoint.md", "concept_expansion.md", "user_feedback.md"]


def test_documents_have_the_documented_sections(session: Path) -> None:
    """Each document has the sections of the reference, in their order."""
    phase = session / "phase_1_concept"
    manifest = ["Metadata", "Phase Status", "Current Phase", "Metrics"]
    checkpoint = ["Metadata", "Agents in Phase", "Inputs", "Outputs", "Metrics", "Next Phase"]
    feedback = ["Review Status", "User Comments", "Requested Changes", "Action Taken"]
    assert manifest == _sections(session / "session_manifest.md")
    assert checkpoint == _sections(phase / "checkpoint.md")
    assert _sections(phase / "concept_expansion.md") == ["Metadata", "Execution Details", "Output"]
    assert feedback == _sections(phase / "user_feedback.md")[:4]


def test_documents_say_what_was_saved(session: Path) -> None:
    """The lines of the reference's formats stand in the documents."""
    manifest = (session / "session_manifest.md").read_text(encoding="utf-8")
    assert manifest.startswith("# Session Manifest\n")
    assert "\n- Session ID: session-456\n" in manifest
    assert "| 1 | Concept Expansion | completed | 2024-11-24T10:00:00Z | 2024-11-24T10:02:00Z | 120s |" in manifest
    checkpoint = (session / "phase_1_concept" / "checkpoint.md").read_text(encoding="utf-8")
    assert checkpoint.startswith("# Phase Checkpoint: Concept Expansion\n")
    for line in ("- Duration: 120.5", "- Total Tokens: 15000", "- Cost: $0.0375", "- concept_expansion: completed"):
        assert f"\n{line}\n" in checkpoint
    output = (session / "phase_1_concept" / "concept_expansion.md").read_text(encoding="utf-8")
    assert output.startswith("# Agent Output: Concept Expansion\n")
    assert "\n- Phase: 1 - Concept Expansion\n" in output
    assert output.endswith("\n## Output\n\nAgent analysis and recommendations...")
    feedback = (session / "phase_1_concept" / "user_feedback.md").read_text(encoding="utf-8")
    assert "\n- Reviewed: true\n- Approved: true\n" in feedback
    assert "\nLooks great!\n" in feedback


def test_log_tells_each_phase(session: Path) -> None:
    """Plain `git log` in the session's folder is the story of the session."""
    assert subjects(session) == [
        "Session session-456 created",
        "Phase 1 Concept Expansion completed",
        "Phase 1 Concept Expansion: output of concept_expansion",
        "Phase 1 Concept Expansion approved",
        "Phase 2 Market Research completed",
    ]


def test_trailers_answer_questions(session: Path) -> None:
    """Plain git finds phases and decisions by their trailers."""
    shown = git(session, "log", "--reverse", "--format=%(trailers:key=Haytham-Phase,valueonly,separator=%x2C)")
    assert shown.split("\n") == ["", "1", "1", "1", "2"] or shown.split("\n") == ["1", "1", "1", "2"]
    decision = git(session, "log", "--format=%(trailers:key=Haytham-Decision,valueonly)").split()
    assert decision == ["approved"]


def test_repositories_are_clean_and_sound(session: Path) -> None:
    """`git status` is clean and `git fsck --strict` finds nothing, in the session's and in the project's folder."""
    for folder in (session, session.parent.parent):
        assert git(folder, "status", "--porcelain") == ""
        assert is_sound(folder)
    assert git(session, "branch", "--show-current") == "sessions/session-456"


def test_integration_with_projects(work: tuple[Path, dict[str, Any]]) -> None:
    """The session that a project started is the one that `create_session` finds, untouched."""
    base, names = work
    folder = base / "projects" / names["project"]["project_id"] / "sessions" / names["session"]["session_id"]
    assert [f"Session {names['session']['session_id']} created"] == subjects(folder)
    assert [
        "Project My startup idea created",
        f"Session {names['session']['session_id']} started",
    ] == subjects(folder.parent.parent)
