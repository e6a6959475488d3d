"""The command `haytham status`."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.project.project_manager import ProjectManager
from tests.cli.conftest import Sample, Shell, in_terminal, new_session, process
from tests.cli.waiting import attempt


def test_end_to_end(sample: Sample) -> None:
    """As a process of its own, in the folder above `projects`, it shows the only project and its newest session."""
    said = process("status", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    assert (
        said.out
        == f"""\
Project  {sample.project}
Name     Nightdesk
Status   active

Session   {sample.session}
Workflow  idea_validation, mode mvp, for ada
Reviews   optional
Status    in_progress

#  Phase              Status          Duration  Tokens     Cost  Review
1  Concept Expansion  completed          2m 0s  15,000  $0.0375  approved
2  Market Research    requires_retry         -       -        -  -
3  Niche Selection    pending                -       -        -  -
6  Validation         pending                -       -        -  -
7  Final Synthesis    pending                -       -        -  -
   total                                 2m 0s  15,000  $0.0375

Next  phase 2 Market Research
"""
    )


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form holds the project, the session as `load_session` returns it, and the phases."""
    said = shell("status", "--base-dir", sample.base, "--json")
    assert (said.code, said.err) == (0, "")
    assert list(said.json) == ["form", "version", "projects", "session"]
    assert (said.json["form"], said.json["version"]) == ("haytham.status", 1)
    assert [each["project_id"] for each in said.json["projects"]] == [sample.project]
    session = said.json["session"]
    state = CheckpointManager(sample.base).load_session(*sample.ids)
    statuses = {str(number): status for number, status in state["phase_statuses"].items()}
    shown = {"phase_statuses": statuses, "rescued_files": [], "own_files": [], "phases": 0, "problems": []}
    assert session | {"phases": 0} == {**state, **shown}
    assert session["phases"][0] == {
        "number": 1,
        "name": "Concept Expansion",
        "status": "completed",
        "duration": 120.5,
        "tokens": 15000,
        "cost": 0.0375,
        "attempt": 1,
        "policy": "optional",
        "review": "approved",
        "missing": None,
        "void": None,
        "stale": None,
        "agents": ["concept_expansion"],
    }


def test_several_projects_are_listed(sample: Sample, shell: Shell) -> None:
    """With several projects and none named it lists them; it does not pick one."""
    other = new_session(sample.base, "Other")
    said = shell("status", "--base-dir", sample.base)
    assert said.code == 0
    assert sample.project in said.out
    assert other.project in said.out
    assert said.out.endswith(f"One of them: haytham status --base-dir {sample.base} --project ID\n")
    as_json = shell("status", "--base-dir", sample.base, "--json").json
    assert (len(as_json["projects"]), as_json["session"]) == (2, None)


def test_a_project_that_cannot_be_read_is_listed(sample: Sample, shell: Shell) -> None:
    """A broken project document hides neither that project nor the others."""
    other = new_session(sample.base, "Other")
    (other.base / other.project / "project.md").write_text("nothing of ours")
    said = shell("status", "--base-dir", sample.base)
    assert said.code == 0
    assert "unreadable" in said.out
    assert "Nightdesk" in said.out
    projects = shell("status", "--base-dir", sample.base, "--json").json["projects"]
    assert {each["project_id"] for each in projects if "problem" in each} == {other.project}


def test_session_names_its_project(sample: Sample, shell: Shell) -> None:
    """A session's id alone finds its project, as long as only one has it."""
    new_session(sample.base, "Other")
    assert (
        f"Session   {sample.session}\n" in shell("status", "--base-dir", sample.base, "--session", sample.session).out
    )


def test_session_in_two_projects(tmp_path: Path, shell: Shell) -> None:
    """A session's id that two projects have is no answer: the candidates are listed."""
    manager = CheckpointManager(tmp_path)
    manager.create_session("p-1", "s-1", "ada")
    manager.create_session("p-2", "s-1", "ada")
    said = shell("status", "--base-dir", tmp_path, "--session", "s-1")
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "Error: 2 projects have a session 's-1', and none is named.\n"
        f"  {tmp_path}\n"
        "Hint: add --project with one of: p-1, p-2.\n"
    )


