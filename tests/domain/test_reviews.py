from datetime import timedelta
from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import content, reviews
from haytham.domain.choices import Action
from haytham.domain.errors import InvalidInput
from haytham.domain.reviewers import Reviewer
from haytham.domain.workflow import Approvals
from tests.evidence import START, label

WORKFLOW = workflow_file.built_in()["idea_validation"]
PHASE = WORKFLOW.phase(1, "mvp")
READ = content.of({"a.md": b"what was read"})
CHANGED = content.of({"a.md": b"what came later"})


INSTANT = "2026-01-31T10:00:00Z"


def _decision(before: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "retries_used": 0,
        "reviewed": True,
        "approved": True,
        "comments": "",
        "requested_changes": None,
        "action": "approved",
        "retry_count": 0,
    }
    return reviews.decision(PHASE, READ, before, **(said | changes))


def _signed(
    name: str = "Rea", role: str | None = None, when: str = INSTANT, action: str = "approved"
) -> dict[str, Any]:
    decided = _decision(approved=action == "approved", action=action)
    return reviews.recorded(decided, Action(action), when, Reviewer(name=name, role=role))


def _filled(review: dict[str, bool], action: str | None, changes: list[str]) -> dict[str, Any]:
    form = reviews.form(PHASE, READ, 0)
    return {
        **form,
        "review": {**form["review"], **review},
        "action": {"action": action, "retry_count": 0},
        "requested_changes": changes,
    }


def test_approval_holds_for_the_content_that_was_read() -> None:
    """An approval is bound to content and phase: another content, or another phase, is not approved."""
    assert reviews.action_of(_decision()) is Action.APPROVED
    assert reviews.is_about(_decision(), PHASE, READ)
    assert not reviews.is_about(_decision(), PHASE, CHANGED)
    assert not reviews.is_about(_decision(), WORKFLOW.phase(2, "mvp"), READ)


@pytest.mark.parametrize("action", ["retry_with_changes", "skip_phase", "max_retries_exceeded"])
def test_other_decisions_are_no_approval(action: str) -> None:
    """Only the decision to approve approves."""
    assert reviews.action_of(_decision(approved=False, action=action)) == action


def test_form_is_undecided() -> None:
    """A form that was handed out says nothing yet, except which attempt at which files it is about."""
    form = reviews.form(PHASE, READ, 1)
    assert reviews.action_of(form) is None
    assert form["action"] == {"action": None, "retry_count": 1}
    assert (form["subject"]["attempt"], [row["since"] for row in form["subject"]["files"]]) == (2, ["new"])


def test_form_after_a_decision_keeps_it_as_the_previous_one() -> None:
    """What was decided, by whom, and why it does not hold any more stay readable; the form itself is empty."""
    form = reviews.form(PHASE, CHANGED, 0, _signed(), "it changed")
    assert reviews.action_of(form) is None
    assert form["previous"] == {
        "attempt": 1,
        "decision": "approved",
        "reviewer": "Rea",
        "timestamp": INSTANT,
        "void_because": "it changed",
    }
    assert [row["since"] for row in form["subject"]["files"]] == ["changed"]


def test_form_after_a_draft_keeps_the_draft() -> None:
    """What somebody began to write stays in its place; decisions of others about other content do not."""
    draft = {**reviews.form(PHASE, READ, 0), "comments": "so far", "decisions": [reviews.decision_row(_signed())]}
    assert reviews.form(PHASE, CHANGED, 0, draft)["comments"] == "so far"
    assert "decisions" not in reviews.form(PHASE, CHANGED, 0, draft)
    assert "decisions" in reviews.form(PHASE, READ, 1, draft)


def test_since_compares_with_what_was_decided_about() -> None:
    """A file that changed twice while nobody decided is changed; one that changed back and forth is changed too."""
    decided = _signed()
    once = reviews.form(PHASE, CHANGED, 0, decided)
    twice = reviews.form(PHASE, READ, 0, once)
    assert [row["since"] for row in twice["subject"]["files"]] == ["changed"]
    assert [row["since"] for row in reviews.form(PHASE, READ, 0, decided)["subject"]["files"]] == ["unchanged"]
    more = content.of({"a.md": b"what was read", "b.md": b""})
    assert [row["since"] for row in reviews.form(PHASE, more, 0, decided)["subject"]["files"]] == ["unchanged", "new"]


