"""Archiving, deleting and tidying up sessions."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import BrokenRepository, Conflict, InvalidDocument, InvalidInput
from tests.evidence import PROJECT, git, is_sound, refused, snapshot, subjects
from tests.review.desk import AT, Desk


def test_an_archived_session_is_refused_changes(done: Desk) -> None:
    """Nothing changes an archived session, at any entry point, until it is open again."""
    done.session.archive()
    assert done.manager.load_session(*AT)["archived"] is not None
    for call in (
        lambda: done.run(3),
        lambda: done.decide(3, "retry_with_changes"),
        lambda: done.manager.rollback(*AT, phase=1),
        lambda: done.manager.complete_session(*AT),
    ):
        error = refused(done.folder, InvalidInput, call)
        assert error.message.startswith("session session-456 is archived since")
    assert done.manager.fork(*AT, "fork")["origin"] == AT[1]
    assert done.manager.load_session(PROJECT, "fork")["archived"] is None
    done.session.unarchive()
    done.run(3, "again")
    assert is_sound(done.folder)


def test_archiving_twice_is_noted_once(done: Desk) -> None:
    """Archiving again changes nothing, in the session and in the project."""
    done.manager.archive_session(*AT)
    before = snapshot(done.base)
    done.manager.archive_session(*AT)
    assert before == snapshot(done.base)
    assert subjects(done.base / PROJECT)[-1] == "Session session-456 archived"


def test_what_fails_is_not_noted(done: Desk) -> None:
    """If a session cannot be archived, the project's history does not say so, however often it is tried."""
    before = subjects(done.base / PROJECT)
    done.form(3).write_text("<<<<<<< to be committed first\n")
    lock = done.folder / ".git" / "refs" / "heads" / "sessions" / f"{AT[1]}.lock"
    lock.touch()
    with pytest.raises(BrokenRepository):
        done.manager.archive_session(*AT)
    assert subjects(done.base / PROJECT) == before
    assert "Archived" not in (done.folder / "session_manifest.md").read_text()
    lock.unlink()
    done.manager.archive_session(*AT)
    assert subjects(done.base / PROJECT) == [*before, "Session session-456 archived"]


def test_archiving_needs_a_project_that_can_note_it(done: Desk) -> None:
    """A project on another branch, or with a document that cannot be read, is noticed before the session changes."""
    project = done.base / PROJECT
    git(project, "switch", "-q", "-c", "mine")
    refused(done.base, BrokenRepository, lambda: done.manager.archive_session(*AT))
    git(project, "switch", "-q", "main")
    (project / "project.md").write_text("no project\n")
    refused(done.base, InvalidDocument, lambda: done.manager.archive_session(*AT))


@pytest.mark.parametrize("is_archived", [True, False])
def test_a_note_that_is_missing_is_made_up_for(done: Desk, *, is_archived: bool) -> None:
    """Where a process died between the session and the note, repeating the call notes it once."""
    calls = done.manager.archive_session, done.manager.unarchive_session
    change = calls[0] if is_archived else calls[1]
    if not is_archived:
        calls[0](*AT)
    project = done.base / PROJECT
    before = git(project, "rev-parse", "HEAD")
    change(*AT)
    noted = subjects(project)
    git(project, "reset", "-q", "--hard", before)  # as if it had never been noted
    for _ in range(2):
        change(*AT)
        assert subjects(project) == noted


def test_opening_what_is_open_is_not_noted(done: Desk) -> None:
    """A session that never was archived is not told to be unarchived; nor one whose id was an archived one's before."""
    before = snapshot(done.base)
    done.manager.unarchive_session(*AT)
    assert before == snapshot(done.base)
    done.manager.archive_session(*AT)
    done.manager.delete_session(*AT)
    done.manager.create_session(*AT, "user-789", "desk", "all")
    before = snapshot(done.base)
    done.manager.unarchive_session(*AT)
    assert before == snapshot(done.base)


def test_archiving_keeps_edits(done: Desk) -> None:
    """What a person wrote and nobody could understand is in history first, in their name."""
    form = done.form(3)
    form.write_bytes(form.read_bytes() + b"\n<<<<<<< unfinished\n")
    done.manager.archive_session(*AT)
    assert git(done.folder, "status", "--porcelain") == ""
    assert "<<<<<<< unfinished" in form.read_text()


def test_deleting_tells_and_removes_all(done: Desk) -> None:
    """A deleted session is gone with its history; the project tells, and has it as its current session no more."""
    done.manager.fork(*AT, "fork", phase=1)
    planned = done.session.delete(dry_run=True)
    assert done.folder.is_dir()
    record = done.session.delete()
    assert record == {**planned, "dry_run": False}
    assert record["commits"] > 5
    assert [path.name for path in done.folder.parent.iterdir()] == ["fork"]
    assert subjects(done.base / PROJECT)[-1] == "Session session-456 deleted"
    assert is_sound(done.folder.parent / "fork")