def test_newest_session(sample: Sample, shell: Shell) -> None:
    """Without --session the newest is shown, below the list of all."""
    newer = ProjectManager(sample.base).start_session(sample.project)["session_id"]
    said = shell("status", "--base-dir", sample.base)
    assert said.code == 0
    assert f"Session   {newer}\n" in said.out
    assert sample.session in said.out


def test_two_sessions_of_one_moment(tmp_path: Path, shell: Shell) -> None:
    """Two sessions created at the same moment: neither is the newest, and the candidates are listed."""
    manager = CheckpointManager(tmp_path, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    manager.create_session("p-1", "s-1", "ada")
    manager.create_session("p-1", "s-2", "ada")
    said = shell("status", "--base-dir", tmp_path)
    assert said.code == 1
    assert said.err == (
        "Error: which session is the newest cannot be told.\nHint: add --session with one of: s-2, s-1.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--project", "nope"], "Error: there is no project 'nope'."),
        (["--session", "nope"], "Error: no project here has a session 'nope'."),
        (["--project", "../x"], "Error: project id '../x' contains a character that is not allowed."),
    ],
)
def test_what_is_not_there(arguments: list[str], message: str, sample: Sample, shell: Shell) -> None:
    """A project or session that is not there ends with code 1 and says so."""
    said = shell("status", "--base-dir", sample.base, *arguments)
    assert (said.code, said.out) == (1, "")
    assert said.err.splitlines()[0] == message


def test_base_folder_is_not_made(tmp_path: Path, shell: Shell) -> None:
    """Looking at a folder that is not there does not make it."""
    said = shell("status", "--base-dir", tmp_path / "none")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: there is no such folder.\n  {tmp_path}/none\nHint: ")
    assert not (tmp_path / "none").exists()


