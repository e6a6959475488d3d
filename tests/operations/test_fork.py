"""Forks: a session that goes on from a point of another one, with its history."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import GateClosed, HaythamError, InvalidInput, NotFound, Session
from tests.evidence import PROJECT, git, is_sound, refused, snapshot, subjects
from tests.review.desk import AT, Desk, below

FORK = (PROJECT, "fork")


def _folder(desk: Desk) -> Path:
    return desk.folder.parent / "fork"


def test_a_fork_has_its_parents_history(done: Desk) -> None:
    """The log of a fork is its parent's up to the phase, and one commit more, on a branch of its own."""
    record = done.manager.fork(*AT, "fork", phase=2)
    theirs = subjects(done.folder)
    assert subjects(_folder(done)) == [
        *theirs[: theirs.index("Phase 3 Print completed")],
        "Session fork forked from session-456",
    ]
    assert git(_folder(done), "branch", "--show-current") == "sessions/fork"
    assert git(_folder(done), "rev-parse", "HEAD^") == record["commit"]
    assert (record["kept_phases"], record["pending_phases"], record["reopened"]) == ([1, 2], [3], [])
    assert is_sound(_folder(done))
    assert git(_folder(done), "status", "--porcelain") == ""


def test_a_fork_says_where_it_comes_from(done: Desk) -> None:
    """The manifest of a fork and the project's log tell its origin."""
    record = done.manager.fork(*AT, "fork", phase=2)
    state = done.manager.load_session(*FORK)
    assert state["origin"] is not None
    told = {key: state["origin"][key] for key in ("session_id", "commit", "phase")}
    assert told == {"session_id": AT[1], "commit": record["commit"], "phase": 2}
    assert state["phase_statuses"] == {1: "completed", 2: "completed", 3: "pending"}
    assert state["next_phase"] == 3
    assert subjects(done.base / PROJECT)[-1] == "Session fork forked from session-456"


def test_the_parent_is_left_as_it_is(done: Desk) -> None:
    """Forking changes no byte of the parent."""
    done.manager.load_session(*AT)
    before = snapshot(done.folder)
    done.manager.fork(*AT, "fork", phase=1)
    assert before == snapshot(done.folder)


def test_a_fork_stands_alone(done: Desk) -> None:
    """A fork shares nothing with its parent: it goes on when that is gone."""
    done.manager.fork(*AT, "fork", phase=2)
    shutil.rmtree(done.folder)
    assert is_sound(_folder(done))
    done.manager.save_agent_output(*FORK, 3, "printer", "other")
    done.manager.save_checkpoint(*FORK, 3, "completed", [])
    assert done.manager.load_session(*FORK)["completed_phases"] == [1, 2, 3]


def test_approvals_hold_in_a_fork(done: Desk) -> None:
    """What was approved is approved in a fork, because it is the same content; a change voids it there as ever."""
    done.manager.fork(*AT, "fork", phase=2)
    assert done.manager.get_approved_phases(*FORK) == [1, 2]
    output = _folder(done) / "phase_1_draft" / "writer.md"
    output.write_bytes(output.read_bytes() + b"more\n")
    with pytest.raises(GateClosed):
        done.manager.save_agent_output(*FORK, 3, "printer", "x")
    assert done.approved() == [1, 2, 3]


def test_a_fork_from_a_commit(done: Desk) -> None:
    """A commit, given by the beginning of its id, is gone on from as it was."""
    at = next(entry for entry in done.history() if entry.subject == "Phase 2 Check completed")
    record = done.manager.fork(*AT, "fork", commit=at.id[:10])
    assert (record["commit"], record["phase"]) == (at.id, None)
    shortest = at.id[:4].upper()  # the same wherever a commit is named
    assert done.manager.fork(*AT, "other", commit=shortest)["commit"] == at.id
    assert done.manager.show_phase(*AT, 2, shortest)["commit"] == at.id
    assert done.manager.load_session(*FORK)["phase_statuses"] == {1: "completed", 2: "completed", 3: "pending"}
    assert done.manager.get_approved_phases(*FORK) == [1]


def test_a_fork_from_here(done: Desk) -> None:
    """Without a point, a fork goes on from the newest commit, with every phase; its id is made up."""
    record = done.session.fork()
    assert record["pending_phases"] == []
    assert Session(done.manager, PROJECT, record["session_id"]).state()["status"] == "completed"
    assert is_sound(Path(record["path"]))


def test_an_edit_that_nobody_committed_stays_with_its_writer(desk: Desk) -> None:
    """A person's draft stays in the parent, byte for byte; the fork has what history has."""
    desk.run(1)
    desk.form(1).write_text(below(desk.form(1).read_text(), "## User Comments", "unfinished"))
    mine = desk.form(1).read_bytes()
    desk.manager.fork(*AT, "fork")
    assert desk.form(1).read_bytes() == mine
    assert b"unfinished" not in (_folder(desk) / "phase_1_draft" / "user_feedback.md").read_bytes()


