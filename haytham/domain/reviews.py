"""A person's review of a phase: the form, the decision, what it is bound to."""

from collections.abc import Mapping
from typing import Any

from haytham.domain import numbers
from haytham.domain.choices import Action, choose
from haytham.domain.content import Content
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_text
from haytham.domain.records import FeedbackRecord
from haytham.domain.workflow import Phase

Value = Mapping[str, Any]


def form(phase: Phase, content: Content, retry_count: int) -> dict[str, Any]:
    """Builds an empty form for the present content of a phase."""
    return {
        "review": {"reviewed": False, "approved": False, "timestamp": None, "reviewer": None},
        "comments": "",
        "requested_changes": [],
        "action": {"action": None, "retry_count": retry_count},
        "subject": subject(phase, content),
    }


def subject(phase: Phase, content: Content) -> dict[str, Any]:
    """Builds the part of a form that says what is reviewed."""
    return {
        "phase_number": phase.number,
        "phase_name": phase.name,
        "content": content.hash,
        "files": [{"file": name, "content": digest} for name, digest in content.files.items()],
    }


def decision(
    phase: Phase,
    content: Content,
    now: str,
    *,
    reviewed: object,
    approved: object,
    comments: object,
    requested_changes: object,
    action: object,
    retry_count: object,
    reviewer: str | None,
) -> dict[str, Any]:
    """Checks a decision that was given in code; raises InvalidInput, else builds the document's value."""
    if not isinstance(reviewed, bool) or not isinstance(approved, bool):
        raise InvalidInput(
            f"reviewed is {reviewed!r} and approved is {approved!r}.", hint="both must be True or False."
        )
    chosen = choose(Action, action, "action")
    _check_agreement(reviewed=reviewed, approved=approved, action=chosen)
    return {
        "review": {
            "reviewed": reviewed,
            "approved": approved,
            "timestamp": now if reviewed else None,
            "reviewer": reviewer if reviewed else None,
        },
        "comments": check_text(comments, "comments"),
        "requested_changes": _changes(requested_changes),
        "action": {
            "action": chosen.value if reviewed else None,
            "retry_count": numbers.check_count(retry_count, "retry_count"),
        },
        "subject": subject(phase, content),
    }


def is_decided(feedback: Value) -> bool:
    """Tells whether somebody has decided."""
    return bool(feedback["review"]["reviewed"])


def is_approval(feedback: Value, phase: Phase, content: Content) -> bool:
    """Tells whether this feedback approves exactly this content of this phase."""
    return bool(
        feedback["review"]["reviewed"]
        and feedback["review"]["approved"]
        and feedback["action"]["action"] == Action.APPROVED
        and feedback["subject"]["phase_number"] == phase.number
        and feedback["subject"]["content"] == content.hash
    )


def record(feedback: Value, content: Content) -> FeedbackRecord:
    """Returns what `load_feedback` tells."""
    review, action, about = feedback["review"], feedback["action"], feedback["subject"]
    return FeedbackRecord(
        phase_num=about["phase_number"],
        reviewed=review["reviewed"],
        approved=review["approved"],
        timestamp=review["timestamp"],
        reviewer=review["reviewer"],
        comments=feedback["comments"],
        requested_changes=list(feedback["requested_changes"]),
        action=action["action"],
        retry_count=action["retry_count"],
        content=about["content"],
        is_current=about["content"] == content.hash,
    )


def _check_agreement(*, reviewed: bool, approved: bool, action: Action) -> None:
    if approved and not reviewed:
        raise InvalidInput(
            "approved is True but reviewed is False.", hint="an approval is a review: pass reviewed=True."
        )
    if reviewed and approved != (action is Action.APPROVED):
        raise InvalidInput(
            f"approved is {approved} but action is {action.value!r}.",
            hint="pass approved=True with action='approved', or approved=False with another action.",
        )


def _changes(changes: object) -> list[str]:
    if changes is None:
        return []
    if isinstance(changes, str) or not isinstance(changes, (list, tuple)):
        raise InvalidInput(
            f"requested_changes is {changes!r}; a list of texts is needed.", hint="pass [text], even for one change."
        )
    return [check_text(change, "a requested change") for change in changes]