def test_empty_base_folder(tmp_path: Path, shell: Shell) -> None:
    """An empty folder is no error."""
    said = shell("status", "--base-dir", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out == f"There are no projects in {tmp_path} yet. haytham init --base-dir {tmp_path} makes one.\n"


def test_project_without_sessions(tmp_path: Path, shell: Shell) -> None:
    """A project without a session is shown as such."""
    ProjectManager(tmp_path).create_project("ada", "idea", "Empty")
    said = shell("status", "--base-dir", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out.endswith("It has no sessions yet.\n")


def test_an_approval_that_is_void(sample: Sample, shell: Shell) -> None:
    """An output that a person changed is no longer approved; status says why, and what read it is stale."""
    CheckpointManager(sample.base).save_checkpoint(*sample.ids, 2, "completed", [])
    assert "Void" not in shell("status", "--base-dir", sample.base).out
    path = sample.folder / "phase_1_concept" / "concept_expansion.md"
    path.write_text(path.read_text() + "more\n")
    said = shell("status", "--base-dir", sample.base)
    assert (said.code, said.err) == (0, "")
    assert "1  Concept Expansion           completed     2m 0s  15,000  $0.0375  open\n" in said.out
    words = " ".join(said.out.split())
    void = "approved by Rita Reviewer, void because the outputs changed after this decision"
    assert f"Void phase 1 Concept Expansion: {void}" in words
    assert "Stale phase 2 Market Research: phase 1 Concept Expansion changed after it was read" in words
    first, second, *_ = shell("status", "--base-dir", sample.base, "--json").json["session"]["phases"]
    assert (first["review"], first["missing"]) == ("open", "1 more approval")
    assert first["void"] == void
    assert second["stale"] == "phase 1 Concept Expansion changed after it was read"


def test_edited_and_rescued_files(sample: Sample, shell: Shell) -> None:
    """A draft in a form is named as edited; what was saved from under an editor's hands is named, too."""
    CheckpointManager(sample.base).save_checkpoint(*sample.ids, 2, "completed", [])
    form = sample.folder / "phase_2_market_research" / "user_feedback.md"
    form.write_text(form.read_text().replace("as you wrote it -->", "as you wrote it -->\nperhaps"))
    rescued = sample.folder / "phase_1_concept" / "user_feedback.md.rescued-0a1b2c3d"
    rescued.write_text("what they wrote")
    out = shell("status", "--base-dir", sample.base).out
    assert "Edited   phase_2_market_research/user_feedback.md (not committed)\n" in out
    assert "Rescued  phase_1_concept/user_feedback.md.rescued-0a1b2c3d\n" in out
    session = shell("status", "--base-dir", sample.base, "--json").json["session"]
    assert session["rescued_files"] == ["phase_1_concept/user_feedback.md.rescued-0a1b2c3d"]
    assert rescued.read_text() == "what they wrote"


def test_a_required_review(tmp_path: Path, shell: Shell) -> None:
    """A session that waits at a gate says so: the policy, what is missing, and what to do next."""
    sample = Sample(base=tmp_path, project="p-1", session="s-1")
    CheckpointManager(tmp_path).create_session(*sample.ids, "ada", review={1: "required", 3: "none"})
    attempt(sample, 1, "text\n")
    out = shell("status", "--base-dir", tmp_path).out
    assert "Reviews   required: 1; optional: 2, 6, 7; none: 3\n" in out
    assert out.endswith(
        "Next     the review of phase 1 Concept Expansion\n"
        "Missing  phase 1 Concept Expansion needs 1 more approval\n"
        "\n"
        f"Decide: haytham review 1 --base-dir {tmp_path}\n"
    )
    assert shell("approve", "--base-dir", tmp_path).code == 0
    assert shell("status", "--base-dir", tmp_path).out.endswith("Next  phase 2 Market Research\n")


def test_open_review(sample: Sample, shell: Shell) -> None:
    """A completed phase that nobody looked at is open."""
    CheckpointManager(sample.base).save_checkpoint(*sample.ids, 2, "completed", [])
    reviews = [row["review"] for row in shell("status", "--base-dir", sample.base, "--json").json["session"]["phases"]]
    assert reviews == ["approved", "open", None, None, None]


def test_feedback_that_cannot_be_read(sample: Sample, shell: Shell) -> None:
    """An unreadable form is shown as unreadable, reported with its line, and ends with code 1."""
    path = sample.folder / "phase_1_concept" / "user_feedback.md"
    path.write_text(path.read_text().replace("Approved: true", "Approved: perhaps"))
    said = shell("status", "--base-dir", sample.base)
    assert said.code == 1
    assert "unreadable" in said.out
    assert "Error: " in said.err
    assert "user_feedback.md, line " in said.err


def test_completed_session(sample: Sample, shell: Shell) -> None:
    """A completed session has nothing next."""
    CheckpointManager(sample.base).complete_session(*sample.ids)
    assert shell("status", "--base-dir", sample.base).out.endswith("Next  nothing, it is completed\n")


def test_many_sessions(tmp_path: Path, shell: Shell) -> None:
    """Of many sessions the ten newest are listed."""
    manager = CheckpointManager(tmp_path)
    for number in range(12):
        manager.create_session("p-1", f"s-{number}", "ada")
    assert "and 2 older ones\n" in shell("status", "--base-dir", tmp_path).out


def test_hostile_names_are_neutralised(tmp_path: Path, shell: Shell) -> None:
    """A project's name that a person edited into an escape sequence does not reach the terminal as one."""
    sample = new_session(tmp_path)
    path = tmp_path / sample.project / "project.md"
    path.write_text(path.read_text().replace("Nightdesk", "Night\u202edesk [red]x[/red] :bomb:"))
    out = shell("status", "--base-dir", tmp_path).out
    assert "Night\\u202edesk [red]x[/red] :bomb:" in out


def test_80_columns(tmp_path: Path, shell: Shell) -> None:
    """Whatever the ids are, no line is wider than 80 columns."""
    manager = CheckpointManager(tmp_path)
    manager.create_session("p" * 100, "s" * 100, "u" * 200)
    manager.create_session("p" * 100, "t" * 100, "u" * 200)
    said = shell("status", "--base-dir", tmp_path)
    assert said.code == 0
    assert max(len(line) for line in said.out.splitlines()) <= 80


def test_colours(sample: Sample) -> None:
    """In a terminal there are colours; with NO_COLOR, or a dumb one, there is not a single escape character."""
    arguments = ("status", "--base-dir", str(sample.base))
    assert "\x1b[32mcompleted" in in_terminal(*arguments)
    assert "\x1b" not in in_terminal(*arguments, NO_COLOR="1")
    assert "\x1b" not in in_terminal(*arguments, TERM="dumb")


def test_no_colours_in_a_pipe(sample: Sample) -> None:
    """What is piped is plain, even if a colour is asked for by other programs' variables."""
    said = process("status", "--base-dir", sample.base, FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b" not in said.out
