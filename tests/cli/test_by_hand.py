"""The commands by which a person runs a session by hand: init, new, next, start, complete, finish."""

import json
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli.options import BASE_DIR
from haytham.project.project_manager import ProjectManager
from tests.cli.conftest import Said, Sample, Shell, process
from tests.cli.waiting import attempt, waiting_session


def _project(base: Path) -> str:
    return ProjectManager(base).create_project("ada", "an idea")["project_id"]


def _session(base: Path, review: str = "optional") -> Sample:
    project = _project(base)
    started = ProjectManager(base).start_session(project, review=review)
    return Sample(base=base, project=project, session=started["session_id"])


def _lines(said: Said) -> list[str]:
    assert (said.code, said.err) == (0, "")
    return said.out.splitlines()


def test_end_to_end(tmp_path: Path) -> None:
    """As processes of their own the commands lead from an idea to its result, each naming the next."""
    (tmp_path / "concept_expansion.md").write_bytes(b"# Concept\r\n\r\nno newline at the end")
    made = _lines(process("init", "Rent out garden plots", "--name", "Plots", cwd=tmp_path))
    project = made[0].removeprefix("Project  ")
    assert made == [f"Project  {project}", f"{BASE_DIR}/{project}", "", "Begin a session: haytham new"]
    begun = _lines(process("new", "--review", "1=required", cwd=tmp_path))
    session = begun[0].removeprefix("Session   ")
    folder = f"{BASE_DIR}/{project}/sessions/{session}"
    workflow = "Workflow  idea_validation, mode mvp"
    assert begun == [f"Session   {session}", workflow, folder, "", "What to do: haytham next"]
    first = ["Run phase 1 Concept Expansion: it has not run yet", "haytham start 1"]
    assert _lines(process("next", cwd=tmp_path)) == first
    assert _lines(process("start", cwd=tmp_path)) == [
        "Phase   1 Concept Expansion, attempt 1: in_progress",
        "Agents  concept_expansion",
        f"{folder}/phase_1_concept",
        "",
        "Save what was written:",
        "haytham complete 1 -o concept_expansion=FILE",
    ]
    assert _lines(process("complete", "-o", "concept_expansion.md", cwd=tmp_path)) == [
        "Phase   1 Concept Expansion, attempt 1: completed",
        "Agents  concept_expansion",
        f"{folder}/phase_1_concept",
        "",
        "Read it: haytham show 1",
        "Decide about it: haytham review 1",
    ]
    assert _lines(process("next", cwd=tmp_path))[1:] == ["haytham show 1", "haytham review 1"]
    assert process("approve", cwd=tmp_path).code == 0
    kept = f"{BASE_DIR}/{project}/outputs/requirements_v1.md"
    assert _lines(process("finish", cwd=tmp_path)) == [
        f"Session  {session}: completed",
        "Not run  phases 2, 3, 6, 7",
        "Result   the output phase_1_concept/concept_expansion.md",
        kept,
        "",
        "One page to mail: haytham export --html",
    ]
    assert (tmp_path / kept).read_bytes() == (tmp_path / "concept_expansion.md").read_bytes()
    assert _lines(process("next", cwd=tmp_path)) == [f"Session {session} is completed. Its result:", kept]
    outputs = CheckpointManager(tmp_path / BASE_DIR).get_phase_outputs(project, session)
    assert outputs == {1: {"concept_expansion": "# Concept\r\n\r\nno newline at the end"}}


def test_init_json(tmp_path: Path, shell: Shell) -> None:
    """The JSON form of a new project is what the manager returns, with where it is."""
    said = shell("init", "an idea", "--user", "ada", "--mode", "full", "--base-dir", tmp_path, "--json").json
    (project,) = ProjectManager(tmp_path).list_user_projects("ada")
    assert (said["project"], said["path"]) == (project, str(tmp_path / project["project_id"]))
    assert (project["startup_idea"], project["execution_mode"]) == ("an idea", "full")


def test_init_asks_nobody_whose_it_is(tmp_path: Path) -> None:
    """Without a name in git's configuration, the project is the account's; a missing user.name is no error."""
    said = process(
        "init", "x", "--json", cwd=tmp_path, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path), LOGNAME="eve"
    )
    assert (said.code, said.json["project"]["user_id"]) == (0, "eve")


