"""The command `haytham diff`."""

from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import Sample, Shell, in_terminal, process
from tests.cli.waiting import attempt, waiting_session


def send_back(sample: Sample, number: int, text: str) -> None:
    """Asks for changes, and runs the phase again."""
    CheckpointManager(sample.base).save_user_feedback(
        *sample.ids, number, reviewed=True, approved=False, requested_changes=["x"], action="retry_with_changes"
    )
    attempt(sample, number, text)


@pytest.fixture
def repeated(tmp_path: Path) -> Sample:
    """A session whose phase 1 has had three attempts."""
    sample = waiting_session(tmp_path / "projects", review="optional")
    send_back(sample, 1, "the second text\n")
    send_back(sample, 1, "the third text\n\x1b[31mred\n\tindented\n")
    return sample


def test_end_to_end(repeated: Sample) -> None:
    """As a process of its own it shows what changed between the last two attempts, every character visible."""
    said = process("diff", cwd=repeated.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[:2] == ["--- attempt 2/writer.md", "+++ attempt 3/writer.md"]
    assert "-the second text" in lines
    assert lines[-3:] == ["+the third text", "+\\x1b[31mred", "+   indented"]


def test_other_attempts(repeated: Sample, shell: Shell) -> None:
    """Any two attempts can be compared, in either direction."""
    out = shell("diff", "1", "--from", "1", "--to", "2", "--base-dir", repeated.base).out
    assert "\n-the first text\n+the second text\n" in out
    out = shell("diff", "1", "--to", "2", "--base-dir", repeated.base).out
    assert "\n-the first text\n+the second text\n" in out
    assert "\n-the third text\n" in shell("diff", "--from", "3", "--to", "1", "--base-dir", repeated.base).out


def test_json(repeated: Sample, shell: Shell) -> None:
    """The JSON form holds the diff as the manager returns it, with the attempts it is about."""
    said = shell("diff", "--base-dir", repeated.base, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json == {
        "form": "haytham.diff",
        "version": 1,
        "project_id": "p-1",
        "session_id": "s-1",
        "phase_num": 1,
        "from": 2,
        "to": 3,
        "other_session_id": None,
        "diff": CheckpointManager(repeated.base).diff(*repeated.ids, 1),
    }


def test_only_meaning_is_compared(repeated: Sample, shell: Shell) -> None:
    """When an agent ran, and for how long, is no difference."""
    out = shell("diff", "--from", "1", "--to", "2", "--base-dir", repeated.base).out
    changed = [line for line in out.splitlines() if line[:1] in "+-" and line[:3] not in {"+++", "---"}]
    assert changed == ["-the first text", "+the second text"]


def test_commits(repeated: Sample, shell: Shell) -> None:
    """Two commits are compared by their ids, as the log shows them."""
    ids = [each["id"] for each in CheckpointManager(repeated.base).log(*repeated.ids, phase=1)]
    said = shell("diff", "1", "--from", ids[-1][:7], "--to", ids[0], "--base-dir", repeated.base)
    assert said.out.startswith(f"--- commit {ids[-1][:7]}/writer.md\n+++ commit {ids[0][:7]}/writer.md\n")
    said = shell("diff", "1", "--from", "ffffffff", "--base-dir", repeated.base)
    hint = f"Hint: haytham log --base-dir {repeated.base} shows the commits with their ids.\n"
    assert (said.code, said.err) == (1, f"Error: no commit of this session begins with ffffffff.\n{hint}")
    assert shell("diff", "1", "--to", ids[0], "--base-dir", repeated.base).err.endswith("Hint: add --from.\n")


def test_sessions(repeated: Sample, shell: Shell) -> None:
    """Two sessions are compared phase by phase, by what their newest commits have."""
    waiting_session(repeated.base, "s-2")
    said = shell("diff", "--session", "s-1", "--with", "s-2", "--base-dir", repeated.base)
    assert said.out.startswith("--- s-1/phase_1_concept/writer.md\n+++ s-2/phase_1_concept/writer.md\n")
    assert "\n-the third text\n" in said.out
    form = shell("diff", "1", "--session", "s-1", "--with", "s-2", "--base-dir", repeated.base, "--json").json
    assert (form["phase_num"], form["from"], form["other_session_id"]) == (1, None, "s-2")
    said = shell("diff", "--session", "s-1", "--with", "s-1", "--base-dir", repeated.base)
    assert said.out == "Sessions s-1 and s-1 have the same outputs.\n"
    said = shell("diff", "--session", "s-1", "--with", "s-2", "--from", "1", "--base-dir", repeated.base)
    assert said.err.startswith("Error: --with compares what is newest; --from and --to are about one session.\n")


def test_no_difference(repeated: Sample, shell: Shell) -> None:
    """Two equal attempts are called equal."""
    said = shell("diff", "--from", "2", "--to", "2", "--base-dir", repeated.base)
    assert (said.code, said.out) == (0, "Attempts 2 and 2 have the same outputs.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--from", "7"], 1, "Error: phase 1 has no attempt 7.\nHint: attempts: 1, 2, 3.\n"),
        (["--to", "1"], 1, "Error: phase 1 Concept Expansion has no attempt before 1.\n"),
        (["2"], 1, "Error: phase 2 Market Research has no attempt before 1.\n"),
        (["4"], 1, "Error: this session has no phase 4.\nHint: its phases: 1, 2, 3, 6, 7.\n"),
        (["--from", "0"], 2, "Error: invalid value for '--from': 0 is not in the range x>=1.\n"),
    ],
)
def test_errors(arguments: list[str], code: int, expected: str, repeated: Sample, shell: Shell) -> None:
    """What is not there is named, with what is."""
    said = shell("diff", *arguments, "--base-dir", repeated.base)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(expected)