def test_a_broken_session_can_be_deleted(done: Desk) -> None:
    """One that has lost its repository, or cannot be read, can still be put out of the way."""
    shutil.rmtree(done.folder / ".git")
    done.manager.delete_session(*AT)
    assert not done.folder.exists()


def _write(done: Desk, name: str) -> None:
    place = done.folder / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("mine\n")


def _commit_on(done: Desk, *start: str) -> None:
    git(done.folder, *start)
    _write(done, "draft.txt")
    git(done.folder, "add", "draft.txt")
    git(done.folder, "commit", "-m", "mine")
    git(done.folder, "switch", "-q", f"sessions/{AT[1]}")


def _stage_and_change(done: Desk) -> None:
    _write(done, "draft.txt")
    git(done.folder, "add", "draft.txt")
    (done.folder / "draft.txt").unlink()


def _stash(done: Desk) -> None:
    done.form(3).write_text("mine\n")
    git(done.folder, "stash")


THEIRS: dict[str, tuple[Callable[[Desk], object], str]] = {
    "a text at the top": (lambda done: _write(done, "NOTES.txt"), "NOTES.txt"),
    "a markdown file at the top": (lambda done: _write(done, "notes.md"), "notes.md"),
    "other data of a phase": (lambda done: _write(done, "phase_1_draft/data.csv"), "phase_1_draft/data.csv"),
    "a folder of their own": (lambda done: _write(done, "phase_9_own/draft.md"), "phase_9_own/draft.md"),
    "a text beside journals": (lambda done: _write(done, "phase_1_draft/journal/n.md"), "phase_1_draft/journal/n.md"),
    "a hidden file": (lambda done: _write(done, ".env"), ".env"),
    "an ignored file": (lambda done: _write(done, "x.haytham-swap"), "x.haytham-swap"),
    "a link": (lambda done: (done.folder / "link").symlink_to("nowhere"), "link"),
    "an edited output": (lambda done: _write(done, "phase_1_draft/writer.md"), "phase_1_draft/writer.md"),
    "what is staged only": (_stage_and_change, "draft.txt"),
}
COMMITTED: dict[str, tuple[Callable[[Desk], object], str]] = {
    "a branch": (lambda done: _commit_on(done, "switch", "-q", "-c", "mine"), "refs/heads/mine"),
    "a stash": (_stash, "refs/stash"),
    "a tagged blob": (lambda done: git(done.folder, "tag", "t", "HEAD:session_manifest.md"), "refs/tags/t"),
}


@pytest.mark.parametrize("case", [*THEIRS, *COMMITTED])
def test_a_rule_spares_what_people_wrote(done: Desk, case: str) -> None:
    """Whatever somebody wrote and the session's history has not: each dry run names it, and no rule deletes it."""
    write, name = (THEIRS | COMMITTED)[case]
    before = done.manager.delete_session(*AT, dry_run=True)
    assert (before["edited_files"], before["refs"]) == ([], [])
    write(done)
    planned = done.manager.delete_session(*AT, dry_run=True)
    assert [name] == (planned["edited_files"] if case in THEIRS else planned["refs"])
    found = done.manager.retain_sessions(PROJECT, statuses=["completed"], action="delete")
    said = f"{name} is in no history" if case in THEIRS else f"{name} has commits of its own"
    assert [row["spared"] for row in found["chosen"]] == [said]
    assert (done.folder.is_dir(), found["kept"]) == (True, 1)


def test_a_rule_spares_detached_commits(done: Desk) -> None:
    """So it does with commits that no branch has at all."""
    git(done.folder, "switch", "-q", "--detach")
    git(done.folder, "commit", "--allow-empty", "-m", "mine")
    assert done.manager.delete_session(*AT, dry_run=True)["refs"] == ["HEAD"]


def test_what_history_has_is_not_spared(done: Desk) -> None:
    """Refs into the session's own history, what a remote has, and an agent's uncommitted work do not hold up a rule."""
    git(done.folder, "branch", "same")
    git(done.folder, "tag", "-m", "same", "annotated", "HEAD~1")
    other = git(done.folder, "commit-tree", "-m", "theirs", "HEAD^{tree}")
    git(done.folder, "update-ref", "refs/remotes/origin/x", other)
    done.manager.journal(*AT, 3, "printer").save({"step": 1})
    done.manager.save_agent_output(*AT, 3, "printer", "unfinished")
    (done.folder / "phase_1_draft" / "writer.md").unlink()
    planned = done.manager.delete_session(*AT, dry_run=True)
    assert (planned["edited_files"], planned["refs"]) == ([], [])


