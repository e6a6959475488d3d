"""Rollbacks: back to an earlier point by a new commit, with nothing lost."""

import json
from pathlib import Path

import pytest

from haytham import GateClosed, InvalidInput
from haytham.storage import restoring
from tests.evidence import git, is_sound, refused, snapshot, subjects
from tests.review.desk import AT, Desk


def _commit(desk: Desk, subject: str) -> str:
    return next(entry.id for entry in desk.history() if entry.subject == subject)


def test_later_phases_are_pending_again(done: Desk) -> None:
    """After going back to a phase it and those before are as they were, the others pending; history only grows."""
    before = git(done.folder, "log", "--format=%H").splitlines()
    record = done.session.rollback(phase=1, reason="the market changed")
    log = git(done.folder, "log", "--format=%H").splitlines()
    assert (log[1:], log[0]) == (before, record["commit"])
    state = done.manager.load_session(*AT)
    assert (state["phase_statuses"], state["next_phase"]) == ({1: "completed", 2: "pending", 3: "pending"}, 2)
    assert done.approved() == [1]
    assert git(done.folder, "log", "-1", "--format=%s%n%b").splitlines()[:3] == [
        "Rolled back to phase 1 Draft",
        "the market changed",
        "Pending: 2 Check, 3 Print",
    ]
    assert is_sound(done.folder)
    assert git(done.folder, "status", "--porcelain") == ""
    assert [path.name for path in (done.folder / "phase_2_check").iterdir() if path.is_file()] == []


def test_the_session_goes_on_from_there(done: Desk) -> None:
    """What was rolled back can be run again, through its gates."""
    done.manager.rollback(*AT, phase=1)
    done.run(2, "another")
    with pytest.raises(GateClosed):
        done.write(3, "x")
    done.approve_all(2)
    done.run(3, "another")
    assert done.manager.load_session(*AT)["status"] == "completed"


def test_back_and_forth(done: Desk) -> None:
    """A rollback can be taken back by going to the commit before it: documents and approvals are those of then."""
    done.manager.load_session(*AT)
    before = _documents(done.folder)
    head = done.history()[0].id
    done.manager.rollback(*AT, phase=1)
    assert before != _documents(done.folder)
    record = done.manager.rollback(*AT, commit=head)
    assert record["reopened"] == []
    assert before == _documents(done.folder)
    assert done.approved() == [1, 2, 3]


def test_a_completed_session_is_open_again(done: Desk) -> None:
    """A session that was closed can go on after a rollback."""
    done.manager.complete_session(*AT)
    done.manager.rollback(*AT, phase=2)
    state = done.manager.load_session(*AT)
    assert (state["status"], state["can_resume"]) == ("in_progress", True)


def test_a_withdrawn_approval_does_not_come_back(desk: Desk) -> None:
    """Going back to before a change of mind does not open the gate: the phase asks for a new review."""
    desk.run(1)
    desk.decide(1)
    approved = desk.history()[0].id
    desk.decide(1, "retry_with_changes", changes=["shorter"])
    record = desk.manager.rollback(*AT, commit=approved)
    assert record["reopened"] == [1]
    assert (desk.status(1), desk.approved()) == ("completed", [])
    with pytest.raises(GateClosed):
        desk.write(2, "x")


def test_a_phase_that_was_never_completed_does_not_become_so(desk: Desk) -> None:
    """A request for changes that is withdrawn by going back leaves the phase as it was before anybody decided."""
    desk.manager.start_phase(*AT, 1)
    desk.write(1, "half")
    for change in ("one", "another"):
        desk.manager.save_user_feedback(
            *AT, 1, reviewed=True, approved=False, requested_changes=[change], action="retry_with_changes"
        )
    desk.manager.rollback(*AT, commit=desk.history()[1].id)
    assert desk.status(1) == "in_progress"
    assert desk.manager.verify_session(*AT)["findings"] == []


