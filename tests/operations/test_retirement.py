"""Archiving, deleting and tidying up sessions."""

import shutil

import pytest

from haytham import InvalidInput
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
