"""The commands about whole sessions: fork, rollback, compare, archive, delete, gc, repair."""

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.project.project_manager import ProjectManager
from tests import terminal
from tests.cli.conftest import PROGRAM, Sample, Shell, process
from tests.evidence import is_sound, subjects

FORK = "other"


def _manager(sample: Sample) -> CheckpointManager:
    return CheckpointManager(sample.base)


def _fork(sample: Sample) -> None:
    _manager(sample).fork(*sample.ids, FORK, phase=1)


# fork


def test_fork_end_to_end(sample: Sample) -> None:
    """As a process of its own it makes the session, and says where and from what."""
    said = process("fork", FORK, "--phase", "1", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == f"Session {FORK} forked from {sample.session}"
    assert lines[1] == f"projects/{sample.project}/sessions/{FORK}"
    assert [line.split(maxsplit=1)[1] for line in lines[3:5]] == ["1", "2, 3, 6, 7"]
    assert lines[5:] == ["", f"What to do: haytham next --session {FORK}"]
    folder = sample.folder.parent / FORK
    assert subjects(folder)[1:3] == ["Phase 1 Concept Expansion completed", "Phase 1 Concept Expansion approved"]
    assert is_sound(folder)


def test_fork_json(sample: Sample, shell: Shell) -> None:
    """The JSON form is what the API returns."""
    said = shell("fork", FORK, "--phase", "1", "--base-dir", sample.base, "--json")
    assert (said.code, said.err) == (0, "")
    again = _manager(sample).fork(*sample.ids, FORK, phase=1)
    assert said.json == {"form": "haytham.fork", "version": 1, **again}


def test_fork_of_an_unknown_point(sample: Sample, shell: Shell) -> None:
    """A phase that has not run cannot be forked from; the error says what can."""
    said = shell("fork", "--phase", "6", "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert said.err == "Error: phase 6 Validation is not in history yet.\nHint: name a phase that has been run.\n"


def test_status_tells_the_origin(sample: Sample, shell: Shell) -> None:
    """A fork says in its status what it comes from."""
    _fork(sample)
    said = shell("status", "--base-dir", sample.base, "--session", FORK)
    assert f"Origin    {sample.session}, commit " in said.out


# rollback


def test_rollback_end_to_end(sample: Sample) -> None:
    """It lists first, then does, what comes back and what goes away."""
    planned = process("rollback", "1", "--dry-run", cwd=sample.base.parent)
    listed = ["  remove   phase_2_market_research/checkpoint.md"]
    assert planned.out.splitlines() == [f"Session {sample.session} would go back to phase 1", *listed]
    said = process("rollback", "1", "-m", "why not", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[:-1] == [f"Session {sample.session} went back to phase 1", *listed]
    assert subjects(sample.folder)[-1] == "Rolled back to phase 1 Concept Expansion"
    assert is_sound(sample.folder)


def test_rollback_json(sample: Sample, shell: Shell) -> None:
    """The JSON form tells the new commit; going where one is has none."""
    said = shell("rollback", "1", "--base-dir", sample.base, "--json").json
    assert (said["phase"], said["commit"]) == (1, _manager(sample).history(*sample.ids)[0].id)
    assert shell("rollback", "1", "--base-dir", sample.base, "--json").json["commit"] is None
    assert "is at phase 1 already." in shell("rollback", "1", "--base-dir", sample.base).out


def test_rollback_needs_a_point(sample: Sample, shell: Shell) -> None:
    """Without a phase or a commit it is a wrong use."""
    said = shell("rollback", "--base-dir", sample.base)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: name a phase, or a commit with --commit.")


# compare


def test_compare_end_to_end(sample: Sample) -> None:
    """It shows both sessions side by side, phase by phase, and how outputs differ."""
    _fork(sample)
    _manager(sample).save_agent_output(sample.project, FORK, 1, "concept_expansion", "another text")
    arguments = ("compare", FORK, "--session", sample.session)
    said = process(*arguments, "--diff", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    words = " ".join(said.out.split())
    assert f"Id {sample.session} {FORK}" in words
    assert "In common up to commit" in words
    assert "1 Concept Expansion completed" in words
    assert "differ" in words
    assert said.out.splitlines()[-4:-2] == ["-text", "\\ No newline at end of file"]
    assert max(len(line) for line in said.out.splitlines() if "/" not in line) <= 80


def test_compare_json(sample: Sample, shell: Shell) -> None:
    """The JSON form is what the API returns."""
    _fork(sample)
    said = shell("compare", FORK, "--session", sample.session, "--base-dir", sample.base, "--json")
    assert said.json == {"form": "haytham.compare", "version": 1, **_manager(sample).compare(*sample.ids, FORK)}
    assert [phase["same_outputs"] for phase in said.json["phases"]] == [True] * 5


def test_compare_with_the_session_itself(sample: Sample, shell: Shell) -> None:
    """A fork is compared with its origin, another one with the newest other; never is one compared with itself."""
    said = shell("compare", sample.session, "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: the project has no session but {sample.session!r}.\n")
    _fork(sample)
    ProjectManager(sample.base).start_session(sample.project)
    found = shell("compare", FORK, "--base-dir", sample.base, "--json").json
    assert (found["one"]["session_id"], found["other"]["session_id"]) == (sample.session, FORK)
    newest = ProjectManager(sample.base).get_project_status(sample.project)["sessions"][0]["session_id"]
    assert shell("compare", newest, "--base-dir", sample.base, "--json").json["one"]["session_id"] == FORK
    said = shell("compare", FORK, "--session", FORK, "--base-dir", sample.base)
    assert (said.code, said.err) == (1, f"Error: session {FORK!r} is compared with itself.\nHint: name another one.\n")


def test_compare_with_nothing(sample: Sample, shell: Shell) -> None:
    """Another session has to be there."""
    said = shell("compare", "nothing", "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: project '{sample.project}' has no session 'nothing'.")


# archive


def test_archive_end_to_end(sample: Sample) -> None:
    """An archived session refuses changes, and its project's history tells; --undo opens it again."""
    said = process("archive", "--session", sample.session, cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Session {sample.session} is archived since ")
    refused = process("approve", "1", cwd=sample.base.parent)
    assert refused.code == 1
    assert "is archived since" in refused.err
    assert "Archived" in process("status", cwd=sample.base.parent).out
    opened = process("archive", "--session", sample.session, "--undo", cwd=sample.base.parent)
    assert opened.out == f"Session {sample.session} is open.\n"
    told = subjects(sample.base / sample.project)[-2:]
    assert told == [f"Session {sample.session} archived", f"Session {sample.session} unarchived"]


def test_archive_json_and_rule(sample: Sample, shell: Shell) -> None:
    """The JSON form tells one session, or what a rule chose; archived ones are taken for newest only at last."""
    _fork(sample)
    rule = ("--status", "in_progress", "--keep", "1", "--base-dir", sample.base)
    planned = shell("archive", *rule, "--dry-run", "--json").json["rule"]
    assert ([row["session_id"] for row in planned["chosen"]], planned["dry_run"]) == ([sample.session], True)
    assert "1 would archive; 1 stay." in shell("archive", *rule, "--dry-run").out
    assert shell("archive", *rule).out.endswith("1 archived; 1 stay.\n")
    one = shell("archive", "--session", FORK, "--base-dir", sample.base, "--json").json
    assert (one["session_id"], one["rule"]) == (FORK, None)
    shell("archive", "--session", sample.session, "--undo", "--base-dir", sample.base)
    assert shell("resume", "--base-dir", sample.base, "--json").json["session_id"] == sample.session


@pytest.mark.parametrize("command", ["archive", "delete"])
def test_one_or_a_rule(sample: Sample, shell: Shell, command: str) -> None:
    """Neither a session nor a rule, or both, is a wrong use; so is a size that is none."""
    wanted = "Error: name one session with --session, or give a rule that chooses several."
    for arguments in ([], ["--session", sample.session, "--keep", "1"]):
        said = shell(command, *arguments, "--base-dir", sample.base)
        assert (said.code, said.out, said.err.splitlines()[0]) == (2, "", wanted)
    assert "'20X' is no size such as 500k" in shell(command, "--larger-than", "20X", "--base-dir", sample.base).err
    assert sample.folder.is_dir()


# delete


def test_delete_end_to_end(sample: Sample) -> None:
    """A dry run lists what goes; without --yes and without anybody to ask, nothing goes."""
    arguments = ("delete", "--session", sample.session)
    planned = process(*arguments, "--dry-run", cwd=sample.base.parent)
    assert planned.out.splitlines()[0].startswith(f"Session {sample.session}: ")
    assert planned.out.endswith("Would be deleted.\n")
    refused = process(*arguments, cwd=sample.base.parent)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("Error: nothing was deleted: nobody can be asked here.")
    assert sample.folder.is_dir()
    said = process(*arguments, "--yes", cwd=sample.base.parent)
    assert (said.code, said.err, said.out.endswith("Deleted.\n")) == (0, "", True)
    assert not sample.folder.exists()
    assert subjects(sample.base / sample.project)[-1] == f"Session {sample.session} deleted"


@pytest.mark.parametrize(("answer", "is_there"), [("n", True), ("y", False)])
def test_delete_asks(sample: Sample, answer: str, *, is_there: bool) -> None:
    """In a terminal it lists what goes, and asks."""
    arguments = ("delete", "--session", sample.session, "--base-dir", str(sample.base))
    _, written = terminal.run(*PROGRAM, *arguments, environment={}, keys=f"{answer}\n".encode())
    assert b"Delete for good? [y/N]" in written
    assert sample.folder.is_dir() == is_there


@pytest.mark.parametrize("by_rule", [True, False])
@pytest.mark.parametrize("place", ["phase_1_concept/concept_expansion.md", "session_manifest.md", "a new note.txt"])
def test_delete_spares_what_changes_meanwhile(sample: Sample, place: str, *, by_rule: bool) -> None:
    """What somebody saves while the question waits is not deleted with the session that was listed."""
    which = ("--status", "in_progress") if by_rule else ("--session", sample.session)
    edited = sample.folder / place

    def edit() -> None:
        edited.write_text((edited.read_text() if edited.exists() else "") + "one more line\n")

    command = (*PROGRAM, "delete", *which, "--base-dir", str(sample.base))
    code, written = terminal.run(*command, environment={"NO_COLOR": "1"}, keys=b"y\n", meanwhile=edit)
    assert edited.read_text().endswith("one more line\n")
    said = " ".join(written.decode().split())
    if by_rule:
        assert (code, "it changed meanwhile" in said, "0 deleted; 1 stay." in said) == (0, True, True)
    else:
        assert (code, "changed since it was looked at; it was not deleted." in said) == (1, True)
    assert subjects(sample.base / sample.project)[-1] != f"Session {sample.session} deleted"


def test_delete_json_and_rule(sample: Sample, shell: Shell) -> None:
    """The JSON form tells what went; a rule spares what people wrote."""
    _fork(sample)
    planned = shell("delete", "--session", FORK, "--base-dir", sample.base, "--dry-run", "--json").json
    assert (planned["session"]["dry_run"], planned["rule"]) == (True, None)
    form = sample.folder / "phase_1_concept" / "user_feedback.md"
    form.write_text(f"{form.read_text()}\n<<<<<<< unfinished\n")
    rule = ("--status", "in_progress", "--older-than", "0", "--base-dir", sample.base, "--yes")
    found = shell("delete", *rule, "--json").json["rule"]
    spared = {row["session_id"]: row["spared"] for row in found["chosen"]}
    assert spared == {FORK: None, sample.session: "phase_1_concept/user_feedback.md is in no history"}
    assert [path.name for path in sample.folder.parent.iterdir()] == [sample.session]


def test_delete_an_unknown_session(sample: Sample, shell: Shell) -> None:
    """What is not there cannot be deleted."""
    said = shell("delete", "--session", "nothing", "--project", sample.project, "--base-dir", sample.base, "--yes")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: project '{sample.project}' has no session 'nothing'.")


# gc and repair


def test_gc_end_to_end(sample: Sample) -> None:
    """It removes what dead processes left, and packs each history into one."""
    left = sample.folder.parent / ".x.0123456789ab.haytham-tmp"
    left.mkdir()
    said = process("gc", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == f"removed  {left.relative_to(sample.base.parent)}"
    assert lines[-1].startswith("2 folders: ")
    assert not left.exists()
    assert len(list((sample.folder / ".git" / "objects" / "pack").glob("*.pack"))) == 1
    assert is_sound(sample.folder)


def test_gc_json(sample: Sample, shell: Shell) -> None:
    """The JSON form has a row for each folder; old torn pieces of journals are listed and left alone."""
    journal = sample.folder / "phase_1_concept" / "journal"
    journal.mkdir()
    torn = journal / "concept_expansion.md.torn-1"
    torn.write_text("a piece")
    arguments = ("gc", "--session", sample.session, "--base-dir", sample.base, "--json")
    assert shell(*arguments).json["folders"][0]["torn"] == []
    assert shell(*arguments, "--torn-after", "0").json["folders"][0]["torn"] == [str(torn)]
    assert torn.exists()


def test_gc_of_nothing(sample: Sample, shell: Shell) -> None:
    """A session has to be there."""
    said = shell("gc", "--session", "nothing", "--project", sample.project, "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")


def test_repair_end_to_end(sample: Sample) -> None:
    """It mends a journal that was damaged, and says so; then there is nothing to repair."""
    journal = _manager(sample).journal(*sample.ids, 1, "concept_expansion")
    journal.save({"step": 1})
    journal.save({"step": 2})
    path = sample.folder / "phase_1_concept" / "journal" / "concept_expansion.md"
    data = path.read_bytes()
    path.write_bytes(data[:-30] + b"x" + data[-29:])
    said = process("repair", cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("journal   ")
    assert said.out.endswith(f"Session {sample.session}: 1 repaired.\n")
    assert process("repair", cwd=sample.base.parent).out == f"Session {sample.session}: nothing to repair.\n"
    assert len(_manager(sample).journal(*sample.ids, 1, "concept_expansion").all()) == 1


def test_repair_json(sample: Sample, shell: Shell) -> None:
    """The JSON form tells what recovery finished; a person's edit is listed."""
    (sample.folder / "session_manifest.md").unlink()
    said = shell("repair", "--base-dir", sample.base, "--session", sample.session, "--json").json
    assert said["finished"] == ["session_manifest.md was derived again from the checkpoints"]


def test_repair_without_sessions(sample: Sample, shell: Shell) -> None:
    """A project without sessions has nothing to repair."""
    _manager(sample).delete_session(*sample.ids)
    said = shell("repair", "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: the project has no sessions yet.")
