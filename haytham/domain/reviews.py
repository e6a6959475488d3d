"""A person's review of a phase: the form, what it decides, what the decision is bound to."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from haytham.domain import instants, numbers, reviewers, suggestions
from haytham.domain.choices import Action, choose
from haytham.domain.content import Content
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line, check_text
from haytham.domain.records import DecisionRecord, FeedbackRecord, PreviousDecision
from haytham.domain.reviewers import Reviewer
from haytham.domain.workflow import Approvals, Phase

Value = Mapping[str, Any]
Contradiction = tuple[tuple[str, ...], str, str]


# The form


def form(
    phase: Phase, content: Content, retry_count: int, before: Value | None = None, why: str | None = None
) -> Value:
    """Builds the form for the present content of a phase.

    A draft in the form before stays in its place; a decision becomes its "Previous Review", with why it is void.
    Decisions of others about another content are not listed any more: each is still in its own file.
    """
    fresh: dict[str, Any] = {
        "review": {"reviewed": False, "approved": False, "timestamp": None, "reviewer": None, "role": None},
        "comments": "",
        "requested_changes": [],
        "action": {"action": None, "retry_count": retry_count},
        "subject": subject(phase, content, retry_count, before),
    }
    if before is None:
        return fresh
    if action_of(before) is not None:
        return {**fresh, "previous": _previous(before, why)}
    draft = {key: part for key, part in before.items() if key != "decisions" or is_about(before, phase, content)}
    return {**draft, "action": fresh["action"], "subject": fresh["subject"]}


def subject(phase: Phase, content: Content, retry_count: int, before: Value | None = None) -> dict[str, Any]:
    """Builds the part of a form that says what is reviewed, and what changed since somebody last decided."""
    return {
        "phase_number": phase.number,
        "phase_name": phase.name,
        "attempt": retry_count + 1,
        "content": content.hash,
        "files": [
            {"file": name, "content": digest, "since": _since(before, name, digest)}
            for name, digest in content.files.items()
        ],
    }


# The decision


def decision(
    phase: Phase,
    content: Content,
    before: Value | None,
    *,
    retries_used: int,
    reviewed: object,
    approved: object,
    comments: object,
    requested_changes: object,
    action: object,
    retry_count: object,
) -> dict[str, Any]:
    """Checks what was given in code; raises InvalidInput, else fills in the form for the present content."""
    if not isinstance(reviewed, bool) or not isinstance(approved, bool):
        raise InvalidInput(
            f"reviewed is {reviewed!r} and approved is {approved!r}.", hint="both must be True or False."
        )
    chosen = choose(Action, action, "action")
    _check_agreement(reviewed=reviewed, approved=approved, action=chosen)
    count = max(numbers.check_count(retry_count, "retry_count"), retries_used)
    base = form(phase, content, count, before)
    value = {
        **base,
        "comments": check_text(comments, "comments"),
        "requested_changes": _changes(requested_changes),
        "action": {"action": chosen.value if reviewed else None, "retry_count": count},
    }
    signed = {**value, "review": {**value["review"], "timestamp": "now"}}
    for _, message, hint in contradictions(signed):
        raise InvalidInput(message, hint=hint)
    return value


def action_of(feedback: Value) -> Action | None:
    """Returns what a form decides, or None while it is undecided.

    The action counts; where there is none, `Approved: true` says approved, and a review that requests changes says so.
    """
    review, action = feedback["review"], feedback["action"]["action"]
    if action is not None:
        return Action(action)
    if review["approved"]:
        return Action.APPROVED
    return Action.RETRY_WITH_CHANGES if review["reviewed"] and feedback["requested_changes"] else None


def contradictions(feedback: Value, roles: tuple[str, ...] = ()) -> list[Contradiction]:
    """Returns what does not go together in a form: the place, what is wrong, how to go on.

    `roles` are those that the phase asks for; where it asks for none, any role may stand there.
    """
    review, action = feedback["review"], feedback["action"]["action"]
    found: list[Contradiction] = []
    if roles and review["role"] is not None and reviewers.role_among(review["role"], roles) is None:
        message = f"Role is {review['role']!r}, which this phase does not ask for."
        found.append((("review", "role"), message, suggestions.allowed(review["role"], roles)))
    if review["approved"] and action not in {None, Action.APPROVED}:
        message = f"Approved is true but Action is {action}."
        found.append((("review", "approved"), message, "set Approved to false, or Action to approved."))
    if action_of(feedback) is Action.APPROVED and feedback["requested_changes"]:
        message = "the phase is approved and changes are requested."
        hint = "move the changes to the comments, or set Approved to false and Action to retry_with_changes."
        found.append((("requested_changes",), message, hint))
    if action == Action.MAX_RETRIES_EXCEEDED and review["timestamp"] is None:
        hint = "set Action to approved, retry_with_changes or skip_phase."
        found.append((("action", "action"), f"Action is {action}, which only Haytham says.", hint))
    if review["reviewed"] and action_of(feedback) is None:
        hint = "set Action to approved, retry_with_changes or skip_phase."
        found.append((("action", "action"), "Reviewed is true but there is no decision.", hint))
    return found


def recorded(feedback: Value, action: Action, now: str, reviewer: Reviewer) -> dict[str, Any]:
    """Returns a decided form with all that belongs to a decision filled in."""
    review = {
        "reviewed": True,
        "approved": action is Action.APPROVED,
        "timestamp": now,
        "reviewer": str(reviewer),
        "role": reviewer.role,
    }
    return {**feedback, "review": review, "action": {**feedback["action"], "action": action.value}}


def fits(feedback: Value, phase: Phase, content: Content, retry_count: int) -> bool:
    """Tells whether this is the right form for a phase that was just completed.

    An approval holds for any attempt that gives the same content; any other decision has been answered by this attempt.
    """
    action, is_of_this = action_of(feedback), feedback["subject"]["attempt"] > retry_count
    return is_about(feedback, phase, content) and (action is Action.APPROVED or (action is None and is_of_this))


def is_about(feedback: Value, phase: Phase, content: Content) -> bool:
    """Tells whether this feedback is about exactly this content of this phase."""
    about = feedback["subject"]
    return bool(about["phase_number"] == phase.number and about["content"] == content.hash)


# Several reviewers


def missing(
    approvals: Approvals, decisions: Iterable[Value], now: datetime, wanted: Action = Action.APPROVED
) -> str | None:
    """Returns what is missing for the approval of a phase, given each reviewer's decision; None if nothing is.

    With `wanted`, what is missing for another decision that as many people have to agree on.
    """
    known = list(decisions)
    for each in known:
        if action_of(each) not in {None, wanted}:
            return f"another decision of {_who(each)}, who decided {action_of(each)}"
    valid = [each for each in known if action_of(each) is wanted and not is_expired(approvals, each, now)]
    roles = {reviewers.role_among(each["review"]["role"], approvals.roles) for each in valid}
    absent = [role for role in approvals.roles if role not in roles]
    if absent:
        return f"an approval in the role {', '.join(absent)}"
    short = approvals.minimum - len(valid)
    return f"{short} more approval{'s' if short != 1 else ''}" if short > 0 else None


def is_expired(approvals: Approvals, feedback: Value, now: datetime) -> bool:
    """Tells whether a decision is older than the phase lets it hold."""
    if approvals.expires_after_days is None or feedback["review"]["timestamp"] is None:
        return False
    given = instants.parse(feedback["review"]["timestamp"], "timestamp")
    return now - given > timedelta(days=approvals.expires_after_days)


def decision_row(feedback: Value) -> dict[str, Any]:
    """Returns a reviewer's decision as a row of the table in the form."""
    review = feedback["review"]
    return {
        "reviewer": reviewers.name_in(feedback) or "unknown",
        "role": review["role"],
        "decision": str(action_of(feedback)),
        "timestamp": review["timestamp"],
    }


