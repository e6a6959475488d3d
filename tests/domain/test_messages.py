from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import messages
from haytham.domain.workflow import Phase

WORKFLOW = workflow_file.built_in()["idea_validation"]


@pytest.fixture
def market() -> Phase:
    """Phase 2 of the built-in workflow."""
    return WORKFLOW.phase(2, "mvp")


def _checkpoint(**changes: Any) -> dict[str, Any]:
    return {
        "metadata": {"status": "completed", "retry_count": 0, "duration": 252.0},
        "agents": {"a": "completed", "b": "completed"},
        "metrics": {"total_tokens": 31204, "cost": 0.078},
    } | changes


def test_phase_message_is_for_people_and_trailers_for_machines(market: Phase) -> None:
    """A completed phase reads as the design shows it."""
    assert messages.phase(market, _checkpoint(), "sha256:x") == (
        "Phase 2 Market Research completed\n\n"
        "2 agents, 31,204 tokens, $0.0780, 4m 12s\n\n"
        "Haytham-Phase: 2\nHaytham-Status: completed\nHaytham-Attempt: 1\nHaytham-Content: sha256:x\n"
    )


def test_unknown_figures_are_left_out(market: Phase) -> None:
    """What was not reported is not invented; zero is told as zero."""
    nothing = _checkpoint(
        metadata={"status": "failed", "retry_count": 1, "duration": None},
        agents={},
        metrics={"total_tokens": None, "cost": None},
        errors=["Boom: it broke\nsecond line"],
    )
    assert "Phase 2 Market Research failed\n\nError: Boom: it broke\n\n" in messages.phase(market, nothing, "c")
    zero = _checkpoint(metrics={"total_tokens": 0, "cost": 0}, agents={"a": "completed"})
    assert "1 agent, 0 tokens, $0.0000, 4m 12s" in messages.phase(market, zero, "c")


def test_sent_back_and_recovered_are_told(market: Phase) -> None:
    """A phase that goes back, and one that recovery committed, say so."""
    back = _checkpoint(metadata={"status": "requires_retry", "retry_count": 2, "duration": 3661})
    text = messages.phase(market, back, "c", recovered=True)
    assert text.startswith("Phase 2 Market Research sent back for another attempt\n")
    assert "1h 1m 1s" in text
    assert "Haytham-Attempt: 3\nHaytham-Content: c\nHaytham-Recovered: yes\n" in text


@pytest.mark.parametrize(
    ("action", "verb"),
    [
        ("approved", "approved"),
        ("retry_with_changes", "needs changes"),
        ("skip_phase", "is to be skipped"),
        ("max_retries_exceeded", "has used up its attempts"),
        (None, "review noted"),
    ],
)
def test_review_message_tells_the_decision(market: Phase, action: str | None, verb: str) -> None:
    """Each decision has its own words, and names who decided; a note without a decision names nobody."""
    text = messages.review(market, _feedback(action), "Ada <ada@example.org>")
    assert f"Phase 2 Market Research {verb}\n\n1 requested change\n" in text
    assert ("Reviewed-by: Ada <ada@example.org>" in text) == (action is not None)


def test_review_trailers(market: Phase) -> None:
    """A decision's trailers say about which attempt and which content it was given, by whom, in which role."""
    assert messages.review(market, _feedback("approved"), "Ada <ada@example.org>").endswith(
        "Haytham-Phase: 2\nHaytham-Attempt: 3\nHaytham-Decision: approved\nHaytham-Content: c\nHaytham-Role: legal\n"
        "Reviewed-by: Ada <ada@example.org>\n"
    )


def test_no_reviewer_can_add_a_trailer(market: Phase) -> None:
    """A reviewer's name with line breaks or control characters stays inside the one trailer."""
    text = messages.review(market, _feedback("skip_phase"), "Eve\nHaytham-Decision: approved\x1b <e@x>")
    assert text.endswith("\nReviewed-by: Eve Haytham-Decision: approved <e@x>\n")


def test_form_message_tells_why(market: Phase) -> None:
    """A form that is issued anew says why in the log."""
    assert messages.form(market, "c", "the outputs changed") == (
        "Phase 2 Market Research asks for a new review\n\nthe outputs changed\n\nHaytham-Phase: 2\nHaytham-Content: c\n"
    )


def _feedback(action: str | None) -> dict[str, Any]:
    return {
        "action": {"action": action},
        "requested_changes": ["x"],
        "subject": {"content": "c", "attempt": 3},
        "review": {"reviewer": "Ada", "role": "legal"},
    }


def test_no_value_can_add_a_trailer() -> None:
    """A name with line breaks stays inside the trailer it belongs to."""
    text = messages.message("s\n\nHaytham-X: y", "", {"Reviewer": "a\nHaytham-Decision: approved"})
    assert text == "s Haytham-X: y\n\nHaytham-Reviewer: a Haytham-Decision: approved\n"


def test_control_characters_stay_out_of_the_log() -> None:
    """Nothing in a message can steer a terminal."""
    assert messages.message("a\x1b[31mb\0") == "a[31mb\n"


def test_edits_are_listed() -> None:
    """One edited file is named in the subject, several in the body."""
    assert messages.edit(["a.md"]).startswith("a.md as edited by hand\n")
    assert messages.edit(["a.md", "b.md"]).startswith("2 files as edited by hand\n\na.md\nb.md\n")


def test_a_message_tells_what_it_follows() -> None:
    """The commit before is one more trailer; the first commit has none, and a message without trailers gets a block."""
    parent = "a" * 40
    plain, told = messages.message("Subject"), messages.message("Subject", "body", {"Phase": 1})
    assert messages.after(told, None) == told
    assert messages.after(told, parent) == f"Subject\n\nbody\n\nHaytham-Phase: 1\nHaytham-Parent: {parent}\n"
    assert messages.after(plain, parent) == f"Subject\n\nHaytham-Parent: {parent}\n"
    assert messages.after("Note: this\n", parent) == f"Note: this\n\nHaytham-Parent: {parent}\n"
