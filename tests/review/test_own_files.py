"""What people do beside the forms: delete outputs, keep notes, change the workflow. All of it is theirs, in history."""

import pytest

from tests.evidence import git
from tests.review.desk import AT, REA, Desk


def _status(desk: Desk) -> str:
    return git(desk.folder, "status", "--short")


def _author(desk: Desk, name: str) -> str:
    return git(desk.folder, "log", "-1", "--format=%an", "--", name)


def test_deleted_output_is_committed_as_deleted(desk: Desk) -> None:
    """Whoever deletes an output is the author of its deletion, and the form is issued for what is left."""
    desk.run(1)
    desk.decide(1)
    desk.output(1).unlink()
    assert desk.manager.review(*AT, 1)["decision"] is None
    assert (_author(desk, "phase_1_draft/writer.md"), _status(desk)) == (REA.name, "")
    assert git(desk.folder, "ls-files", "phase_1_draft/writer.md") == ""
    assert desk.manager.load_session(*AT)["edited_files"] == []


def test_output_deleted_between_two_attempts(desk: Desk) -> None:
    """A deletion that nobody looked at is committed in its author's name before the next attempt is."""
    desk.run(1)
    desk.manager.save_agent_output(*AT, 1, "second_writer", "more")
    desk.decide(1, "retry_with_changes")
    desk.output(1).with_name("second_writer.md").unlink()
    desk.run(1, "second")
    assert (_author(desk, "phase_1_draft/second_writer.md"), _status(desk)) == (REA.name, "")


def test_notes_are_no_output(desk: Desk) -> None:
    """A person's own file is not reviewed, not handed on as an output, and not lost."""
    desk.run(1)
    desk.decide(1)
    notes = desk.output(1).with_name("notes.md")
    notes.write_text("# What I think\n\nGood, mostly.\n", encoding="utf-8")
    assert desk.approved() == [1]
    assert desk.manager.get_phase_outputs(*AT, [1]) == {1: {"writer": "text"}}
    assert desk.manager.validate_checkpoint(*AT, 1) == (True, [])
    overview = desk.manager.overview(*AT)
    assert overview["own_files"] == overview["edited_files"] == ["phase_1_draft/notes.md"]
    desk.decide(1)
    assert (_author(desk, "phase_1_draft/notes.md"), _status(desk)) == (REA.name, "")
    assert desk.manager.load_session(*AT)["edited_files"] == []
    assert notes.read_text(encoding="utf-8") == "# What I think\n\nGood, mostly.\n"


@pytest.mark.parametrize("agent", ["writer", "guest"])
def test_output_without_its_mark_is_still_one(desk: Desk, agent: str) -> None:
    """An output that the workflow or the checkpoint names stays an output, whatever somebody took out of it."""
    desk.manager.complete_phase(*AT, 1, [{"agent_name": agent, "output_content": "text"}])
    desk.decide(1)
    output = desk.output(1).with_name(f"{agent}.md")
    output.write_bytes(output.read_bytes().replace(b"<!-- haytham agent_output v1 -->\n", b""))
    assert desk.approved() == []
    assert desk.manager.overview(*AT)["own_files"] == []


def test_edit_of_the_workflow_is_reported_and_committed(desk: Desk) -> None:
    """The session's own copy of its workflow may be changed: it is named as edited, then committed as its author's."""
    desk.run(1)
    workflow = desk.folder / "workflow.toml"
    theirs = workflow.read_bytes().replace(b"max_retries = 2", b"max_retries = 5")
    workflow.write_bytes(theirs)
    assert desk.manager.load_session(*AT)["edited_files"] == ["workflow.toml"]
    desk.decide(1)
    assert (_author(desk, "workflow.toml"), _status(desk)) == (REA.name, "")
    assert theirs == workflow.read_bytes()
    assert desk.manager.load_session(*AT)["edited_files"] == []


def test_deleted_workflow_is_not_committed_as_deleted(desk: Desk) -> None:
    """Without its copy the session goes on from history; the loss is reported, not made final."""
    desk.run(1)
    (desk.folder / "workflow.toml").unlink()
    assert desk.manager.load_session(*AT)["edited_files"] == ["workflow.toml"]
    desk.decide(1)
    assert git(desk.folder, "ls-files", "workflow.toml") == "workflow.toml"


def test_staged_version_that_is_nowhere_else_stays_staged(desk: Desk) -> None:
    """What somebody staged and then changed again in the file is only in the index: our commit does not drop it."""
    desk.run(1)
    form = "phase_1_draft/user_feedback.md"
    desk.edit(1, "-", comments="staged words")
    git(desk.folder, "add", form)
    desk.edit(1, "approved", comments="later words")
    desk.manager.load_session(*AT)
    assert desk.approved() == [1]
    staged = git(desk.folder, "show", f":{form}")
    assert ("staged words" in staged, "later words" in staged) == (True, False)
    desk.reopened().manager.recover(*AT)
    assert git(desk.folder, "show", f":{form}") == staged


def test_staged_version_that_was_taken_in_is_done_with(desk: Desk) -> None:
    """What was staged as it is in the file has been taken in with it: git finds nothing left to commit."""
    desk.run(1)
    desk.edit(1, "approved", comments="my words")
    git(desk.folder, "add", "--all")
    desk.manager.load_session(*AT)
    assert (desk.approved(), _status(desk)) == ([1], "")
