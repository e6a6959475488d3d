"""Does one call of the public API in a process of its own, so that a tracer can be put on just that call.

    python -P -m tests.faults.workshop

With `shared BASE` it makes a session for many writers, and ends.
Reads `CALL BASE` lines; for each one a child is forked, warm, which says `ready PID`, waits for a line, does the call,
says `ok` or the error's name, and ends. Then `exit STATUS` follows.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import haytham
from haytham import CheckpointManager, HaythamError, ProjectManager
from haytham.documents.migrations import Steps
from haytham.exchange import archive as archives
from haytham.journal.journals import Journals
from haytham.storage.store import CommitNote
from tests.faults.orchestrator import PROJECT, SHARED, text

SESSION = "session-0"
NEW = "session-new"
OLD = "session-old"
OTHER_PROJECT = "project-other"
CHECKPOINTS = ("phase_1_concept/checkpoint.md", "phase_2_market_research/checkpoint.md")
STEPS: Steps = {"checkpoint": {0: lambda text: text.replace("checkpoint v0 -->", "checkpoint v1 -->", 1)}}
_AGENTS = [{"agent_name": name, "status": "completed", "output_file": f"{name}.md"} for name in ("first", "second")]


def prepare(base: Path) -> None:
    """Makes what the calls need: one phase completed, one with its outputs saved."""
    projects, manager = ProjectManager(base, new_id=lambda: "trial"), CheckpointManager(base)
    projects.create_project("user-1", "An idea.")
    manager.create_session(PROJECT, SESSION, "user-1")
    for number in (1, 2):
        manager.save_checkpoint(PROJECT, SESSION, number, "in_progress", _AGENTS)
        for agent in ("first", "second"):
            manager.save_agent_output(PROJECT, SESSION, number, agent, text(f"{agent} {number}"))
    manager.save_checkpoint(PROJECT, SESSION, 1, "completed", _AGENTS)
    manager.create_session(PROJECT, OLD, "user-1")
    for agent in ("first", "second"):
        manager.save_agent_output(PROJECT, OLD, 1, agent, text(f"{agent} old"))
    manager.save_checkpoint(PROJECT, OLD, 1, "completed", _AGENTS)
    manager.export_session(PROJECT, OLD, base / "session.zip")
    manager.export_project(PROJECT, base / "project.zip")


def prepare_old(base: Path) -> None:
    """Makes the same, with checkpoints of a format that was never there, in a session whose phases are completed."""
    prepare(base)
    manager = CheckpointManager(base)
    manager.save_checkpoint(PROJECT, SESSION, 2, "completed", _AGENTS)
    store = manager._access.store(PROJECT, SESSION)
    with store.locked():
        contents = {name: (store.bytes_of(name) or b"").replace(b"int v1 -->", b"int v0 -->") for name in CHECKPOINTS}
        store.save(contents, CommitNote(message="as an older release wrote it\n"))


def prepare_shared(base: Path) -> None:
    """Makes a session of seven phases."""
    ProjectManager(base, new_id=lambda: "trial").create_project("user-1", "An idea.")
    CheckpointManager(base).create_session(PROJECT, SHARED, "user-1", execution_mode="full")


def create_project(base: Path) -> None:
    """A project."""
    ProjectManager(base, new_id=lambda: "new").create_project("user-1", "Another idea.")


def create_session(base: Path) -> None:
    """A session."""
    CheckpointManager(base).create_session(PROJECT, NEW, "user-1")


def start_session(base: Path) -> None:
    """A session, by way of its project."""
    ProjectManager(base, new_id=lambda: "new").start_session(PROJECT)


def save_agent_output(base: Path) -> None:
    """An output of a phase at work."""
    CheckpointManager(base).save_agent_output(PROJECT, SESSION, 2, "first", text("first again"))


def save_late_output(base: Path) -> None:
    """An output of a phase that was completed before."""
    CheckpointManager(base).save_agent_output(PROJECT, SESSION, 1, "first", text("first again"))


def start_phase(base: Path) -> None:
    """A checkpoint without a commit."""
    CheckpointManager(base).save_checkpoint(PROJECT, SESSION, 3, "in_progress", _AGENTS)


def save_checkpoint(base: Path) -> None:
    """A phase completed."""
    CheckpointManager(base).save_checkpoint(PROJECT, SESSION, 2, "completed", _AGENTS)


def save_user_feedback(base: Path) -> None:
    """A decision."""
    CheckpointManager(base).save_user_feedback(PROJECT, SESSION, 1, reviewed=True, approved=True, comments="Good.")


def complete_session(base: Path) -> None:
    """A session closed, with its result."""
    ProjectManager(base).complete_session(PROJECT, SESSION, text("requirements"))


def update_user_preferences(base: Path) -> None:
    """A preference."""
    ProjectManager(base).update_user_preferences(PROJECT, {"tone": "plain"})


def fork(base: Path) -> None:
    """A session made from another one."""
    CheckpointManager(base).fork(PROJECT, SESSION, NEW, phase=1)


def rollback(base: Path) -> None:
    """A phase at work goes away."""
    CheckpointManager(base).rollback(PROJECT, SESSION, phase=1)


def archive_session(base: Path) -> None:
    """A session put away."""
    CheckpointManager(base).archive_session(PROJECT, OLD)


def delete_session(base: Path) -> None:
    """A session removed."""
    CheckpointManager(base).delete_session(PROJECT, OLD)


def export_session(base: Path) -> None:
    """A session in one file."""
    CheckpointManager(base).export_session(PROJECT, SESSION, base.parent / "exports" / "session.zip")


def export_project(base: Path) -> None:
    """A project in one file."""
    CheckpointManager(base).export_project(PROJECT, base.parent / "exports" / "project.zip")


def import_session(base: Path) -> None:
    """A session from a file, into a project that is there."""
    CheckpointManager(base).import_file(base / "session.zip", as_id=NEW)


def import_into_new_project(base: Path) -> None:
    """A session from a file, into a project that is made for it."""
    CheckpointManager(base).import_file(base / "session.zip", project_id=OTHER_PROJECT)


def import_project(base: Path) -> None:
    """A project from a file."""
    CheckpointManager(base).import_file(base / "project.zip", as_id=OTHER_PROJECT)


def migrate(base: Path) -> None:
    """Documents of an old format rewritten; each try has a backup of its own."""
    backup = base.parent / "exports" / f"{os.getpid()}.zip"
    CheckpointManager(base)._migrated(PROJECT, backup, dry_run=False, known=STEPS)


def load_session(base: Path) -> None:
    """Nothing but a look, by a fresh manager."""
    state = CheckpointManager(base).load_session(PROJECT, SESSION)
    assert not state["edited_files"], state["edited_files"]


def look(base: Path) -> None:
    """A look at everything there is: each session is whole and can be loaded, verified, and each export imported."""
    load_session(base)
    projects = ProjectManager(base)
    for project in projects.project_ids():
        for session in projects.sessions.session_ids(project):
            projects.sessions.load_session(project, session)
        for report in projects.verify_project(project):
            assert not report["findings"], report["findings"]
    for path in base.parent.glob("exports/*.zip"):
        archives.unpacked(path.read_bytes())


def fork_journal(base: Path) -> None:
    """A journal forked from the middle of another session's, unless it is there already."""
    there = journals_of(base, "there").journal("writer")
    if not len(there):
        here = journals_of(base, "here").journal("writer")
        here.fork_into(journals_of(base, "there"), entry=here.all()[1])