def test_an_earlier_attempt_comes_back_with_its_approval(desk: Desk) -> None:
    """An approval of the content that comes back holds, where nobody decided otherwise about it."""
    desk.run(1, "first")
    desk.decide(1)
    first = desk.history()[0].id
    desk.run(1, "second")
    assert desk.approved() == []
    desk.manager.rollback(*AT, commit=first)
    assert desk.approved() == [1]
    assert "first" in desk.output(1).read_text()


def test_what_people_wrote_is_kept(done: Desk) -> None:
    """An edit that nobody committed is in history before it goes away, in the name of its writer."""
    form = done.form(3)
    form.write_bytes(form.read_bytes() + b"\n<<<<<<< unfinished\n")
    mine = form.read_bytes()
    record = done.manager.rollback(*AT, phase=1)
    assert record["kept_edits"] == ["phase_3_print/user_feedback.md"]
    edit = next(entry for entry in done.history() if "as edited by hand" in entry.subject)
    assert edit.author.name == "Rea Viewer"
    assert git(done.folder, "show", f"{edit.id}:phase_3_print/user_feedback.md").encode() == mine.strip()


def test_unfinished_work_is_kept(desk: Desk) -> None:
    """Outputs and journals of a phase at work are in history before they go away."""
    desk.run(1)
    desk.decide(1)
    desk.complete(2, "in_progress")
    desk.write(2, "half done")
    desk.manager.journal(*AT, 2, "checker").save({"step": 1})
    record = desk.manager.rollback(*AT, phase=1)
    assert [name.rpartition("/")[2] for name in record["kept_edits"]] == [
        "checker.md",
        "checkpoint.md",
        "checker.md",
        "session_manifest.md",
    ]
    assert "half done" in git(desk.folder, "show", "HEAD^:phase_2_check/checker.md")
    assert desk.status(2) == "pending"
    assert git(desk.folder, "status", "--porcelain") == ""


def test_files_of_others_stay(done: Desk) -> None:
    """What is no document of ours is left where it is, committed or not."""
    note = done.folder / "phase_3_print" / "notes.txt"
    note.write_text("mine")
    (done.folder / "todo.txt").write_text("mine too")
    git(done.folder, "add", "todo.txt")
    git(done.folder, "commit", "-qm", "todo")
    done.manager.rollback(*AT, phase=1)
    assert (note.read_text(), (done.folder / "todo.txt").read_text()) == ("mine", "mine too")
    assert git(done.folder, "status", "--porcelain") == "?? phase_3_print/"


def test_journals_go_back_too(desk: Desk) -> None:
    """A journal is as it was at that commit, sound, and can be gone on with."""
    journal = desk.manager.journal(*AT, 1, "writer")
    journal.save({"step": 1}, name="first")
    desk.run(1)
    then = desk.history()[0].id
    journal.save({"step": 2}, name="second")
    desk.run(1, "again")
    desk.manager.rollback(*AT, commit=then)
    again = desk.manager.journal(*AT, 1, "writer")
    assert (again.verify(), [each.name for each in again.all()]) == ([], ["first"])
    again.save({"step": 3}, name="third")
    assert [each.name for each in desk.manager.journal(*AT, 1, "writer").all()] == ["first", "third"]


def test_dry_run(done: Desk) -> None:
    """A dry run tells what would come back and go away, and changes nothing."""
    done.manager.load_session(*AT)
    before = snapshot(done.folder)
    record = done.manager.rollback(*AT, phase=2, dry_run=True)
    assert (record["commit"], record["dry_run"], record["restored"]) == (None, True, [])
    assert record["removed"] == [
        f"phase_3_print/{name}" for name in ("checkpoint.md", "printer.md", "user_feedback.md")
    ]
    assert before == snapshot(done.folder)
    assert record | {"dry_run": False, "commit": None} == done.manager.rollback(*AT, phase=2) | {"commit": None}


def test_going_where_one_is_changes_nothing(done: Desk) -> None:
    """A rollback to the present state is no commit."""
    count = len(done.history())
    assert done.manager.rollback(*AT, phase=3)["commit"] is None
    assert len(done.history()) == count


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "nothing says what to go back to."),
        ({"phase": 3}, "phase 3 Print is not in history yet."),
        ({"phase": "1"}, "phase number is '1', which this workflow does not have."),
        ({"commit": "0000000"}, "no commit of this session begins with 0000000."),
    ],
)
def test_refused(desk: Desk, given: dict[str, object], message: str) -> None:
    """A point that there is not is refused, with nothing changed."""
    desk.run(1)
    desk.manager.load_session(*AT)
    error = refused(desk.folder, InvalidInput, lambda: desk.manager.rollback(*AT, **given))  # type: ignore[arg-type]
    assert error.message == message


