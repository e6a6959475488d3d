"""Takes in what people did to the documents of a session: decisions in forms, edits of outputs.

Called under the session's lock. A form that cannot be understood is left alone: its readers report it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from haytham.checkpoint import attempts
from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import CHANGED, SessionWriter
from haytham.domain import content, reviewers, reviews
from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.errors import Conflict, InvalidInput, Location
from haytham.domain.identifiers import check_line
from haytham.domain.records import RetryRequest, ReviewRecord
from haytham.domain.reviewers import Reviewer
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.history import Person
from haytham.storage.session_store import is_kept_in, name_in

Value = Mapping[str, Any]

UNSEEN = "the outputs had changed before this decision was saved"
MISSING = "the form was gone"
EXPIRED = "the approval has expired"

_TRIES = 5


def is_settled(writer: SessionWriter) -> bool:
    """Tells whether there is nothing to take in; reads only."""
    return all(_matter(writer, phase) is None and not _edited_reviews(writer, phase) for phase in writer.phases)


def has_new_forms(writer: SessionWriter) -> bool:
    """Tells whether anybody wrote in a form; quicker than `is_settled`, which looks at the outputs too."""
    kept = [name for phase in writer.phases for name in writer.store.review_files(phase)]
    forms = [name_in(phase, layout.FEEDBACK_FILE) for phase in writer.phases]
    return bool(writer.store.edited_by_hand([*forms, *kept]))


def settle(writer: SessionWriter) -> list[Phase]:
    """Takes in everything that people did; returns the phases about which a decision was recorded."""
    return [phase for phase in writer.phases if _settle_files(writer, phase) | _settle_phase(writer, phase)]


def _edited_reviews(writer: SessionWriter, phase: Phase) -> list[str]:
    """Returns the files of reviewers' decisions that somebody wrote, changed or deleted; reads only."""
    edited = writer.store.edited_by_hand(writer.store.review_files(phase))
    return [name for name in edited if _is_readable(writer, phase, name)]


def _is_readable(writer: SessionWriter, phase: Phase, name: str) -> bool:
    try:
        writer.store.review(phase, name)
    except InvalidInput:
        return False
    return True


def _settle_files(writer: SessionWriter, phase: Phase) -> bool:
    """Takes in what people did to the files of reviewers' decisions; tells whether there was a decision.

    Whoever saves one of them at the same moment is left for later.
    """
    try:
        decided = [name for name in _edited_reviews(writer, phase) if _settle_file(writer, phase, name)]
    except Conflict:
        writer.store.read_anew()
        return False
    return bool(decided)


def _settle_file(writer: SessionWriter, phase: Phase, name: str) -> bool:
    """Takes in one file: a reviewer's own, changed, decides anew; all else is only committed as it was found."""
    document = writer.store.review(phase, name)
    action = _decided_in(writer, phase, name, document.value) if document else None
    if document is None or action is None:
        writer.commit_edits([name], phase)
        return False
    _sign(writer, phase, document.value, action, in_the_form=False)
    return True


def _decided_in(writer: SessionWriter, phase: Phase, name: str, value: Value) -> Action | None:
    counts = is_kept_in(name, value) and reviews.is_about(value, phase, writer.content(phase))
    return reviews.action_of(value) if counts else None


def _settle_phase(writer: SessionWriter, phase: Phase) -> bool:
    """Takes in what people did to one phase; tells whether that was a decision.

    Whoever saves the form at the same moment is read once more; one who does so again and again is left for later.
    """
    for _ in range(_TRIES):
        matter = _matter(writer, phase)
        try:
            if isinstance(matter, Action):
                _record(writer, phase, matter)
            elif matter:
                writer.reissue_form(phase, matter)
        except Conflict:
            writer.store.read_anew()
            continue
        return isinstance(matter, Action)
    return False


