"""One session as it is on disk: its phases, their content, their approvals. Reads only."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Any

from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.domain import checkpoints, instants, progress, reviewers, reviews, staleness
from haytham.domain.choices import PhaseStatus, ReviewPolicy
from haytham.domain.content import Content
from haytham.domain.errors import GateClosed, HaythamError, InvalidInput, Location, NotFound
from haytham.domain.reviewers import Reviewer
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import layout
from haytham.storage.history import Person
from haytham.storage.session_store import SessionStore, name_in

Value = Mapping[str, Any]


class SessionView:
    """What a session's documents say, each read once. Make a new one to see later changes."""

    def __init__(self, store: SessionStore, now: datetime, person: Person | None = None) -> None:
        self.store = store
        self.instant = now
        self.now = instants.text_of(now)
        self.manifest_fault: HaythamError | None = None
        self.manifest = self._manifest_document()
        store.check_place(self.manifest.value["metadata"])
        self.identity: dict[str, Any] = dict(self.manifest.value["metadata"])
        self.parts = {key: self.manifest.value[key] for key in progress.OWN_PARTS if key in self.manifest.value}
        is_known = person is not None and bool(person.name.strip())
        self.person = person if person and is_known else Person(name=self.identity["user_id"], email="")

    @cached_property
    def workflow(self) -> Workflow:
        """The session's workflow, with the session's own review policies."""
        return self.store.workflow.with_reviews(self.manifest.value.get("review_policy", {}))

    @property
    def mode(self) -> str:
        """The session's execution mode."""
        return str(self.identity["execution_mode"])

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the session's mode."""
        return self.workflow.phases_in(self.mode)

    def phase(self, number: object) -> Phase:
        """Returns a phase of this session; raises InvalidInput if it has none of that number."""
        return self.workflow.phase(number, self.mode)

    def status(self, phase: Phase) -> PhaseStatus:
        """Returns the status of a phase."""
        checkpoint = self.store.checkpoint(phase)
        return progress.status_of(checkpoint.value if checkpoint else None)

    def checkpoint_value(self, phase: Phase) -> Value | None:
        """Returns what the checkpoint of a phase says, or None before there is one."""
        checkpoint = self.store.checkpoint(phase)
        return checkpoint.value if checkpoint else None

    def existing_checkpoint(self, phase: Phase) -> Document:
        """Returns the checkpoint of a phase; raises NotFound before there is one."""
        return _existing(self.store.checkpoint(phase), phase, "checkpoint")

    def existing_form(self, phase: Phase) -> Document:
        """Returns the feedback form of a phase; raises NotFound before there is one."""
        return _existing(self.store.feedback(phase), phase, "feedback form")

    def retries_used(self, phase: Phase) -> int:
        """Returns how often a phase was tried again."""
        checkpoint = self.store.checkpoint(phase)
        return int(checkpoint.value["metadata"]["retry_count"]) if checkpoint else 0

    def content(self, phase: Phase) -> Content:
        """Returns the fingerprint of a phase's outputs."""
        return self.store.content(phase)

    # Reviews

    def decisions(self, phase: Phase) -> list[Value]:
        """Returns each reviewer's decision about the present content of a phase."""
        content = self.content(phase)
        feedback = self.store.feedback(phase)
        found = list(self.store.reviews(phase).values())
        if feedback is not None and reviews.action_of(feedback.value):
            found = [*self.by_others(found, self.reviewer(feedback.value)), feedback.value]  # the form comes last
        return [each for each in found if reviews.action_of(each) and reviews.is_about(each, phase, content)]

    def reviewer(self, feedback: Value) -> Reviewer:
        """Returns whom a form is by: the one it names or, by name alone or not at all, the user as git knows them."""
        user, named = Reviewer(name=self.person.name, address=self.person.email), reviewers.of(feedback)
        return named if named and (named.address or not named.is_same(user)) else user

    def by_others(self, decisions: Iterable[Value], reviewer: Reviewer) -> list[Value]:
        """Returns those decisions that are not this reviewer's: nobody counts twice."""
        return [each for each in decisions if not self.reviewer(each).is_same(reviewer)]

    def missing_approval(self, phase: Phase) -> str | None:
        """Returns what is missing for the approval of a phase, or None if its present content is approved.

        Raises InvalidDocument if any feedback on it cannot be understood.
        """
        decisions = self.decisions(phase)
        status = self.status(phase)
        if status not in {PhaseStatus.COMPLETED, PhaseStatus.PENDING} and not self._is_taken_back(phase):
            return f"to be completed; it is {status}"
        return reviews.missing(phase.approvals, decisions, self.instant)

    def is_new(self, phase: Phase) -> bool:
        """Tells whether somebody decided in the form of a phase and nobody has taken it in yet."""
        feedback = self.store.feedback(phase)
        if feedback is None or reviews.action_of(feedback.value) is None:
            return False
        is_unsigned = feedback.value["review"]["timestamp"] is None  # also if its reviewer committed it with git
        return is_unsigned or bool(self.store.edited_by_hand([name_in(phase, layout.FEEDBACK_FILE)]))

    def _is_taken_back(self, phase: Phase) -> bool:
        """Tells whether a phase was sent back and the form now says otherwise: that will complete it."""
        checkpoint = self.store.checkpoint(phase)
        return checkpoint is not None and checkpoints.is_sent_back(checkpoint.value) and self.is_new(phase)

    def check_attempt(self, phase: Phase) -> None:
        """Raises GateClosed if the attempts at a phase are used up: then a person has to say how it goes on."""
        checkpoint = self.store.checkpoint(phase)
        used = self.retries_used(phase)
        if checkpoint is None or not checkpoints.is_exhausted(checkpoint.value) or used < self.workflow.max_retries:
            return
        raise GateClosed(
            f"phase {phase.number} {phase.name} has used up its attempts: {used} retries.",
            location=Location(path=str(self.store.path(name_in(phase, layout.FEEDBACK_FILE)))),
            hint=f"approve or skip it in that file, or raise max_retries in the session's {layout.WORKFLOW_FILE}.",
        )

    def check_gate(self, phase: Phase) -> None:
        """Raises GateClosed if a phase before this one requires a review that is missing."""
        for earlier in self.workflow.preceding(phase, self.mode):
            if earlier.review is not ReviewPolicy.REQUIRED or self.status(earlier) is PhaseStatus.SKIPPED:
                continue
            if lacking := self._lacking(earlier):
                raise self._closed(f"phase {phase.number} may not start", earlier, lacking)

    def check_skip(self, phase: Phase) -> None:
        """Raises GateClosed if only a reviewer may skip this phase: a required review of what it produced is open."""
        if self._owes_review(phase) and (lacking := self.missing_approval(phase)):
            raise self._closed(f"phase {phase.number} may be skipped only by its review", phase, lacking)

    def check_all_gates(self) -> None:
        """Raises GateClosed if any phase that ran requires a review that is missing."""
        for phase in self.phases:
            if self._owes_review(phase) and (lacking := self.missing_approval(phase)):
                raise self._closed("the session may not be completed", phase, lacking)

    def _owes_review(self, phase: Phase) -> bool:
        """Tells whether a phase whose review is required has ever produced anything, whatever it is called now."""
        if phase.review is not ReviewPolicy.REQUIRED or self.status(phase) is PhaseStatus.SKIPPED:
            return False
        return bool(self.store.output_names(phase)) or self.store.feedback(phase) is not None

    def _closed(self, what: str, phase: Phase, lacking: str) -> GateClosed:
        return GateClosed(
            f"{what}: phase {phase.number} {phase.name} needs {lacking}.",
            location=Location(path=str(self.store.path(name_in(phase, layout.FEEDBACK_FILE)))),
            hint=self._way_on(phase),
        )

    def _way_on(self, phase: Phase) -> str:
        """Says how the gate behind a phase is opened, as far as it got."""
        status, number = self.status(phase), phase.number
        if status is PhaseStatus.REQUIRES_RETRY and not self._is_taken_back(phase):
            return f"its review asked for another attempt: haytham start {number}, then complete it."
        if status is not PhaseStatus.COMPLETED and not self._is_taken_back(phase):
            verb = "complete" if status is PhaseStatus.IN_PROGRESS else "start"
            return f"it has to be completed first: haytham {verb} {number}."
        if phase.approvals.roles:
            return f"ask a reviewer in the role {', '.join(phase.approvals.roles)} to decide in that file."
        return f"haytham review {number} opens that file; whoever can edit it can decide: set Action and save."

    def _lacking(self, phase: Phase) -> str | None:
        if self.status(phase) is PhaseStatus.PENDING:
            return "to be run and approved"
        return self.missing_approval(phase)

    # Staleness

    def stale(self) -> dict[int, str]:
        """Returns why each stale phase is stale."""
        contents = {phase.number: self.content(phase).hash for phase in self.phases}
        return staleness.reasons(self.phases, self.store.checkpoints(self.phases), contents)

    def plan(self) -> list[staleness.Step]:
        """Lists what is left to do, in order, and why."""
        if self.identity["closed"] is not None:
            return []
        waiting = {phase.number: lacking for phase in self.phases if (lacking := self._open_gate(phase))}
        requested = {phase.number: len(self._requested(phase)) for phase in self.phases}
        return staleness.plan(self.phases, self.store.checkpoints(self.phases), self.stale(), waiting, requested)

    def _requested(self, phase: Phase) -> list[str]:
        try:
            feedback = self.store.feedback(phase)
        except InvalidInput:
            return []
        return list(feedback.value["requested_changes"]) if feedback else []

    def _open_gate(self, phase: Phase) -> str | None:
        """Returns what a completed phase waits for whose review is required, or None."""
        if phase.review is not ReviewPolicy.REQUIRED or self.status(phase) is not PhaseStatus.COMPLETED:
            return None
        try:
            lacking = self.missing_approval(phase)
        except InvalidInput:
            return "its form cannot be understood"
        return f"it needs {lacking}{self._void(phase)}" if lacking else None

    def _void(self, phase: Phase) -> str:
        """Says which approval of a phase holds no more, if there is one."""
        feedback = self.store.feedback(phase)
        void = reviews.void(reviews.previous_record(feedback.value)) if feedback else None
        return f"; {void}" if void else ""

    # The manifest

    def derived_manifest(self, changed: Mapping[int, Value] | None = None) -> dict[str, Any]:
        """Returns what the manifest has to say, given the checkpoints on disk and those about to be written."""
        known = self.store.checkpoints(tuple(p for p in self.phases if p.number not in (changed or {})))
        is_waiting = any(self._open_gate(phase) for phase in self.phases)
        checkpoints = known | dict(changed or {})
        value = progress.manifest(self.identity, self.workflow, checkpoints, self.now, is_waiting=is_waiting)
        return {**value, **self.parts}

    def _manifest_document(self) -> Document:
        """Reads the manifest; one that cannot be read is taken from history, and derived again by recovery.

        One of a later release is refused: nothing may be written over what is not understood.
        """
        try:
            return self.store.manifest()
        except (InvalidInput, NotFound) as error:
            committed = None if self.store.is_of_a_later_release() else self._newest_readable_manifest()
            if committed is None:
                raise
            self.manifest_fault = error
            return committed

    def manifest_is_stale(self) -> bool:
        """Tells whether the manifest cannot be read, is gone, or says something else than the checkpoints."""
        return self.manifest_fault is not None or not progress.same(self.manifest.value, self.derived_manifest())

    def _newest_readable_manifest(self) -> Document | None:
        for entry in self.store.history.entries():
            data = self.store.history.read(layout.MANIFEST_FILE, entry.id)
            with suppress(InvalidInput, UnicodeDecodeError):
                if data is not None:
                    return read("session_manifest", data.decode(), layout.MANIFEST_FILE)
        return None


def _existing(document: Document | None, phase: Phase, what: str) -> Document:
    if document is None:
        raise NotFound(f"phase {phase.number} {phase.name} has no {what} yet.", hint="it has to run first.")
    return document