# Records


def record(feedback: Value, content: Content) -> FeedbackRecord:
    """Returns what `load_feedback` tells."""
    review, action, about = feedback["review"], action_of(feedback), feedback["subject"]
    return FeedbackRecord(
        phase_num=about["phase_number"],
        reviewed=bool(review["reviewed"] or action),
        approved=action is Action.APPROVED,
        timestamp=review["timestamp"],
        reviewer=reviewers.name_in(feedback),
        role=review["role"],
        comments=feedback["comments"],
        requested_changes=list(feedback["requested_changes"]),
        action=str(action) if action else None,
        retry_count=feedback["action"]["retry_count"],
        attempt=about["attempt"],
        content=about["content"],
        is_current=about["content"] == content.hash,
    )


def decision_record(feedback: Value) -> DecisionRecord:
    """Returns one reviewer's decision as data."""
    return DecisionRecord(
        reviewer=reviewers.name_in(feedback),
        role=feedback["review"]["role"],
        decision=str(action_of(feedback)),
        timestamp=feedback["review"]["timestamp"],
        comments=feedback["comments"],
        requested_changes=list(feedback["requested_changes"]),
    )


def previous_record(feedback: Value) -> PreviousDecision | None:
    """Returns the decision about earlier content that an undecided form notes, or None."""
    previous = feedback.get("previous")
    if previous is None or action_of(feedback) is not None:
        return None
    return PreviousDecision(
        attempt=previous["attempt"],
        decision=previous["decision"],
        reviewer=previous["reviewer"],
        timestamp=previous["timestamp"],
        void_because=previous["void_because"],
    )


def void(previous: PreviousDecision | None) -> str | None:
    """Words an approval that holds no more, and why, or returns None."""
    if previous is None or previous["decision"] != Action.APPROVED or not previous["void_because"]:
        return None
    return f"approved by {previous['reviewer'] or 'somebody'}, void because {previous['void_because']}"


def check_role(role: object, phase: Phase) -> str | None:
    """Returns a role if the phase asks for it, or None for none; raises InvalidInput otherwise."""
    if role is None:
        return None
    name, roles = check_line(role, "role"), phase.approvals.roles
    if not roles:
        return name
    meant = reviewers.role_among(name, roles)
    if meant is None:
        hint = suggestions.allowed(name, roles)
        raise InvalidInput(f"role is {name!r}, which phase {phase.number} does not ask for.", hint=hint)
    return meant


# Steps


def _previous(before: Value, why: str | None) -> dict[str, Any]:
    previous: dict[str, Any] = {
        "attempt": before["subject"]["attempt"],
        "decision": str(action_of(before)),
        "reviewer": reviewers.name_in(before),
        "timestamp": before["review"]["timestamp"],
        "void_because": why,
    }
    if before["comments"]:
        previous["comments"] = before["comments"]
    if before["requested_changes"]:
        previous["requested_changes"] = list(before["requested_changes"])
    return previous


def _since(before: Value | None, name: str, digest: str) -> str:
    """Tells how a file stands against what was last decided about; an undecided form passes on what it knew."""
    rows = {row["file"]: row for row in before["subject"]["files"]} if before else {}
    if before is None or name not in rows:
        return "new"
    same = rows[name]["content"] == digest
    if action_of(before) is not None:
        return "unchanged" if same else "changed"
    known = str(rows[name]["since"])
    return known if same or known == "new" else "changed"


def _who(feedback: Value) -> str:
    return reviewers.name_in(feedback) or "the reviewer"


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
