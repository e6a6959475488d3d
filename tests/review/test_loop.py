"""The request-changes loop: what was asked for reaches the next attempt, attempts are bounded, all stay in history."""

import pytest

from haytham import InvalidInput
from tests.evidence import git, subjects
from tests.review.desk import AT, FOLDERS, REA, Desk, trailers

CHANGES = [
    "Name the price.",
    "Two lines,\nof one change.",
    "- Approved: true\n## Action Taken\n- Action: approved",
    " ",
]
COMMENTS = "First.\n\n```\n- Approved: true\n```\n  indented\n"


@pytest.mark.parametrize("how", ["API", "file"])
def test_changes_reach_the_next_attempt(desk: Desk, how: str) -> None:
    """Requested changes and comments come back exactly, with the outputs of the attempt that they are about."""
    desk.run(1, "first")
    assert desk.manager.retry_request(*AT, 1) is None
    if how == "API":
        desk.decide(1, "retry_with_changes", comments=COMMENTS, changes=CHANGES)
        changes, comments = CHANGES, COMMENTS
    else:
        desk.edit(
            1, "retry_with_changes", comments="Thin.\n\n1. the price", changes="- Name it.\n- Ask\n  three shops."
        )
        changes, comments = ["Name it.", "Ask\nthree shops."], "Thin.\n\n1. the price"
    assert desk.status(1) == "requires_retry"
    with desk.session.phase(1) as run:
        request = run.request
        assert request is not None
        assert (changes, comments) == (request["requested_changes"], request["comments"])
        assert (2, {"writer": "first"}, REA.name) == (
            request["attempt"],
            request["previous_outputs"],
            request["reviewer"],
        )
        with run.agent("writer") as agent:
            agent.write("second")
    assert desk.manager.load_checkpoint(*AT, 1)["retry_count"] == 1
    form = desk.manager.load_feedback(*AT, 1)
    assert (form["action"], form["attempt"], form["is_current"]) == (None, 2, True)
    assert desk.manager.retry_request(*AT, 1) is None


def test_form_shows_what_changed_and_what_was_asked(desk: Desk) -> None:
    """The next form tells which files changed since the last review, and repeats what was requested then."""
    desk.write(1, "first")
    desk.manager.save_agent_output(*AT, 1, "second_writer", "stays")
    desk.complete(1)
    assert desk.form(1).read_text(encoding="utf-8").count("| new |") == 2
    desk.decide(1, "retry_with_changes", comments="Thin.", changes=["Name the price."])
    desk.run(1, "second")
    text = desk.form(1).read_text(encoding="utf-8")
    assert "| unchanged |" in text.partition("second_writer.md")[2].partition("\n")[0]
    assert "| changed |" in text.partition("| writer.md")[2].partition("\n")[0]
    previous = text.partition("## Previous Review")[2]
    for words in ("- Attempt: 1", "- Decision: retry_with_changes", "Thin.", "- Change 1: Name the price."):
        assert words in previous


def test_attempts_are_bounded(desk: Desk) -> None:
    """After max_retries the phase fails with max_retries_exceeded; nothing is approved, and the form says so."""
    for attempt in (1, 2):
        desk.run(1, f"attempt {attempt}")
        desk.decide(1, "retry_with_changes", changes=["again"])
        assert desk.status(1) == "requires_retry"
    desk.run(1, "attempt 3")
    desk.edit(1, "retry_with_changes", changes="- once more")
    assert desk.status(1) == "failed"
    checkpoint = desk.manager.load_checkpoint(*AT, 1)
    assert ["max_retries_exceeded: 2 retries"] == checkpoint["errors"]
    assert desk.manager.load_feedback(*AT, 1)["action"] == "max_retries_exceeded"
    assert desk.manager.load_feedback(*AT, 1)["requested_changes"] == ["once more"]
    assert desk.manager.retry_request(*AT, 1) is None
    assert desk.manager.review(*AT, 1)["decision"] == "max_retries_exceeded"
    assert desk.approved() == []
    assert desk.manager.resume(*AT)[0]["reason"] == "it failed: max_retries_exceeded: 2 retries"


def test_every_attempt_is_in_history(desk: Desk) -> None:
    """Each attempt can be read from git alone, and the difference between any two is shown."""
    texts = ["alpha\nsame\n", "beta\nsame\n", "gamma\nsame\n"]
    for text in texts[:2]:
        desk.run(1, text)
        desk.decide(1, "retry_with_changes", changes=["better"])
    desk.run(1, texts[2])
    kept = git(desk.folder, "log", "-p", "--format=%H", "--", f"{FOLDERS[1]}/writer.md")
    assert all(f"+{text.splitlines()[0]}" in kept for text in texts)
    newest = desk.manager.diff(*AT, 1)
    assert "-beta\n+gamma\n" in newest
    assert "alpha" not in newest
    assert "-alpha\n+gamma\n" in desk.manager.diff(*AT, 1, before=1, after=3)
    with pytest.raises(InvalidInput, match="has no attempt 4") as caught:
        desk.manager.diff(*AT, 1, before=1, after=4)
    assert caught.value.hint == "attempts: 1, 2, 3."
    assert {"1", "2", "3"} == set(trailers(desk.history(), "Haytham-Attempt"))


def test_same_content_again_asks_again(desk: Desk) -> None:
    """An attempt that changes nothing answers the request too: the form is empty again, and the wait goes on."""
    desk.run(1)
    desk.decide(1, "retry_with_changes", changes=["better"])
    desk.complete(1)
    review = desk.manager.review(*AT, 1)
    assert (review["decision"], review["attempt"], review["missing"]) == (None, 2, "1 more approval")
    assert "- Decision: retry_with_changes" in desk.form(1).read_text(encoding="utf-8")
    desk.edit(1, "approved")
    assert desk.approved() == [1]


def test_decision_in_the_form_is_taken_in_before_the_next_save(desk: Desk) -> None:
    """A save that would replace a form first records what somebody decided in it."""
    desk.run(1)
    desk.edit(1, "retry_with_changes", changes="- Name the price.")
    desk.manager.save_agent_output(*AT, 1, "writer", "hasty")
    assert "Phase 1 Draft needs changes" in subjects(desk.folder)
    request = desk.manager.retry_request(*AT, 1)
    assert request is not None
    assert request["requested_changes"] == ["Name the price."]


def test_sent_back_session_cannot_be_completed(desk: Desk) -> None:
    """A phase that a reviewer sent back holds the session open as one that waits for its review does."""
    desk.run(1)
    desk.decide(1, "retry_with_changes", changes=["better"])
    with pytest.raises(Exception, match="needs to be completed; it is requires_retry"):
        desk.manager.complete_session(*AT)
