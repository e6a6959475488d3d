"""The command `haytham verify`."""

from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import Sample, Shell, in_terminal, process
from tests.evidence import git


def test_end_to_end(sample: Sample) -> None:
    """As a process of its own it verifies everything below `projects`, and finds nothing in what we wrote."""
    said = process("verify", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    heads = [git(folder, "rev-parse", "HEAD").strip() for folder in (sample.base / sample.project, sample.folder)]
    assert [line.split() for line in said.out.splitlines()] == [
        ["Folder,", "newest", "commit", "Commits", "Documents", "Found"],
        ["(project)", "2", "1", "nothing"],
        [heads[0]],
        [sample.session, "4", "6", "nothing"],
        [heads[1]],
        ["Sound."],
    ]


def test_findings_are_told_in_words(sample: Sample, shell: Shell) -> None:
    """What is wrong, where, and how to look at it; the exit code is 1."""
    path = sample.folder / "phase_1_concept" / "concept_expansion.md"
    path.write_text(path.read_text().replace("text", "tests"))
    said = shell("verify", "--base-dir", sample.base, "--session", sample.session)
    assert (said.code, said.err) == (1, "")
    lines = said.out.splitlines()
    name = "phase_1_concept/concept_expansion.md"
    assert lines[:3] == [
        f"Error: {name} differs from the newest commit: an edit that nobody has committed.",
        f"  {path}",
        f"Hint: see: git diff HEAD -- {name}",
    ]
    assert lines[3].startswith("Error: phase 1 Concept Expansion was approved by Rita Reviewer in commit ")
    assert (lines[-3].split()[-1], lines[-1]) == ("2", "2 findings.")


def test_a_clone_has_no_recorded_head(sample: Sample, shell: Shell) -> None:
    """What cannot be told is said."""
    (sample.folder / ".git" / "haytham.head").unlink()
    said = shell("verify", "--base-dir", sample.base, "--session", sample.session)
    assert said.code == 0
    assert f"The note of the last save of {sample.session} is missing (a clone has none):\nonly --head" in said.out


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form is what the manager returns, with one word for all of it."""
    manager = CheckpointManager(sample.base)
    said = shell("verify", "--base-dir", sample.base, "--session", sample.session, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json == {
        "form": "haytham.verify",
        "version": 1,
        "sound": True,
        "folders": [manager.verify_session(*sample.ids)],
    }
    (sample.folder / "session_manifest.md").unlink()
    said = shell("verify", "--base-dir", sample.base, "--json")
    assert said.code == 1
    assert said.json["sound"] is False
    assert [len(each["findings"]) for each in said.json["folders"]] == [0, 2]


def test_noted_head(sample: Sample, shell: Shell) -> None:
    """A newest commit that was noted elsewhere has to be part of history still."""
    head, session = git(sample.folder, "rev-parse", "HEAD"), ("--base-dir", sample.base, "--session", sample.session)
    assert shell("verify", *session, "--head", head).code == 0
    git(sample.folder, "reset", "-q", "--hard", "HEAD~1")
    (sample.folder / ".git" / "haytham.head").unlink()
    assert shell("verify", *session).code == 0
    said = shell("verify", *session, "--head", head)
    assert said.code == 1
    assert said.out.startswith(f"Error: history was cut or replaced: commit {head[:7]}, the newest one by what was")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--head", "0" * 40], "Error: --head is about one session, and none is named.\n"),
        (["--session", "nope"], "Error: no project here has a session 'nope'.\n"),
        (["--session", "SESSION", "--head", "HEAD"], "Error: head is 'HEAD', which is no id of a commit.\n"),
    ],
)
def test_errors(arguments: list[str], expected: str, sample: Sample, shell: Shell) -> None:
    """What cannot be verified is named."""
    words = [sample.session if each == "SESSION" else each for each in arguments]
    said = shell("verify", *words, "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(expected)


def test_hostile_words_are_neutralised(sample: Sample, shell: Shell) -> None:
    """A commit's words that steer a terminal are shown as text."""
    message = "Phase 1 \x1b[31m\n\nHaytham-Phase: 2\nHaytham-Status: completed\nHaytham-Attempt: \x1b]0;x\x07\n"
    git(sample.folder, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
    said = shell("verify", "--base-dir", sample.base)
    assert said.code == 1
    assert said.out.replace("\n", "").isprintable()


def test_in_a_terminal(sample: Sample, tmp_path: Path) -> None:
    """In 80 columns nothing is folded for the usual ids, and what is sound is green."""
    out = in_terminal("verify", "--base-dir", str(sample.base))
    assert "\x1b[32mnothing" in out
    assert "\x1b[32mSound." in out
    assert len(out.strip().splitlines()) == 6


def test_nothing_to_verify(tmp_path: Path, shell: Shell) -> None:
    """Without a project it says so, and how to get one."""
    said = shell("verify", "--base-dir", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"There are no projects in {tmp_path} yet. ")


@pytest.mark.parametrize("more", [[], ["--project", "{}"]])
def test_did_you_mean(more: list[str], sample: Sample, shell: Shell) -> None:
    """A session that is not there is told with the one that was probably meant."""
    named = [each.format(sample.project) for each in more]
    said = shell("verify", "--base-dir", sample.base, "--session", sample.session[:-1], *named)
    assert said.code == 1
    assert f"Hint: did you mean {sample.session}?" in said.err
