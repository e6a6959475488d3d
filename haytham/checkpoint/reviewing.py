"""The part of the API that is about reviews: decisions, waiting for them, what follows from them."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial

from haytham.checkpoint import review_desk, waiting
from haytham.checkpoint.session_access import SessionAccess
from haytham.domain import reviews
from haytham.domain.errors import InvalidInput
from haytham.domain.records import FeedbackRecord, ResumeStep, RetryRequest, ReviewRecord


class Reviewing:
    """Reviews of the sessions below one base folder; `CheckpointManager` is one, and says what its methods raise."""

    def __init__(self, access: SessionAccess) -> None:
        self._access = access

    def save_user_feedback(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        reviewed: bool,
        approved: bool,
        comments: str = "",
        requested_changes: list[str] | None = None,
        action: str = "approved",
        retry_count: int = 0,
        *,
        reviewer: str | None = None,
        role: str | None = None,
        content: str | None = None,
    ) -> None:
        """Records a decision about a phase as it is now; it is a commit by the reviewer.

        `reviewer` is a name, or a name and an address as git writes them; by default, who git says the user is.
        `content` is the hash of what they read, as `review` and the form tell it; raises Conflict, with what changed
        since, if the phase has another content now.
        """
        with self._access.writing(project_id, session_id, is_work=False) as writer:
            phase = writer.phase(phase_num)
            review_desk.check_read(writer, phase, content)
            feedback = writer.store.feedback(phase)
            value = reviews.decision(
                phase,
                writer.content(phase),
                feedback.value if feedback else None,
                retries_used=writer.retries_used(phase),
                reviewed=reviewed,
                approved=approved,
                comments=comments,
                requested_changes=requested_changes,
                action=action,
                retry_count=retry_count,
            )
            review_desk.decide(writer, phase, value, reviewer, reviews.check_role(role, phase))
        if reviewed:
            self._access.tell(project_id, session_id, [phase])

    def load_feedback(self, project_id: str, session_id: str, phase_num: int) -> FeedbackRecord:
        """Returns what the feedback on a phase says; raises NotFound before there is a form."""
        view = self._access.view(project_id, session_id)
        phase = view.phase(phase_num)
        return reviews.record(view.existing_form(phase).value, view.content(phase))

    def get_approved_phases(self, project_id: str, session_id: str) -> list[int]:
        """Returns the phases whose present content is approved; raises if any feedback cannot be understood."""
        view = self._access.view(project_id, session_id)
        return [phase.number for phase in view.phases if view.missing_approval(phase) is None]

    def review(self, project_id: str, session_id: str, phase_num: int) -> ReviewRecord:
        """Tells how the review of a phase stands, after taking in what people wrote; raises NotFound without a form."""
        view = self._access.settled(project_id, session_id)
        phase = view.phase(phase_num)
        view.existing_form(phase)
        return review_desk.record(view, phase)

    def wait_for_review(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        timeout: float | None = None,
        *,
        stop: threading.Event | None = None,
        on_problem: Callable[[InvalidInput], object] | None = None,
    ) -> ReviewRecord:
        """Waits until a phase is approved, sent back or skipped; raises ReviewTimeout after `timeout` seconds.

        A form that cannot be understood is waited over, so that its writer can mend it; at the end it is raised.
        Meanwhile `on_problem` is called with each such save, so that somebody can be told.
        """
        view = self._access.view(project_id, session_id)
        folder = view.store.path(view.phase(phase_num).folder)
        return waiting.until_decided(
            folder,
            lambda: self.review(project_id, session_id, phase_num),
            timeout=timeout,
            stop=stop,
            on_problem=on_problem,
        )

    async def wait_for_review_async(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        *,
        on_problem: Callable[[InvalidInput], object] | None = None,
    ) -> ReviewRecord:
        """Does what `wait_for_review` does without holding up the event loop; may be cancelled.

        `on_problem` is called in another thread.
        """
        stop = threading.Event()
        wait = partial(self.wait_for_review, stop=stop, on_problem=on_problem)
        try:
            return await asyncio.to_thread(wait, project_id, session_id, phase_num, timeout)
        finally:
            stop.set()

    def on_decision(self, callback: Callable[[ReviewRecord], object]) -> None:
        """Calls back with each decision that this manager records; one that raises is logged and changes nothing."""
        self._access.callbacks.append(callback)

    def retry_request(self, project_id: str, session_id: str, phase_num: int) -> RetryRequest | None:
        """Returns what the next attempt at a phase is asked to do, or None if it was not sent back."""
        view = self._access.settled(project_id, session_id)
        return review_desk.retry_request(view, view.phase(phase_num))

    def resume(self, project_id: str, session_id: str) -> list[ResumeStep]:
        """Lists what is left to do in a session, in order, and why."""
        steps = self._access.settled(project_id, session_id).plan()
        return [
            ResumeStep(phase_num=s.phase.number, phase_name=s.phase.name, action=s.action, reason=s.reason)
            for s in steps
        ]
