"""The commands that people are told to type: each works as it is printed."""

import shlex
from pathlib import Path

from haytham.cli import hints
from haytham.project.project_manager import ProjectManager
from tests.cli.conftest import Said, Sample, Shell, new_session
from tests.cli.waiting import attempt, waiting_session


def _typed(line: str) -> list[str]:
    """Returns the words of the command that a line ends with, without the program's name."""
    return shlex.split(line[line.index("haytham ") :])[1:]


def _follow(said: Said, shell: Shell, *further: str) -> Said:
    """Types the command in the last line that names one."""
    line = [each for each in said.out.splitlines() if "haytham " in each][-1]
    return shell(*_typed(line), *further)


def test_a_text_is_left_alone_outside_of_a_command() -> None:
    """Where nothing is known of a folder, a project or a session, nothing is added."""
    assert hints.runnable("haytham start 1 begins it") == "haytham start 1 begins it"


def test_hints_lead_from_one_command_to_the_next(tmp_path: Path, shell: Shell) -> None:
    """In another base folder, with two projects, what is printed can be typed as it is, step by step."""
    base = tmp_path / "a folder"
    ProjectManager(base).create_project("ada", "another idea")
    said = shell("init", "an idea", "--base-dir", base)
    for _ in ("new", "next", "start"):
        said = _follow(said, shell)
        assert (said.code, said.err) == (0, "")
    assert "in_progress" in said.out


def test_a_chosen_session_is_named(sample: Sample, shell: Shell) -> None:
    """Where a command chose the newest of several sessions, the next one is told which."""
    ProjectManager(sample.base).start_session(sample.project)
    said = shell("next", "--base-dir", sample.base)
    newest = ProjectManager(sample.base).get_project_status(sample.project)["sessions"][0]["session_id"]
    command = f"haytham start 1 --base-dir {sample.base} --session {newest}"
    assert said.out.splitlines()[-1] == command
    assert "attempt 1: in_progress\n" in _follow(said, shell).out


def test_a_named_session_stays_named(sample: Sample, shell: Shell) -> None:
    """What was given on the command line is part of every command that is named, also in errors."""
    options = ["--base-dir", str(sample.base), "--project", sample.project, "--session", sample.session]
    said = shell("next", *options)
    assert said.out.splitlines()[-1] == shlex.join(["haytham", "start", "2", *options])
    said = shell("show", "1", "--at", "ffffffff", *options)
    assert f"Hint: haytham log {shlex.join(options)} shows " in said.err


def test_a_fork_is_named(sample: Sample, shell: Shell) -> None:
    """After a fork, the way on is in the new session."""
    said = shell("fork", "other", "--phase", "1", "--base-dir", sample.base)
    assert said.out.splitlines()[-1] == f"What to do: haytham next --base-dir {sample.base} --session other"
    assert _follow(said, shell).out.startswith("Run phase 2 Market Research")


def test_sent_back_leads_to_the_next_attempt(tmp_path: Path, shell: Shell) -> None:
    """Behind a phase that was sent back, the way on is another attempt at it, not an approval."""
    sample = waiting_session(tmp_path)
    said = shell("request-changes", "-c", "Shorter", "--base-dir", tmp_path)
    assert said.out.splitlines()[-1] == f"The next attempt: haytham start 1 --base-dir {tmp_path}"
    refused = shell("start", "2", "--base-dir", tmp_path)
    assert refused.code == 1
    assert refused.err.splitlines()[0] == (
        "Error: phase 2 may not start: phase 1 Concept Expansion needs to be completed; it is requires_retry."
    )
    assert refused.err.splitlines()[-1] == (
        f"Hint: its review asked for another attempt: haytham start 1 --base-dir {tmp_path}, then complete it."
    )
    assert "attempt 2: in_progress\n" in _follow(said, shell).out
    attempt(sample, 1, "second\n")
    waits = shell("start", "2", "--base-dir", tmp_path)
    assert f"Hint: haytham review 1 --base-dir {tmp_path} opens that file" in waits.err


def test_a_phase_that_has_not_run(tmp_path: Path, shell: Shell) -> None:
    """What comes with a phase is not there before it has run; the error speaks of commands, not of calls."""
    sample = new_session(tmp_path / "projects")
    said = shell("approve", "3", "--base-dir", sample.base)
    assert said.code == 1
    assert said.err.startswith("Error: phase 3 Niche Selection has no ")
    assert said.err.endswith("yet.\nHint: it has to run first.\n")


def test_an_archived_session_is_opened_as_it_says(sample: Sample, shell: Shell) -> None:
    """The command that opens an archived session names it once, whether it was given or not."""
    shell("archive", "--session", sample.session, "--base-dir", sample.base)
    for named in ([], ["--session", sample.session]):
        said = shell("approve", "1", *named, "--base-dir", sample.base)
        command = f"haytham archive --base-dir {sample.base} --session {sample.session} --undo"
        assert said.err.splitlines()[-1] == f"Hint: {command} opens it again."
    assert shell(*shlex.split(command)[1:]).code == 0


def test_a_phase_that_has_not_ended(tmp_path: Path, shell: Shell) -> None:
    """Behind a phase that has not run the way on is to start it, behind one that runs to complete it."""
    project = ProjectManager(tmp_path).create_project("ada", "an idea")["project_id"]
    ProjectManager(tmp_path).start_session(project, review={1: "required"})
    for verb in ("start", "complete"):
        said = shell("start", "2", "--base-dir", tmp_path)
        hint = f"Hint: it has to be completed first: haytham {verb} 1 --base-dir {tmp_path}."
        assert (said.code, said.err.splitlines()[-1]) == (1, hint)
        shell("start", "1", "--base-dir", tmp_path)