def test_init_refuses(tmp_path: Path, shell: Shell) -> None:
    """A wrong mode is told with the right ones; nothing is made."""
    said = shell("init", "x", "--mode", "fool", "--base-dir", tmp_path)
    assert (said.code, said.out, list(tmp_path.iterdir())) == (1, "", [])
    assert "Allowed: mvp, full." in said.err
    assert shell("init").err.startswith("Error: missing argument 'IDEA'.\n")


def test_new_json(tmp_path: Path, shell: Shell) -> None:
    """The JSON form of a new session is what the manager returns; mode and policies are as asked for."""
    project = _project(tmp_path)
    arguments = [
        "--mode",
        "full",
        "--review",
        "1=required",
        "--review",
        "3=none",
        "--base-dir",
        str(tmp_path),
        "--json",
    ]
    said = shell("new", *arguments).json
    manager = CheckpointManager(tmp_path)
    assert (said["project_id"], said["execution_mode"]) == (project, "full")
    policies = {phase.number: phase.review.value for phase in manager.phases(project, said["session_id"])}
    assert [policies[1], policies[2], policies[3]] == ["required", "optional", "none"]
    assert ProjectManager(tmp_path).get_project_status(project)["current_session"] == said["session_id"]


def test_new_with_a_workflow_of_ones_own(tmp_path: Path, shell: Shell) -> None:
    """A workflow file is named by its path."""
    _project(tmp_path)
    path = Path(__file__).parent.parent.parent / "examples" / "custom_workflow.toml"
    assert shell("new", "--workflow", path, "--base-dir", tmp_path, "--json").json["workflow_type"] == "release_notes"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--workflow", "idea_validatoin"], 1, "workflow type is 'idea_validatoin', which is not known."),
        (["--workflow", "nope.toml"], 1, "there is no such workflow file."),
        (["--mode", "fool"], 1, "execution mode is 'fool'"),
        (["--review", "always"], 1, "'always'"),
        (["--review", "none", "--review", "1=none"], 2, "'none' is no N=POLICY."),
        (["--project", "nope"], 1, "there is no project 'nope'."),
    ],
)
def test_new_refuses(arguments: list[str], code: int, expected: str, tmp_path: Path, shell: Shell) -> None:
    """What cannot be is told, and no session is made."""
    project = _project(tmp_path)
    said = shell("new", *arguments, "--base-dir", tmp_path)
    assert (said.code, said.out) == (code, "")
    assert expected in said.err
    assert CheckpointManager(tmp_path).session_ids(project) == []


def test_next_json(tmp_path: Path, shell: Shell) -> None:
    """The step is the first of those that are left; null when there is none."""
    sample = waiting_session(tmp_path)
    said = shell("next", "--base-dir", tmp_path, "--json").json
    assert said["step"] == CheckpointManager(tmp_path).resume(*sample.ids)[0]
    CheckpointManager(tmp_path).save_user_feedback(*sample.ids, 1, reviewed=True, approved=True)
    CheckpointManager(tmp_path).complete_session(*sample.ids)
    assert shell("next", "--base-dir", tmp_path, "--json").json["step"] is None
    assert shell("next", "--base-dir", tmp_path).out.startswith("Nothing is left to do.")


def test_next_errors(tmp_path: Path, shell: Shell) -> None:
    """Without a session there is nothing to do next."""
    _project(tmp_path)
    said = shell("next", "--base-dir", tmp_path)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: the project has no sessions yet.\n")


def test_time_counts_from_the_start(tmp_path: Path, shell: Shell) -> None:
    """A phase that was started has taken from then until it is completed; one that was not, nobody knows how long."""
    sample = _session(tmp_path)
    (tmp_path / "a.md").write_text("text")
    shell("start", "--base-dir", tmp_path)
    manager = CheckpointManager(tmp_path)
    started = manager.load_checkpoint(*sample.ids, 1)["started"]
    shell("complete", "-o", tmp_path / "a.md", "--base-dir", tmp_path)
    shell("complete", "2", "-o", tmp_path / "a.md", "--base-dir", tmp_path)
    first, second = (manager.load_checkpoint(*sample.ids, number) for number in (1, 2))
    assert started is not None
    assert (first["started"], first["status"]) == (started, "completed")
    assert 0 <= (first["duration"] or -1) < 60
    assert (second["started"], second["duration"]) == (None, None)


