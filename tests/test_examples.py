"""The examples: each one runs as its users run it, and says what its docstring promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def output_of(name: str, *arguments: str, cwd: Path) -> list[str]:
    """Runs an example as a process of its own and returns its lines."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_every_example_is_tested() -> None:
    """A new example needs a test here."""
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == [
        "checkpoint_manager_example.py",
        "custom_workflow.py",
        "orchestrator_async.py",
    ]


def test_reference_usage(tmp_path: Path) -> None:
    """The reference usage saves, reviews, resumes and completes a session."""
    lines = output_of("checkpoint_manager_example.py", "base", cwd=tmp_path)
    assert lines[0].startswith("Session folder: base/project-")
    assert lines[1:6] == [
        "Approved phases: [1]",
        "Completed phases: [1]",
        "Next phase: 2",
        "The concept has 57 characters.",
        "Phase 1 is valid: True []",
    ]
    assert lines[7] == "Phases left out: [2, 3, 6, 7]"
    requirements = tmp_path / lines[6].removeprefix("Requirements: ")
    assert requirements.read_text() == "# Concept\n\nA tablet on the ward listens to the handover.\n"
    assert lines[-1] == "  Session completed"


def test_orchestrator_waits_and_goes_on(tmp_path: Path) -> None:
    """A reviewer's wish reaches the next attempt; after a failure the failed phase runs again, and no other."""
    lines = output_of("orchestrator_async.py", "base", cwd=tmp_path)
    assert lines[1:15] == [
        "Running phase 1",
        "Decision about phase 1, attempt 1: retry_with_changes",
        "Phase 1 is requires_retry",
        "Running phase 1",
        "Attempt 2 is asked to: Name the first customer",
        "Decision about phase 1, attempt 2: approved",
        "Phase 1 is completed",
        "Running phase 2",
        "Attempt 1 stopped: competitor_analysis: try again later",
        "The session is failed, phase 2 is next.",
        "Running phase 2",
        "Phase 2 is completed",
        "Completed phases: [1, 2]",
        "History, oldest first:",
    ]
    assert [line for line in lines[15:] if "by hand" not in line] == [
        "  Session session-1 created",
        "  Phase 1 Concept Expansion completed",
        "  Phase 1 Concept Expansion needs changes",
        "  Phase 1 Concept Expansion completed",
        "  Phase 1 Concept Expansion approved",
        "  Phase 2 Market Research failed",
        "  Phase 2 Market Research completed",
    ]


def test_custom_workflow(tmp_path: Path) -> None:
    """A workflow from a file runs, and its session is read by a manager that never saw the file."""
    lines = output_of("custom_workflow.py", "base", cwd=tmp_path)
    assert lines == [
        "Session folder: base/website/sessions/release-1.4",
        "Phase 1 Collect Changes: completed, review none",
        "Phase 3 Write Notes: completed, review required",
        "Status: completed, phases {1: 'completed', 3: 'completed'}",
        "Approved phases: [3]",
    ]


@pytest.mark.parametrize("name", ["checkpoint_manager_example.py", "custom_workflow.py", "orchestrator_async.py"])
def test_without_a_folder_a_temporary_one_is_printed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an argument an example leaves the current folder alone and says where it worked."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    here = tmp_path / "here"
    here.mkdir()
    lines = output_of(name, cwd=here)
    assert lines[0].startswith(f"Session folder: {tmp_path}/haytham-example-")
    assert list(here.iterdir()) == []
