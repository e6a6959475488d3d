"""Takes in what people did to the documents of a session: decisions in forms, edits of outputs.

Called under the session's lock. A form that cannot be understood is left alone: its readers report it.
"""

import re
from collections.abc import Mapping
from typing import Any

from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import SessionWriter
from haytham.documents.document import Document
from haytham.domain import reviews
from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line
from haytham.domain.records import RetryRequest, ReviewRecord
from haytham.domain.reviews import Reviewer
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.history import Person
from haytham.storage.session_store import name_in

Value = Mapping[str, Any]

_NAMED = re.compile(r"(?P<name>[^<>]+)<(?P<email>[^<>\s]*)>\Z")

CHANGED = "the outputs changed after this decision"
UNSEEN = "the outputs had changed before this decision was saved"


def is_settled(writer: SessionWriter) -> bool:
    """Tells whether there is nothing to take in; reads only."""
    return all(_matter(writer, phase) is None for phase in writer.phases)


def settle(writer: SessionWriter) -> list[Phase]:
    """Takes in everything that people did; returns the phases about which a decision was recorded."""
    decided = []
    for phase in writer.phases:
        matter = _matter(writer, phase)
        if isinstance(matter, Action):
            decided.append(phase)
            _record(writer, phase, matter)
        elif matter:
            writer.reissue_form(phase, matter)
    return decided


def reviewer_of(writer: SessionWriter, given: str | None, role: str | None) -> Reviewer:
    """Returns who decides: the one given, or the user as git knows them, or the session's user."""
    name = given or writer.person.name.strip() or writer.identity["user_id"]
    return Reviewer(name=name, role=role)


def _matter(writer: SessionWriter, phase: Phase) -> Action | str | None:
    """Returns the decision to record, or why the form has to be issued anew, or None."""
    try:
        feedback = writer.store.feedback(phase)
        status = writer.status(phase)
    except InvalidInput:
        return None
    if feedback is None:
        return None
    action = reviews.action_of(feedback.value)
    is_current = reviews.is_about(feedback.value, phase, writer.content(phase))
    name = name_in(phase, layout.FEEDBACK_FILE)
    is_new = action is not None and bool(writer.store.edited_by_hand([name]))
    if is_new and (is_current or action is not Action.APPROVED):
        return action
    if is_current or status is not PhaseStatus.COMPLETED:
        return None
    return UNSEEN if is_new else CHANGED


def _record(writer: SessionWriter, phase: Phase, action: Action) -> None:
    feedback = writer.store.feedback(phase)
    if feedback is None:
        return
    value = _signed(writer, feedback, action)
    writer.save_feedback(phase, value, writer.person, f"{value['review']['reviewer']} <{writer.person.email}>")


def _signed(writer: SessionWriter, feedback: Document, action: Action) -> dict[str, Any]:
    review = feedback.value["review"]
    return reviews.recorded(feedback.value, action, writer.now, reviewer_of(writer, review["reviewer"], review["role"]))


def decide(writer: SessionWriter, phase: Phase, value: Value, given: str | None, role: str | None) -> None:
    """Records a decision that was given in code, or notes an undecided review."""
    action = reviews.action_of(value)
    person = person_of(given, writer.person)
    if action is None:
        writer.save_feedback(phase, value, person, person.name)
        return
    reviewer = Reviewer(name=(person.name.strip() or writer.identity["user_id"]), role=role)
    signed = reviews.recorded(value, action, writer.now, reviewer)
    writer.save_feedback(phase, signed, person, f"{reviewer.name} <{person.email}>")


def person_of(given: str | None, default: Person) -> Person:
    """Reads `Name <address>` or a name; None is the default."""
    if given is None:
        return default
    match = _NAMED.match(check_line(given, "reviewer"))
    if match is None:
        return Person(name=given, email="")
    return Person(name=match["name"].strip(), email=match["email"])


def record(view: SessionView, phase: Phase) -> ReviewRecord:
    """Returns how the review of a phase stands."""
    feedback = view.store.feedback(phase)
    decisions = view.decisions(phase)
    lacking = view.missing_approval(phase)
    last = decisions[-1] if decisions else (feedback.value if feedback else None)
    action = reviews.action_of(last) if last else None
    status = view.status(phase)
    if status is PhaseStatus.COMPLETED and action is Action.APPROVED and lacking:
        action = None  # not enough yet
    return ReviewRecord(
        phase_num=phase.number,
        phase_name=phase.name,
        policy=phase.review.value,
        attempt=last["subject"]["attempt"] if last else 1,
        decision=str(action) if action else None,
        approved=lacking is None,
        missing=lacking,
        comments=last["comments"] if last else "",
        requested_changes=list(last["requested_changes"]) if last else [],
        reviewer=last["review"]["reviewer"] if last else None,
        timestamp=last["review"]["timestamp"] if last else None,
        content=view.content(phase).hash,
        decisions=[reviews.decision_record(each) for each in decisions],
        form=str(view.store.path(name_in(phase, layout.FEEDBACK_FILE))),
    )


def retry_request(view: SessionView, phase: Phase) -> RetryRequest | None:
    """Returns what a phase that was sent back is asked to do better."""
    feedback = view.store.feedback(phase)
    checkpoint = view.store.checkpoint(phase)
    if feedback is None or checkpoint is None:
        return None
    is_open = view.status(phase) in {PhaseStatus.REQUIRES_RETRY, PhaseStatus.IN_PROGRESS}
    if not is_open or reviews.action_of(feedback.value) is not Action.RETRY_WITH_CHANGES:
        return None
    return RetryRequest(
        phase_num=phase.number,
        attempt=checkpoint.value["metadata"]["retry_count"] + (view.status(phase) is PhaseStatus.REQUIRES_RETRY) + 1,
        requested_changes=list(feedback.value["requested_changes"]),
        comments=feedback.value["comments"],
        reviewer=feedback.value["review"]["reviewer"],
        previous_outputs={agent: each.value["output"] for agent, each in view.store.outputs(phase).items()},
    )