def _matter(writer: SessionWriter, phase: Phase) -> Action | str | None:
    """Returns the decision to record, or why the form has to be issued anew, or None."""
    try:
        feedback = writer.store.feedback(phase)
        status = writer.status(phase)
    except InvalidInput:
        return None
    if feedback is None:
        return MISSING if status is PhaseStatus.COMPLETED else None
    action = reviews.action_of(feedback.value)
    is_current = reviews.is_about(feedback.value, phase, writer.content(phase))
    is_new = writer.is_new(phase)
    if is_new and (is_current or action is not Action.APPROVED):
        return action
    if status is not PhaseStatus.COMPLETED:
        return None
    if is_current:
        is_over = action is Action.APPROVED and reviews.is_expired(phase.approvals, feedback.value, writer.instant)
        return EXPIRED if is_over else None
    return UNSEEN if is_new else CHANGED


def _record(writer: SessionWriter, phase: Phase, action: Action) -> None:
    feedback = writer.store.feedback(phase)
    if feedback is not None:
        _sign(writer, phase, feedback.value, action, in_the_form=True)


def _sign(writer: SessionWriter, phase: Phase, value: Value, action: Action, *, in_the_form: bool) -> None:
    """Records a decision that somebody wrote into a document, in their name."""
    who = writer.reviewer(value)
    role = value["review"]["role"]
    who = replace(who, role=reviewers.role_among(role, phase.approvals.roles) or role)
    signed = reviews.recorded(value, action, writer.now, who)
    writer.save_feedback(phase, signed, _person(who), in_the_form=in_the_form)


def check_read(view: SessionView, phase: Phase, read: str | None) -> None:
    """Raises Conflict if what a reviewer read, named by its hash, is not the present content of a phase."""
    present = view.content(phase)
    if read is None or check_line(read, "content") == present.hash:
        return
    if not content.is_hash(read):
        raise InvalidInput(
            f"content is {read!r}, which is no hash of a content.",
            hint="give it as the review or the form shows it, or leave it out.",
        )
    known = attempts.files_with(view, phase, read)
    what = f": {content.differences(known, present.files)}" if known else ""
    raise Conflict(
        f"phase {phase.number} {phase.name} changed since it was read{what}.",
        location=Location(path=str(view.store.path(phase.folder))),
        hint="nothing was decided; read it again, then decide.",
    )


def finish(writer: SessionWriter, phase: Phase, value: Value) -> None:
    """Commits a decision that was written, and does what follows from it."""
    writer.save_feedback(phase, value, _person(writer.reviewer(value)), in_the_form=True)


def decide(writer: SessionWriter, phase: Phase, value: Value, given: str | None, role: str | None) -> None:
    """Records a decision that was given in code, or notes an undecided review."""
    action = reviews.action_of(value)
    named = None if given is None else check_line(given, "reviewer")
    who = writer.reviewer({"review": {"reviewer": named}})
    if action is not None:
        value = reviews.recorded(value, action, writer.now, replace(who, role=role))
    writer.save_feedback(phase, value, _person(who), in_the_form=False)


def _person(who: Reviewer) -> Person:
    return Person(name=who.name, email=who.address)


def record(view: SessionView, phase: Phase) -> ReviewRecord:
    """Returns how the review of a phase stands."""
    feedback = view.store.feedback(phase)
    decisions = view.decisions(phase)
    lacking = view.missing_approval(phase)
    last = decisions[-1] if decisions else (feedback.value if feedback else None)
    action = reviews.action_of(last) if last else None
    if action is Action.APPROVED and lacking:
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
        reviewer=reviewers.name_in(last) if last else None,
        timestamp=last["review"]["timestamp"] if last else None,
        content=view.content(phase).hash,
        decisions=[reviews.decision_record(each) for each in decisions],
        previous=reviews.previous_record(feedback.value) if feedback else None,
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
        reviewer=reviewers.name_in(feedback.value),
        previous_outputs={agent: each.value["output"] for agent, each in view.store.outputs(phase).items()},
    )