def test_a_withdrawn_approval_does_not_come_back(desk: Desk) -> None:
    """Forking from before a change of mind does not open the gate again: the phase asks for a new review."""
    desk.run(1)
    desk.decide(1)
    approved = desk.history()[0].id
    desk.decide(1, "retry_with_changes", changes=["shorter"])
    record = desk.manager.fork(*AT, "fork", commit=approved)
    assert record["reopened"] == [1]
    assert desk.manager.get_approved_phases(*FORK) == []
    with pytest.raises(GateClosed):
        desk.manager.save_agent_output(*FORK, 2, "checker", "x")
    review = desk.manager.review(*FORK, 1)
    assert review["previous"] is not None
    assert "another decision about the same content" in str(review["previous"]["void_because"])


def test_a_withdrawn_skip_does_not_come_back(desk: Desk) -> None:
    """A phase that a reviewer skipped and then wanted after all is no open gate in a fork from in between."""
    desk.run(1)
    desk.decide(1, "skip_phase")
    skipped = desk.history()[0].id
    desk.decide(1, "retry_with_changes", changes=["shorter"])
    desk.manager.fork(*AT, "fork", commit=skipped)
    with pytest.raises(GateClosed):
        desk.manager.save_agent_output(*FORK, 2, "checker", "x")


def test_one_of_two_approvals_that_was_withdrawn(done: Desk) -> None:
    """Where several decide, one who changed their mind is asked again."""
    approved = done.history()[0].id
    done.decide(2, "retry_with_changes", reviewer="Bob <bob@example.org>", changes=["x"])
    assert done.manager.fork(*AT, "fork", commit=approved)["reopened"] == [2]
    assert done.manager.get_approved_phases(*FORK) == [1, 3]


def test_journals_are_forked(desk: Desk) -> None:
    """The journals of the phases that are kept come along, whole, and can be gone on with."""
    journal = desk.manager.journal(*AT, 1, "writer")
    journal.save({"step": 1}, name="first")
    desk.run(1)
    desk.decide(1)
    desk.manager.fork(*AT, "fork", phase=1)
    forked = desk.manager.journal(*FORK, 1, "writer")
    assert (forked.verify(), [each.name for each in forked.all()]) == ([], ["first"])
    forked.save({"step": 2}, name="second")
    assert [each.name for each in desk.manager.journal(*AT, 1, "writer").all()] == ["first"]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"phase": 1, "commit": "abcdef0"}, InvalidInput, "both a phase and a commit are named."),
        ({"phase": 9}, InvalidInput, "phase number is 9, which this workflow does not have."),
        ({"phase": 3}, InvalidInput, "phase 3 Print is not in history yet."),
        ({"commit": "abcdef0"}, InvalidInput, "no commit of this session begins with abcdef0."),
        ({"commit": "HEAD"}, InvalidInput, "commit is 'HEAD'."),
        ({"commit": "--output=x"}, InvalidInput, "commit is '--output=x'."),
        ({"new_session_id": "../x"}, InvalidInput, "session id '../x' contains a character that is not allowed."),
        ({"new_session_id": AT[1]}, InvalidInput, "session 'session-456' exists already."),
        ({"new_session_id": AT[1].upper()}, InvalidInput, "session id 'SESSION-456' differs only by case"),
    ],
)
def test_refused(desk: Desk, given: dict[str, object], kind: type[Exception], message: str) -> None:
    """What cannot be forked is refused by name, and nothing is made."""
    desk.run(1)
    desk.manager.load_session(*AT)
    error = refused(desk.base, kind, lambda: desk.manager.fork(*AT, **given))  # type: ignore[arg-type]
    assert error.message.startswith(message)


def test_repeating_a_fork_is_safe(done: Desk) -> None:
    """The same fork once more is the one that is there, and is noted once; another point is another session."""
    record = done.manager.fork(*AT, "fork", phase=2)
    before = snapshot(done.base)
    assert done.manager.fork(*AT, "fork", phase=2) == record
    refused(done.base, InvalidInput, lambda: done.manager.fork(*AT, "fork", phase=1))
    assert before == snapshot(done.base)


def test_unknown_sessions(desk: Desk) -> None:
    """A session that does not exist cannot be forked."""
    refused(desk.base, NotFound, lambda: desk.manager.fork(PROJECT, "nothing"))


def test_a_damaged_history_is_not_carried_on(done: Desk) -> None:
    """An object that does not hold what it is named by stops the fork."""
    pack = min((done.folder / ".git" / "objects" / "pack").glob("*.pack"))
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(bytes(data))
    with pytest.raises(HaythamError):
        done.reopened().manager.fork(*AT, "fork")
    assert not _folder(done).exists()


def _on_another_branch(project: Path) -> None:
    git(project, "switch", "-q", "-c", "mine")


def _unreadable(project: Path) -> None:
    (project / "project.md").write_text("no project\n")


@pytest.mark.parametrize("spoil", [_on_another_branch, _unreadable])
def test_a_project_that_cannot_note_it(done: Desk, tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    """Where the project's history cannot tell of a fork or of an import, there is none."""
    exported = done.manager.export_session(*AT, tmp_path / "s.zip")["path"]
    spoil(done.base / PROJECT)
    refused(done.base, HaythamError, lambda: done.manager.fork(*AT, "fork", phase=1))
    refused(done.base, HaythamError, lambda: done.manager.import_file(exported, as_id="imported"))
    assert [path.name for path in done.folder.parent.iterdir()] == [AT[1]]
