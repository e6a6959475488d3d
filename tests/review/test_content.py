"""An approval is bound to content: any change voids it, visibly; edits by hand are kept with their author."""

import logging

import pytest

from haytham.domain.records import ReviewRecord
from haytham.storage.history import Person
from tests.evidence import git, subjects
from tests.review.desk import AT, REA, Desk, trailers

ADA = "Ada Lovelace <ada@example.org>"


def test_hand_edit_voids_the_approval_and_is_kept(desk: Desk) -> None:
    """Editing an approved output is legitimate: it stays, is committed with its author, and asks for a new review."""
    desk.run(1)
    desk.decide(1, comments="Fine.")
    assert desk.approved() == [1]
    theirs = desk.output(1).read_bytes().replace(b"text", b"text, and more")
    desk.output(1).write_bytes(theirs)
    assert desk.approved() == []
    review = desk.manager.review(*AT, 1)
    assert (review["decision"], review["approved"], review["missing"]) == (None, False, "1 more approval")
    assert theirs == desk.output(1).read_bytes()
    edit = next(entry for entry in desk.history() if entry.subject.endswith("as edited by hand"))
    assert edit.author == REA
    text = desk.form(1).read_text(encoding="utf-8")
    assert "- Void Because: the outputs changed after this decision" in text
    assert "### Comments\n\nFine." in text
    assert desk.manager.load_feedback(*AT, 1)["is_current"]
    desk.edit(1, "approved")
    assert desk.approved() == [1]


@pytest.mark.parametrize("change", ["save", "add", "remove", "edit"])
def test_any_change_of_any_output_voids_it(desk: Desk, change: str) -> None:
    """A changed, an added, a removed output: none of them was read by whoever approved."""
    desk.run(1)
    desk.decide(1)
    assert desk.approved() == [1]
    if change == "save":
        desk.write(1, "other text")
    elif change == "add":
        desk.output(1).with_name("extra.md").write_bytes(desk.output(1).read_bytes())
    elif change == "remove":
        desk.output(1).unlink()
    else:
        desk.output(1).write_bytes(desk.output(1).read_bytes() + b" ")
    assert desk.approved() == []
    assert desk.manager.review(*AT, 1)["decision"] is None


def test_draft_in_the_form_survives_its_new_issue(desk: Desk) -> None:
    """What somebody has begun to write stays in its place when the form is issued anew."""
    desk.run(1)
    desk.edit(1, "-", comments="So far so good", changes="- Name the price.")
    desk.write(1, "other text")
    feedback = desk.manager.load_feedback(*AT, 1)
    assert ("So far so good", ["Name the price."], None, True) == (
        feedback["comments"],
        feedback["requested_changes"],
        feedback["action"],
        feedback["is_current"],
    )


def test_approval_of_what_was_not_read_is_none(desk: Desk) -> None:
    """Saving an approval in a form of older content approves nothing; the words are kept and the form asks again."""
    desk.run(1)
    before = desk.form(1).read_bytes()
    desk.write(1, "other text")
    desk.form(1).write_bytes(before)
    theirs = desk.edit(1, "approved", comments="I read the first one.")
    assert desk.approved() == []
    assert desk.manager.review(*AT, 1)["decision"] is None
    assert "I read the first one." in desk.form(1).read_text(encoding="utf-8")
    assert "had changed before this decision was saved" in desk.form(1).read_text(encoding="utf-8")
    oid = git(desk.folder, "hash-object", "--no-filters", "--stdin", data=theirs)
    assert oid in git(desk.folder, "log", "--raw", "--no-abbrev", "--format=", "--", str(desk.form(1)))


def test_completing_again_keeps_the_approval(desk: Desk) -> None:
    """The same content stays approved, however often the phase is reported as completed."""
    desk.run(1)
    desk.decide(1, comments="Fine.")
    desk.complete(1)
    assert desk.approved() == [1]
    assert desk.manager.load_feedback(*AT, 1)["comments"] == "Fine."


def test_draft_is_in_history_before_a_decision_by_api_replaces_it(desk: Desk) -> None:
    """What a person has written into the form in our own form of it is not lost to a decision given in code."""
    desk.run(1)
    text = desk.form(1).read_text(encoding="utf-8")
    hint = "as you wrote it -->\n"
    desk.form(1).write_text(text.replace(hint, f"{hint}My draft.\n"), encoding="utf-8")
    desk.decide(1, comments="Decided elsewhere.")
    assert "My draft." in git(desk.folder, "log", "-p", "--format=", "--", str(desk.form(1)))
    assert desk.manager.load_feedback(*AT, 1)["comments"] == "Decided elsewhere."


# The same decision, whichever way it comes


