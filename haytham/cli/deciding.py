"""Records a decision that was given on the command line; a draft that somebody left in the form is never replaced."""

from dataclasses import dataclass

from haytham.cli.target import Target
from haytham.domain.choices import Action
from haytham.domain.errors import Conflict, Location
from haytham.domain.records import FeedbackRecord, ReviewRecord
from haytham.domain.workflow import Phase


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What was given on the command line."""

    action: Action
    comments: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    reviewer: str | None = None
    role: str | None = None
    content: str | None = None


def decide(target: Target, phase: Phase, given: Given) -> ReviewRecord:
    """Saves the decision and returns how the review stands; raises Conflict if it would replace a draft."""
    seen = target.manager.review(*target.ids, phase.number)  # first, what people did: a form about the present content
    draft = _draft(target.manager.load_feedback(*target.ids, phase.number))
    target.manager.save_user_feedback(
        *target.ids,
        phase.number,
        reviewed=True,
        approved=given.action is Action.APPROVED,
        comments=_comments(target, phase, given, draft),
        requested_changes=_changes(target, phase, given, draft),
        action=given.action.value,
        reviewer=given.reviewer,
        role=given.role,
        content=given.content or seen["content"],
    )
    return target.manager.review(*target.ids, phase.number)


def _draft(feedback: FeedbackRecord) -> FeedbackRecord | None:
    """Returns what somebody wrote into the form without deciding."""
    return None if feedback["action"] else feedback


def _comments(target: Target, phase: Phase, given: Given, draft: FeedbackRecord | None) -> str:
    written = draft["comments"] if draft else ""
    if not given.comments:
        return written
    if written.strip():
        raise _would_replace(target, phase, "comments")
    return "\n\n".join(given.comments)


def _changes(target: Target, phase: Phase, given: Given, draft: FeedbackRecord | None) -> list[str]:
    written = draft["requested_changes"] if draft else []
    if written and given.action is not Action.RETRY_WITH_CHANGES:
        raise _would_replace(target, phase, "requested changes")
    return [*written, *given.changes]


def _would_replace(target: Target, phase: Phase, what: str) -> Conflict:
    return Conflict(
        f"somebody wrote {what} into the form of phase {phase.number} and has not decided yet.",
        location=Location(path=str(target.form(phase))),
        hint=f"haytham review {phase.number} opens the form, so that you can decide there.",
    )