@pytest.mark.parametrize(
    ("review", "action", "changes", "decision"),
    [
        ({}, None, [], None),
        ({}, None, ["x"], None),
        ({"approved": True}, None, [], "approved"),
        ({"reviewed": True}, None, ["x"], "retry_with_changes"),
        ({}, "skip_phase", ["x"], "skip_phase"),
        ({"reviewed": True, "approved": True}, "approved", [], "approved"),
    ],
)
def test_what_a_form_decides(
    review: dict[str, bool], action: str | None, changes: list[str], decision: str | None
) -> None:
    """The action counts; without one, an approval or a review with changes; comments and drafts decide nothing."""
    filled = {**_filled(review, action, changes), "comments": "- Approved: true"}
    assert reviews.action_of(filled) == decision
    assert reviews.contradictions(filled) == []


@pytest.mark.parametrize(
    ("review", "action", "changes", "place"),
    [
        ({"approved": True}, "skip_phase", [], ("review", "approved")),
        ({"approved": True}, None, ["x"], ("requested_changes",)),
        ({}, "approved", ["x"], ("requested_changes",)),
        ({"reviewed": True}, None, [], ("action", "action")),
    ],
)
def test_what_does_not_go_together_is_named(
    review: dict[str, bool], action: str | None, changes: list[str], place: tuple[str, ...]
) -> None:
    """A form that says two things at once is not guessed at."""
    found = reviews.contradictions(_filled(review, action, changes))
    assert [place] == [where for where, _, hint in found if hint]


@pytest.mark.parametrize(
    ("before", "retry_count", "is_right"),
    [
        (reviews.form(PHASE, READ, 0), 0, True),
        (reviews.form(PHASE, READ, 0), 1, False),
        (reviews.form(PHASE, CHANGED, 0), 0, False),
        (_signed(), 0, True),
        (_signed(), 5, True),
        (_signed(action="retry_with_changes"), 0, False),
        (_signed(action="skip_phase"), 1, False),
    ],
)
def test_right_form(before: dict[str, Any], retry_count: int, *, is_right: bool) -> None:
    """Completing a phase leaves an approval of the same content, and asks anew after anything else was decided."""
    assert is_right == reviews.fits(before, PHASE, READ, retry_count)


@pytest.mark.parametrize(
    ("approvals", "decisions", "lacking"),
    [
        (Approvals(), [], "1 more approval"),
        (Approvals(), [_signed()], None),
        (Approvals(minimum=3), [_signed()], "2 more approvals"),
        (Approvals(roles=("legal",)), [_signed()], "an approval in the role legal"),
        (Approvals(roles=("legal",)), [_signed(role="legal")], None),
        (Approvals(roles=("legal", "it")), [_signed(role="it")], "an approval in the role legal"),
        (
            Approvals(),
            [_signed(), _signed("Eve", action="skip_phase")],
            "another decision of Eve, who decided skip_phase",
        ),
        (Approvals(expires_after_days=1), [_signed(when="2026-01-30T09:59:59Z")], "1 more approval"),
        (Approvals(expires_after_days=1), [_signed(when="2026-01-30T10:00:00Z")], None),
    ],
)
def test_what_is_missing(approvals: Approvals, decisions: list[dict[str, Any]], lacking: str | None) -> None:
    """Number, roles, rejections and age are told in words."""
    assert lacking == reviews.missing(approvals, decisions, START)
    assert reviews.missing(Approvals(expires_after_days=1), [_signed()], START + timedelta(days=2)) == "1 more approval"


def test_what_is_not_reviewed_has_no_reviewer_and_no_decision() -> None:
    """Noting comments without reviewing decides nothing."""
    noted = _decision(reviewed=False, approved=False, comments="later")
    assert (noted["review"]["timestamp"], noted["review"]["reviewer"]) == (None, None)
    assert (noted["action"]["action"], noted["comments"]) == (None, "later")


def test_record_tells_whether_the_feedback_is_about_the_present_content() -> None:
    """A reader sees at once that something changed since."""
    assert reviews.record(_decision(), READ)["is_current"]
    assert not reviews.record(_decision(), CHANGED)["is_current"]


def test_attempts_are_counted_whether_the_caller_does_or_not() -> None:
    """The larger of what the caller says and what the checkpoint knows counts."""
    assert _decision(retries_used=2)["subject"]["attempt"] == 3
    assert _decision(retry_count=4, retries_used=2)["action"]["retry_count"] == 4


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