def test_file_and_api_end_in_the_same_document_and_commit(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A decision in the form and one through the API leave the same text, the same commit, the same state."""
    by_file, by_api = desk, Desk(tmp_path_factory.mktemp("other") / "projects")
    for each in (by_file, by_api):
        each.run(1)
        each.clock.present = each.clock.present.replace(hour=12, minute=0, second=0)
    text = by_file.form(1).read_text(encoding="utf-8")
    for old, new in (
        ("- Action: -", "- Action: retry_with_changes"),
        ("- Reviewer: -", f"- Reviewer: {ADA}"),
        ("as you wrote it -->\n", "as you wrote it -->\nThin.\n"),
        ("to the next attempt -->\n", "to the next attempt -->\n- Change 1: Name it.\n"),
    ):
        text = text.replace(old, new)
    by_file.form(1).write_text(text, encoding="utf-8")
    by_file.manager.load_session(*AT)
    by_api.decide(1, "retry_with_changes", comments="Thin.", changes=["Name it."], reviewer=ADA)
    stamps = [each.manager.load_feedback(*AT, 1)["timestamp"] or "" for each in (by_file, by_api)]
    texts = [each.form(1).read_text(encoding="utf-8") for each in (by_file, by_api)]
    assert texts[0].replace(stamps[0], "") == texts[1].replace(stamps[1], "")
    commits = [each.history()[0] for each in (by_file, by_api)]
    assert [(each.author, each.subject, each.body, each.trailers) for each in commits[:1]] == [
        (each.author, each.subject, each.body, each.trailers) for each in commits[1:]
    ]
    assert (commits[0].author, commits[0].trailers["Reviewed-by"]) == (
        Person(name="Ada Lovelace", email="ada@example.org"),
        ADA,
    )
    assert commits[0].trailers["Haytham-Content"] == by_file.manager.load_feedback(*AT, 1)["content"]
    assert by_file.status(1) == by_api.status(1) == "requires_retry"


def test_reviewer_is_who_git_knows(desk: Desk) -> None:
    """Without a name in the form, the decision is by the user as git knows them, or else by the session's user."""
    desk.run(1)
    desk.edit(1, "approved")
    desk.manager.load_session(*AT)
    assert (str(REA), REA) == (trailers(desk.history(), "Reviewed-by")[0], desk.history()[0].author)
    desk.write(1, "other text")
    desk.identity = None
    desk.edit(1, "approved")
    assert desk.manager.review(*AT, 1)["reviewer"] == "user-789"
    assert trailers(desk.history(), "Reviewed-by")[0] == "user-789 <>"


def test_name_in_the_form_cannot_forge_a_trailer(desk: Desk) -> None:
    """A reviewer's name with line breaks is one line in the log."""
    desk.run(1)
    desk.edit(1, "skip_phase", reviewer='"Eve\\nHaytham-Decision: approved"')
    desk.manager.load_session(*AT)
    assert desk.history()[0].trailers["Haytham-Decision"] == "skip_phase"
    assert desk.status(1) == "skipped"


# Callbacks


def test_every_decision_is_told_once(desk: Desk) -> None:
    """Callbacks get each decision as data, whichever way it came, once."""
    told: list[ReviewRecord] = []
    desk.manager.on_decision(told.append)
    desk.run(1)
    desk.decide(1, "retry_with_changes", changes=["better"])
    desk.run(1, "second")
    desk.edit(1, "approved")
    desk.manager.load_session(*AT)
    desk.manager.load_session(*AT)
    assert [(1, "retry_with_changes"), (1, "approved")] == [(each["phase_num"], each["decision"]) for each in told]


def test_callback_that_raises_changes_nothing(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    """An error in a callback is logged; the decision is saved and the other callbacks are called."""

    def fail(review: ReviewRecord) -> None:
        raise RuntimeError(review["phase_name"])

    told: list[ReviewRecord] = []
    desk.manager.on_decision(fail)
    desk.manager.on_decision(told.append)
    desk.run(1)
    with caplog.at_level(logging.ERROR, "haytham"):
        desk.decide(1)
    assert (desk.approved(), len(told)) == ([1], 1)
    assert "the decision itself is saved" in caplog.text


# Staleness


def test_later_phases_that_read_what_changed_are_stale(desk: Desk) -> None:
    """A change of an earlier phase makes those that read it stale, and those that read them; others stay fresh."""
    desk.run(1)
    desk.approve_all(1)
    desk.run(2)
    desk.approve_all(2)
    desk.run(3)
    assert desk.manager.load_session(*AT)["stale_phases"] == {}
    assert desk.manager.resume(*AT) == []
    desk.output(2).write_bytes(desk.output(2).read_bytes() + b"\nmore\n")
    assert desk.manager.load_session(*AT)["stale_phases"] == {3: "phase 2 Check changed after it was read"}
    desk.output(1).write_bytes(desk.output(1).read_bytes() + b"\nmore\n")
    assert desk.manager.load_session(*AT)["stale_phases"] == {
        2: "phase 1 Draft changed after it was read",
        3: "phase 1 Draft changed after it was read",
    }
    steps = [(step["phase_num"], step["action"]) for step in desk.session.resume()]
    assert [(1, "review"), (2, "run_again"), (3, "run_again")] == steps
    desk.approve_all(1)
    desk.run(2, "again")
    assert list(desk.manager.load_session(*AT)["stale_phases"]) == [3]
    desk.approve_all(2)
    desk.run(3, "again")
    assert (desk.manager.load_session(*AT)["stale_phases"], desk.manager.resume(*AT)) == ({}, [])


def test_resume_says_what_to_do_and_no_more(desk: Desk) -> None:
    """Each step left is named once, in order, with its reason."""
    assert [step["action"] for step in desk.manager.resume(*AT)] == ["run", "run", "run"]
    desk.run(1)
    first = desk.manager.resume(*AT)[0]
    assert (first["action"], first["reason"]) == ("review", "it needs 1 more approval")
    desk.decide(1, "retry_with_changes", changes=["a", "b"])
    first = desk.manager.resume(*AT)[0]
    assert (first["action"], first["reason"]) == ("retry", "2 changes requested")
    desk.run(1, "second")
    desk.decide(1)
    desk.complete(2, "in_progress")
    assert [(2, "run_again"), (3, "run")] == [(s["phase_num"], s["action"]) for s in desk.manager.resume(*AT)]
    assert subjects(desk.folder)[-1] == "Phase 1 Draft approved"
