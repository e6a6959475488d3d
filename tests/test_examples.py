"""The examples: each one runs as its users run it, and says what its docstring promises."""

import re
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
        "agent_loop.py",
        "checkpoint_manager_example.py",
        "crash_and_resume.py",
        "custom_workflow.py",
        "orchestrator_async.py",
        "three_day_project.py",
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


def test_agent_loop(tmp_path: Path) -> None:
    """A guarded loop is saved every half hour, rolled back, refreshed after two hours, and halted when it is stuck."""
    lines = output_of("agent_loop.py", "base", cwd=tmp_path)
    assert lines == [
        "Session folder: base/nightdesk/sessions/session-1",
        "09:10 step 1: saved",
        "09:40 step 4: saved",
        "10:10 step 7: saved",
        "10:10 deploy failed: server 3 does not answer; decisions now: []",
        "10:40 step 10: saved",
        "11:00 refresh: 7200 seconds since the start, at most 7200 are wanted",
        "agent market_intelligence was halted: search with the same arguments 5 times in a row, 5 are a loop.",
        "Recovery points:",
        "  step 7, in_progress: ConnectionError: server 3 does not answer",
        "  step 7, in_progress: deploy failed: ConnectionError: server 3 does not answer",
        "  step 12, in_progress: 7200 seconds since the start, at most 7200 are wanted",
        "  step 19, halted: search with the same arguments 5 times in a row, 5 are a loop.",
        "Entries: 10; a cleanup would keep 8",
    ]


def test_crash_and_resume(tmp_path: Path) -> None:
    """An agent that SIGKILL ended loses no acknowledged step, and another process finishes its work."""
    lines = output_of("crash_and_resume.py", "base", cwd=tmp_path)
    first = re.fullmatch(r"The agent ended with code -9 after steps 1 to (\d+)\.", lines[1])
    resumed = re.fullmatch(r"Resuming at step (\d+) with (\d+) messages, read in \d+\.\d ms\.", lines[3])
    assert first is not None
    assert resumed is not None
    assert 80 <= int(first[1]) <= int(resumed[1]) == int(resumed[2]) < 200
    assert lines[2] == "Acknowledged steps that are lost: 0; problems: []"
    assert lines[4:7] == [
        f"The agent ended with code 0 after steps {int(resumed[1]) + 1} to 200.",
        "Steps saved once each: True",
        "Status: completed",
    ]
    size = re.fullmatch(r"Size: ([\d,]+) bytes; 200 whole states would take ([\d,]+)\.", lines[7])
    assert size is not None
    assert int(size[1].replace(",", "")) * 50 < int(size[2].replace(",", ""))


def test_three_day_project(tmp_path: Path) -> None:
    """Three days with a fork: the branches are independent, retention is told before it is done, the tree is shown."""
    lines = output_of("three_day_project.py", "base", cwd=tmp_path)
    figures = re.compile(r"  [\d,]+ bytes; [\d,]+ as whole states, (\d+)% saved")
    assert [line for line in lines if not figures.fullmatch(line)] == [
        "Session folder: base/nightdesk/sessions/session-1",
        "day 1 on the main branch: 2 tasks",
        "day 2 on the main branch: 3 tasks",
        "day 3 on experiment: 2 tasks",
        "day 3 on the main branch: 3 tasks",
        "Hooks were called 22 times, last: ['before day 3', 'after day 3']",
        "concept_expansion: 8 tasks, 9600 tokens, $0.0144",
        "  landmarks: day 1, day 2, day 3",
        "concept_expansion@experiment: 7 tasks, 8400 tokens, $0.0126",
        "  landmarks: fork, day 3",
        "Of 11 entries 6 would stay with a limit of 100",
        "Of 11 entries 4 would stay with a limit of 4",
        "Removed: 5; the experiment still has 7 tasks",
        "Tree:",
        "  concept_expansion: 6 entries",
        "    concept_expansion@experiment: 4 entries",
    ]
    saved = [int(found[1]) for line in lines if (found := figures.fullmatch(line))]
    assert [percent > 70 for percent in saved] == [True, True]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
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
