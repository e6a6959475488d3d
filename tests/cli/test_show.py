"""The command `haytham show`."""

from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import Sample, Shell, process
from tests.cli.test_diff import send_back
from tests.cli.waiting import waiting_session


@pytest.fixture
def repeated(tmp_path: Path) -> Sample:
    """A session whose phase 1 has had two attempts."""
    sample = waiting_session(tmp_path / "projects", review="optional")
    send_back(sample, 1, "the second text\n\x1b[31mred\n")
    return sample


def test_end_to_end(repeated: Sample) -> None:
    """As a process of its own it shows the outputs of a phase as the newest commit has them, all visible."""
    said = process("show", "1", cwd=repeated.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["Phase", "1", "Concept", "Expansion"],
        ["Status", "completed"],
        ["Attempt", "2"],
    ]
    assert lines[-2:] == ["the second text", "\\x1b[31mred"]
    assert "checkpoint.md, user_feedback.md, writer.md" in said.out


def test_an_attempt_and_a_commit(repeated: Sample, shell: Shell) -> None:
    """How it was before, by the number of the attempt or the id of a commit."""
    ids = [each["id"] for each in CheckpointManager(repeated.base).log(*repeated.ids, phase=1)]
    for at in ("1", ids[-1][:7], ids[-1].upper()):
        said = shell("show", "1", "--at", at, "--base-dir", repeated.base)
        assert said.out.splitlines()[-1] == "the first text"
    said = shell("show", "1", "--at", ids[-2], "--document", "user_feedback.md", "--base-dir", repeated.base)
    assert "- Action: retry_with_changes" in said.out


def test_json(repeated: Sample, shell: Shell) -> None:
    """The JSON form is what the manager returns, texts byte for byte."""
    said = shell("show", "1", "--at", "2", "--base-dir", repeated.base, "--json")
    found = CheckpointManager(repeated.base).show_phase(*repeated.ids, 1, 2)
    assert said.json == {"form": "haytham.show", "version": 1, "project_id": "p-1", "session_id": "s-1", **found}
    assert found["documents"]["writer.md"] == (repeated.folder / "phase_1_concept" / "writer.md").read_text()
    one = shell("show", "1", "--document", "checkpoint.md", "--base-dir", repeated.base, "--json")
    assert list(one.json["documents"]) == ["checkpoint.md"]


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["1", "--at", "7"], 1, "Error: phase 1 has no attempt 7.\nHint: attempts: 1, 2.\n"),
        (["1", "--at", "ffff"], 1, "Error: no commit of this session begins with ffff.\n"),
        (["1", "--at", "HEAD~1"], 2, "Error: invalid value for '--at': 'HEAD~1' is neither the number of an attempt"),
        (["4"], 1, "Error: this session has no phase 4.\n"),
        (["2"], 1, "Error: phase 2 Market Research had no documents at commit "),
        (["1", "--document", "x.md"], 1, "Error: the phase had no document 'x.md' then.\nHint: it had: checkpoint.md,"),
        ([], 2, "Error: missing argument 'PHASE'.\n"),
    ],
)
def test_errors(arguments: list[str], code: int, expected: str, repeated: Sample, shell: Shell) -> None:
    """What is not there is named, with what is."""
    said = shell("show", *arguments, "--base-dir", repeated.base)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(expected)