def test_no_guess_between_two(repeated: Sample, shell: Shell) -> None:
    """Two phases with several attempts are listed; with none, that is said."""
    attempt(repeated, 2, "text\n")
    send_back(repeated, 2, "another\n")
    said = shell("diff", "--base-dir", repeated.base)
    assert (said.code, said.err) == (
        1,
        "Error: 2 phases have had a second attempt.\nHint: name one: 1 Concept Expansion, 2 Market Research.\n",
    )
    fresh = waiting_session(repeated.base, "s-2")
    said = shell("diff", "--base-dir", fresh.base, "--session", "s-2")
    assert said.code == 1
    assert said.err.startswith("Error: no phase of session s-2 has had a second attempt.\n")


def test_colours(repeated: Sample) -> None:
    """In a terminal, what came is green and what went is red; what the agent coloured stays text."""
    out = in_terminal("diff", "--base-dir", str(repeated.base))
    assert "\x1b[31m-the second text" in out
    assert "\x1b[32m+the third text" in out
    assert "\\x1b[31mred" in out
    assert "\x1b" not in in_terminal("diff", "--base-dir", str(repeated.base), NO_COLOR="1")


def test_since_the_approval_that_is_void(repeated: Sample, shell: Shell) -> None:
    """Where an edit made an approval void, it shows what changed since; attempts are compared if they are named."""
    manager = CheckpointManager(repeated.base)
    manager.save_user_feedback(*repeated.ids, 1, reviewed=True, approved=True)
    approved = manager.history(*repeated.ids)[0].id
    output = repeated.folder / "phase_1_concept" / "writer.md"
    output.write_text(f"{output.read_text()}And tractors.\n")
    for words in ([], ["1"]):
        out = shell("diff", *words, "--base-dir", repeated.base).out
        assert out.startswith(f"--- commit {approved[:7]}/writer.md\n")
        assert out.endswith("\n+And tractors.\n")
    assert shell("diff", "--to", "2", "--base-dir", repeated.base).out.startswith("--- attempt 1/writer.md\n")