def journals_of(base: Path, session: str) -> Journals:
    """The journals of a session that consists of nothing else."""
    return Journals(base / session, base / f"{session}-notes", session)


CALLS: dict[str, Callable[[Path], None]] = {
    call.__name__: call
    for call in (
        create_project,
        create_session,
        start_session,
        save_agent_output,
        save_late_output,
        start_phase,
        save_checkpoint,
        save_user_feedback,
        complete_session,
        update_user_preferences,
        fork,
        rollback,
        archive_session,
        delete_session,
        export_session,
        export_project,
        import_session,
        import_into_new_project,
        import_project,
    )
}


def _child(call: str, base: Path) -> None:
    _say(f"ready {os.getpid()}")
    os.read(0, 1)
    try:
        tempfile.tempdir = str(base.parent)
        (CALLS | {each.__name__: each for each in (load_session, look, migrate, fork_journal)})[call](base)
    except HaythamError as error:
        _say(f"{type(error).__name__}: {error.message}")
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
        _say(f"NOT OURS {type(error).__name__}: {error}")
    else:
        _say("ok")
    os._exit(0)


def _say(line: str) -> None:
    os.write(1, line.replace("\n", " ").encode() + b"\n")


def _line() -> str:
    data = b""
    while not data.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit()
        data += byte
    return data.decode().strip()


def main() -> None:
    """Serves calls until its input ends."""
    assert Path(haytham.__file__).parents[1] == Path(os.environ["HAYTHAM_ON_TRIAL"])
    if sys.argv[1:2] == ["shared"]:
        prepare_shared(Path(sys.argv[2]))
        return
    while True:
        call, base = _line().split(" ", 1)
        if call in {"prepare", "prepare_old"}:  # in this process, so that everything is loaded
            (prepare if call == "prepare" else prepare_old)(Path(base))
            _say("ok")
            continue
        child = os.fork()
        if child == 0:
            _child(call, Path(base))
        _, status = os.waitpid(child, 0)
        _say(f"exit {status}")


if __name__ == "__main__":
    main()