def test_start_shows_what_was_asked_for(tmp_path: Path, shell: Shell) -> None:
    """The next attempt at a phase that was sent back begins with the requested changes."""
    waiting_session(tmp_path)
    shell("request-changes", "-c", "Shorter", "-c", "Name it", "-m", "Nearly", "--base-dir", tmp_path)
    said = shell("start", "--base-dir", tmp_path)
    assert _lines(said)[:5] == [
        "Phase    1 Concept Expansion, attempt 2: in_progress",
        "Agents   concept_expansion",
        "Change   Shorter",
        "         Name it",
        "Comment  Nearly",
    ]


def test_start_and_complete_json(tmp_path: Path, shell: Shell) -> None:
    """Both print how the phase stands, in one form."""
    sample = _session(tmp_path, review="none")
    (tmp_path / "a.md").write_text("text")
    started = shell("start", "--base-dir", tmp_path, "--json").json
    assert (started["phase_num"], started["status"], started["form_path"]) == (1, "in_progress", None)
    completed = shell("complete", "-o", f"writer={tmp_path / 'a.md'}", "--base-dir", tmp_path, "--json").json
    assert (completed["status"], completed["agents"], completed["policy"]) == ("completed", ["writer"], "none")
    assert completed["folder"] == str(sample.folder / "phase_1_concept")


def test_complete_from_standard_input(tmp_path: Path) -> None:
    """What another program writes can be piped in; its agent has to be named."""
    sample = _session(tmp_path / BASE_DIR)
    said = process("complete", "1", "-o", "-", cwd=tmp_path)
    assert (said.code, "write AGENT=-" in said.err) == (2, True)
    assert process("complete", "1", "-o", "writer=-", cwd=tmp_path).code == 0
    assert CheckpointManager(sample.base).get_phase_outputs(*sample.ids)[1] == {"writer": ""}


def test_start_refuses_behind_a_gate(tmp_path: Path, shell: Shell) -> None:
    """Neither without nor with a number does a phase begin whose gate is closed."""
    sample = waiting_session(tmp_path)
    for number in ([], ["2"]):
        said = shell("start", *number, "--base-dir", tmp_path, "--json")
        assert (said.code, said.out, said.error["kind"]) == (1, "", "GateClosed")
    assert CheckpointManager(tmp_path).load_session(*sample.ids)["phase_statuses"][2] == "pending"


def test_nothing_left_to_start(tmp_path: Path, shell: Shell) -> None:
    """A session in which all is done has no next phase."""
    sample = waiting_session(tmp_path, review="none")
    for number in (2, 3, 6, 7):
        attempt(sample, number, "text\n")
    assert "nothing is left to do in this session" in shell("start", "--base-dir", tmp_path).err


def test_complete_never_guesses(tmp_path: Path, shell: Shell) -> None:
    """Without a number, exactly one phase has to be in progress."""
    sample = _session(tmp_path)
    (tmp_path / "a.md").write_text("text")
    arguments = ["complete", "-o", str(tmp_path / "a.md"), "--base-dir", str(tmp_path)]
    assert "no phase is in progress." in shell(*arguments).err
    for number in (1, 2):
        CheckpointManager(tmp_path).start_phase(*sample.ids, number)
    said = shell(*arguments)
    assert (said.code, said.out) == (1, "")
    assert "2 phases are in progress, and none is named.\nHint: name one of: 1, 2." in said.err


@pytest.mark.parametrize(("output", "expected"), [("nope.md", "No such file"), ("../../x=a.md", "agent name")])
def test_complete_refuses(output: str, expected: str, tmp_path: Path) -> None:
    """A file that is not there and a name that leads elsewhere are refused; nothing is saved."""
    sample = _session(tmp_path / BASE_DIR)
    (tmp_path / "a.md").write_text("text")
    said = process("complete", "1", "-o", output, cwd=tmp_path)
    assert (said.code in {1, 2}, expected in said.err) == (True, True)
    assert CheckpointManager(sample.base).load_session(*sample.ids)["phase_statuses"][1] == "pending"


