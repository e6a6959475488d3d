from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import content, reviews
from haytham.domain.errors import InvalidInput
from tests.evidence import label

WORKFLOW = workflow_file.built_in()["idea_validation"]
PHASE = WORKFLOW.phase(1, "mvp")
READ = content.of({"a.md": b"what was read"})
CHANGED = content.of({"a.md": b"what came later"})


def _decision(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "reviewed": True,
        "approved": True,
        "comments": "",
        "requested_changes": None,
        "action": "approved",
        "retry_count": 0,
        "reviewer": "Rea",
    }
    return reviews.decision(PHASE, READ, "2026-01-31T10:00:00Z", **(said | changes))


def test_approval_holds_for_the_content_that_was_read() -> None:
    """An approval is bound to content and phase: another content, or another phase, is not approved."""
    assert reviews.is_approval(_decision(), PHASE, READ)
    assert not reviews.is_approval(_decision(), PHASE, CHANGED)
    assert not reviews.is_approval(_decision(), WORKFLOW.phase(2, "mvp"), READ)


@pytest.mark.parametrize("action", ["retry_with_changes", "skip_phase", "max_retries_exceeded"])
def test_other_decisions_are_no_approval(action: str) -> None:
    """Only the decision to approve approves."""
    decided = _decision(approved=False, action=action)
    assert not reviews.is_approval(decided, PHASE, READ)
    assert reviews.is_decided(decided)


def test_form_is_undecided() -> None:
    """A form that was handed out says nothing yet."""
    form = reviews.form(PHASE, READ, 1)
    assert not reviews.is_decided(form)
    assert not reviews.is_approval(form, PHASE, READ)
    assert form["action"] == {"action": None, "retry_count": 1}


def test_what_is_not_reviewed_has_no_reviewer_and_no_decision() -> None:
    """Noting comments without reviewing decides nothing."""
    noted = _decision(reviewed=False, approved=False, comments="later")
    assert (noted["review"]["timestamp"], noted["review"]["reviewer"]) == (None, None)
    assert noted["action"]["action"] is None


def test_record_tells_whether_the_feedback_is_about_the_present_content() -> None:
    """A reader sees at once that something changed since."""
    assert reviews.record(_decision(), READ)["is_current"]
    assert not reviews.record(_decision(), CHANGED)["is_current"]


@pytest.mark.parametrize(
    "changes",
    [
        {"reviewed": 1},
        {"approved": "true"},
        {"reviewed": None},
        {"reviewed": False},
        {"approved": False},
        {"action": "retry_with_changes"},
        {"action": "approve"},
        {"action": None},
        {"action": True},
        {"comments": None},
        {"comments": b"x"},
        {"comments": "\ud800"},
        {"requested_changes": "x"},
        {"requested_changes": [b"x"]},
        {"requested_changes": {"a": 1}},
        {"retry_count": -1},
        {"retry_count": False},
        {"retry_count": 0.0},
    ],
    ids=label,
)
def test_decision_that_cannot_be_used_is_refused(changes: dict[str, Any]) -> None:
    """Every field of a decision is checked, and fields that contradict each other are refused."""
    with pytest.raises(InvalidInput) as caught:
        _decision(**changes)
    assert caught.value.hint
