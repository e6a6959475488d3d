"""The command `haytham resume`."""

from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import Sample, Shell, process
from tests.cli.waiting import attempt, waiting_session


def test_end_to_end(tmp_path: Path) -> None:
    """As a process of its own it lists what is left to do, in order, with reasons, and what to type first."""
    sample = waiting_session(tmp_path / "projects")
    said = process("resume", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out == (
        "#  Phase              Do      Because\n"
        "1  Concept Expansion  review  it needs 1 more approval\n"
        "2  Market Research    run     it has not run yet\n"
        "3  Niche Selection    run     it has not run yet\n"
        "6  Validation         run     it has not run yet\n"
        "7  Final Synthesis    run     it has not run yet\n"
        "\n"
        "Decide: haytham review 1\n"
    )
    assert CheckpointManager(sample.base).history(*sample.ids)[0].subject == "Phase 1 Concept Expansion completed"


def test_stale_and_sent_back(tmp_path: Path, shell: Shell) -> None:
    """A phase made from content that has changed is to run again; one that was sent back, to retry."""
    sample = waiting_session(tmp_path, review="optional")
    attempt(sample, 2, "two\n")
    attempt(sample, 3, "three\n")
    CheckpointManager(tmp_path).save_user_feedback(
        *sample.ids, 3, reviewed=True, approved=False, requested_changes=["a", "b"], action="retry_with_changes"
    )
    output = sample.folder / "phase_1_concept" / "writer.md"
    output.write_text(output.read_text() + "more\n")
    said = shell("resume", "--base-dir", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert "2  Market Research  run again  phase 1 Concept Expansion changed after it was" in said.out
    assert "3  Niche Selection  retry      2 changes requested\n" in said.out


def test_json(tmp_path: Path, shell: Shell) -> None:
    """The JSON form holds the steps as the manager returns them."""
    sample = waiting_session(tmp_path)
    said = shell("resume", "--base-dir", tmp_path, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json == {
        "form": "haytham.resume",
        "version": 1,
        "project_id": "p-1",
        "session_id": "s-1",
        "steps": CheckpointManager(tmp_path).resume(*sample.ids),
    }


def test_nothing_left(tmp_path: Path, shell: Shell) -> None:
    """A session in which everything ran and was approved has nothing left."""
    sample = waiting_session(tmp_path, review="none")
    for number in (2, 3, 6, 7):
        attempt(sample, number, "text\n")
    assert shell("resume", "--base-dir", tmp_path).out == "Nothing is left to do.\n"


def test_errors(tmp_path: Path, sample: Sample, shell: Shell) -> None:
    """A folder, a project or a session that is not there is reported in the usual form."""
    said = shell("resume", "--base-dir", tmp_path / "nowhere")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: there is no such folder.\n")
    said = shell("resume", "--base-dir", sample.base, "--project", sample.project, "--session", "nope")
    assert said.err.startswith(f"Error: project '{sample.project}' has no session 'nope'.\n")