def test_binary_file_is_refused(tmp_path: Path, shell: Shell) -> None:
    """What is no text is refused by name."""
    _session(tmp_path)
    (tmp_path / "a.md").write_bytes(b"\xff\xfe")
    assert "is no UTF-8 text" in shell("complete", "1", "-o", tmp_path / "a.md", "--base-dir", tmp_path).err


def test_finish_json_and_gate(tmp_path: Path, shell: Shell) -> None:
    """A session with an open required review does not end; afterwards its end is told as the manager does."""
    sample = waiting_session(tmp_path / "b")
    (tmp_path / "r.md").write_text("# Result\n")
    arguments = ["finish", str(tmp_path / "r.md"), "--base-dir", str(sample.base), "--json"]
    assert shell(*arguments).error["kind"] == "GateClosed"
    shell("approve", "--base-dir", sample.base)
    said = shell(*arguments).json
    assert (said["status"], said["unfinished_phases"]) == ("completed", [2, 3, 6, 7])
    assert Path(said["requirements_file"]).read_text() == "# Result\n"
    assert json.dumps(said["metrics"])


def test_finish_keeps_what_was_approved(tmp_path: Path, shell: Shell) -> None:
    """Without a file, the output that was approved is kept; with another text, that is said."""
    sample = waiting_session(tmp_path / "b")
    at = ["--base-dir", str(sample.base)]
    output = sample.folder / "phase_1_concept" / "writer.md"
    output.write_text(f"{output.read_text()}and more\n")
    assert shell("finish", *at).code == 1  # nobody approved that
    shell("approve", *at)
    said = shell("finish", *at, "--json").json
    assert Path(said["requirements_file"]).read_text() == "the first text\nand more\n"
    (tmp_path / "old.md").write_text("the first text\n")
    said = shell("finish", tmp_path / "old.md", *at)
    assert _lines(said)[2:4] == [
        "Result   a text that is no output of the last phase",
        "Before   1 kept earlier, which stay",
    ]


def test_finish_twice(tmp_path: Path, shell: Shell) -> None:
    """A session that is completed, and whose result is kept, does not end again."""
    sample = waiting_session(tmp_path, review="none")
    first = shell("finish", "--base-dir", tmp_path, "--json").json["requirements_file"]
    said = shell("finish", "--base-dir", tmp_path)
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"Error: session {sample.session} is completed, and its result is kept.\n"
        f"  {first}\n"
        "Hint: name a file to keep another text beside it.\n"
    )
    assert ProjectManager(tmp_path).session_results(*sample.ids) == [first]


def test_finish_never_guesses(tmp_path: Path, shell: Shell) -> None:
    """Without a file, there has to be exactly one output to keep."""
    sample = _session(tmp_path)
    said = shell("finish", "--base-dir", tmp_path)
    assert said.err == "Error: there is no output, and no file is named.\nHint: name the file to keep.\n"
    outputs = [{"agent_name": name, "output_content": name} for name in ("a", "b")]
    CheckpointManager(tmp_path).complete_phase(*sample.ids, 1, outputs)
    said = shell("finish", "--base-dir", tmp_path)
    assert "there are 2 outputs of the last completed phase" in said.err
    assert "phase_1_concept/a.md, phase_1_concept/b.md" in said.err
    assert CheckpointManager(tmp_path).load_session(*sample.ids)["status"] == "in_progress"


def test_complete_names_the_agents_that_gave_nothing(tmp_path: Path, shell: Shell) -> None:
    """A name that the phase does not know is an agent of its own, and whoever is missing is named."""
    _session(tmp_path)
    (tmp_path / "a.md").write_text("text")
    said = shell("complete", "2", "-o", f"market_inteligence={tmp_path / 'a.md'}", "--base-dir", tmp_path)
    assert (said.code, said.err) == (
        0,
        "Warning: nothing came from market_intelligence, competitor_analysis of phase 2.\n",
    )