def test_what_cannot_be_told_is_not_nothing(done: Desk) -> None:
    """Where history cannot be read, a plan says that it does not know, and a rule spares the session."""
    (done.folder / ".git" / "refs" / "heads" / "sessions" / AT[1]).write_text(f"{'1' * 40}\n")
    planned = done.manager.delete_session(*AT, dry_run=True)
    assert (planned["edited_files"], planned["refs"]) == (None, None)
    found = done.manager.retain_sessions(PROJECT, statuses=["completed"], action="delete")
    assert [row["spared"] for row in found["chosen"]] == ["its history cannot be read"]


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_an_odd_session_can_be_deleted(done: Desk, make: Callable[[Path], None]) -> None:
    """What stands in the place of a document, and cannot be read as one, does not hold up a deletion."""
    place = done.folder / "phase_1_draft" / "writer.md"
    place.unlink()
    make(place)
    planned = done.manager.delete_session(*AT, dry_run=True)
    done.manager.delete_session(*AT, state=planned["state"])
    assert not done.folder.exists()


def _edit_a_listed_file(done: Desk) -> None:
    (done.folder / "listed.txt").write_text("listed, and changed\n")


CHANGES: dict[str, Callable[[Desk], object]] = {
    "a new file": lambda done: _write(done, "NOTES.txt"),
    "a listed file": _edit_a_listed_file,
    "a deleted file": lambda done: (done.folder / "listed.txt").unlink(),
    "a link": lambda done: (done.folder / "link").symlink_to("nowhere"),
    "a branch": lambda done: _commit_on(done, "switch", "-q", "-c", "mine"),
    "a commit": lambda done: git(done.folder, "commit", "--allow-empty", "-m", "mine"),
    "another attempt": lambda done: done.run(3, "again"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_only_what_was_looked_at_is_deleted(done: Desk, change: str) -> None:
    """A deletion that names the state which a dry run told is refused if anything changed since, and goes otherwise."""
    _write(done, "listed.txt")
    planned = done.manager.delete_session(*AT, dry_run=True)
    CHANGES[change](done)
    error = refused(done.base, Conflict, lambda: done.manager.delete_session(*AT, state=planned["state"]))
    assert error.message == "session 'session-456' changed since it was looked at; it was not deleted."
    now = done.manager.delete_session(*AT, dry_run=True)["state"]
    done.manager.delete_session(*AT, state=now)
    assert not done.folder.exists()


def test_a_planned_retention_spares_what_changed(done: Desk) -> None:
    """Those go that a dry run chose, but for one that changed since; others do not, whatever the rule says by now."""
    for name in ("fork", "other"):
        done.manager.fork(*AT, name, phase=1)
    wanted = ["in_progress"]
    planned = done.manager.retain_sessions(PROJECT, statuses=wanted, action="delete", dry_run=True)
    done.manager.fork(*AT, "later", phase=1)
    (done.folder.parent / "other" / "notes.txt").write_text("mine\n")
    found = done.manager.retain_sessions(PROJECT, action="delete", planned=planned)
    assert {row["session_id"]: row["spared"] for row in found["chosen"]} == {
        "fork": None,
        "other": "it changed meanwhile",
    }
    assert (planned["kept"], found["kept"], found["dry_run"]) == (1, 2, False)
    assert found["bytes"] == next(row["bytes"] for row in planned["chosen"] if row["session_id"] == "fork")
    assert sorted(path.name for path in done.folder.parent.iterdir()) == ["later", "other", AT[1]]


@pytest.mark.parametrize("action", ["archive", "delete"])
def test_retention(done: Desk, action: str) -> None:
    """What a rule chooses is told by a dry run, then done; what it leaves is untouched."""
    done.manager.fork(*AT, "fork", phase=1)
    before = snapshot(done.base)
    planned = done.manager.retain_sessions(PROJECT, statuses=["completed"], action=action, dry_run=True)
    assert [row["session_id"] for row in planned["chosen"]] == [AT[1]]
    assert before == snapshot(done.base)
    done_now = done.manager.retain_sessions(PROJECT, statuses=["completed"], action=action)
    assert done_now == {**planned, "dry_run": False}
    again = done.manager.retain_sessions(PROJECT, statuses=["completed"], action=action)
    assert (again["chosen"], done.manager.load_session(PROJECT, "fork")["archived"]) == ([], None)


def test_retention_refuses_other_actions(done: Desk) -> None:
    """Only archiving and deleting can be asked for."""
    refused(done.base, InvalidInput, lambda: done.manager.retain_sessions(PROJECT, keep=1, action="hide"))


@pytest.mark.parametrize("days", [float("nan"), -1, "soon", None])
def test_gc_takes_an_age(desk: Desk, days: float) -> None:
    """What is no number of days is refused."""
    with pytest.raises(InvalidInput, match="torn_after_days is"):
        desk.manager.gc(AT[0], torn_after_days=days)