def test_what_a_crash_left_is_finished(done: Desk) -> None:
    """After a crash between the commit and the folder, whoever opens the session finds the new state, whole."""
    done.manager.load_session(*AT)
    before = _documents(done.folder)
    done.manager.rollback(*AT, phase=1)
    after = _documents(done.folder)
    _leave_behind(done, before)
    edited = done.form(2)
    edited.write_bytes(b"a person was quicker\n")
    again = done.reopened()
    state = again.manager.load_session(*AT)
    assert state["phase_statuses"][3] == "pending"
    brought = [line.partition(" ")[0] for line in state["recovered"] if "was brought to the commit" in line]
    assert "phase_3_print/printer.md" in brought
    assert "phase_2_check/user_feedback.md" not in brought
    assert after | {"phase_2_check/user_feedback.md": b"a person was quicker\n"} == _documents(done.folder)
    assert not (done.folder / ".git" / restoring.INTENT).exists()


def test_a_manager_at_work_notices_it_too(done: Desk) -> None:
    """One that opened the session before the crash does not go on with a half state."""
    done.manager.load_session(*AT)
    other = done.reopened().manager
    other.load_session(*AT)
    before = _documents(done.folder)
    done.manager.rollback(*AT, phase=1)
    after = _documents(done.folder)
    _leave_behind(done, before)
    assert other.load_session(*AT)["next_phase"] == 2
    assert after == _documents(done.folder)


def test_an_output_left_behind_is_nobodys_edit(desk: Desk) -> None:
    """Where a crash left only an output behind, it is brought to the commit, not taken for a person's change."""
    desk.run(1, "first")
    desk.decide(1)
    first = desk.history()[0].id
    desk.run(1, "second")
    other = desk.reopened().manager
    other.load_session(*AT)
    second = desk.output(1).read_bytes()
    desk.manager.rollback(*AT, commit=first)
    _leave_behind(desk, {"phase_1_draft/writer.md": second})
    assert other.get_approved_phases(*AT) == [1]
    assert b"first" in desk.output(1).read_bytes()


def test_a_note_without_its_commit_changes_nothing(done: Desk) -> None:
    """A crash before the commit leaves the old state."""
    done.manager.load_session(*AT)
    before = _documents(done.folder)
    _intend(done, {"commit": "0" * 40, "base": done.history()[0].id, "names": list(before)})
    done.reopened().manager.load_session(*AT)
    assert before == _documents(done.folder)
    assert not (done.folder / ".git" / restoring.INTENT).exists()


def _documents(folder: Path) -> dict[str, bytes | str]:
    """Returns the documents below a folder; of the manifest all but when it was written."""
    found = {name: data for name, data in snapshot(folder).items() if not name.startswith(".git/") and data != ""}
    return {name: data for name, data in found.items() if name.endswith(".md") and name != "session_manifest.md"}


def _leave_behind(desk: Desk, documents: dict[str, bytes | str]) -> None:
    """Puts the documents back as if the process had died just after the commit."""
    newest, base = (entry.id for entry in desk.history()[:2])
    for name, data in documents.items():
        assert isinstance(data, bytes)
        (desk.folder / name).write_bytes(data)
    _intend(desk, {"commit": newest, "base": base, "names": [*documents, "session_manifest.md"]})


def _intend(desk: Desk, intent: dict[str, object]) -> None:
    (desk.folder / ".git" / restoring.INTENT).write_text(json.dumps(intent))


def test_subjects(done: Desk) -> None:
    """One rollback is one commit, if nothing had to be kept first."""
    count = len(subjects(done.folder))
    done.manager.rollback(*AT, phase=1)
    assert len(subjects(done.folder)) == count + 1
