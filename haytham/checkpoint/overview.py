"""An overview of one session: how far it got, phase by phase, and how each review stands."""

from haytham.checkpoint import review_desk
from haytham.checkpoint.session_view import SessionView
from haytham.domain import checkpoints, reviews
from haytham.domain.errors import InvalidInput, Problem
from haytham.domain.records import PhaseOverview, ReviewRecord, SessionOverview, SessionState
from haytham.domain.workflow import Phase
from haytham.storage.session_store import name_in

UNREADABLE = "unreadable"

_WORDS = {
    "approved": "approved",
    "retry_with_changes": "changes",
    "skip_phase": "skip",
    "max_retries_exceeded": "exhausted",
}


def of(view: SessionView, state: SessionState) -> SessionOverview:
    """Returns the overview, given what `load_session` tells."""
    problems: list[Problem] = []
    phases = [_row(view, state, phase, problems) for phase in view.phases]
    return SessionOverview(
        **state,
        rescued_files=view.store.rescued(),
        own_files=[name_in(phase, name) for phase in view.phases for name in view.store.own_texts(phase)],
        phases=phases,
        problems=[problem.record() for problem in problems],
    )


def review_word(record: ReviewRecord) -> str:
    """Words how a review stands in one word."""
    if record["decision"] is not None:
        return _WORDS[record["decision"]]
    return "partly" if record["decisions"] else "open"


def _row(view: SessionView, state: SessionState, phase: Phase, problems: list[Problem]) -> PhaseOverview:
    document = view.store.checkpoint(phase)
    checkpoint = checkpoints.record(document.value) if document else None
    word, missing, void = _review(view, phase, problems)
    return PhaseOverview(
        number=phase.number,
        name=phase.name,
        status=state["phase_statuses"][phase.number],
        duration=checkpoint["duration"] if checkpoint else None,
        tokens=checkpoint["total_tokens"] if checkpoint else None,
        cost=checkpoint["cost"] if checkpoint else None,
        attempt=checkpoint["retry_count"] + 1 if checkpoint else None,
        policy=phase.review.value,
        review=word,
        missing=missing,
        void=void,
        stale=state["stale_phases"].get(phase.number),
        agents=list(phase.agents_in(state["execution_mode"])),
    )


def _review(view: SessionView, phase: Phase, problems: list[Problem]) -> tuple[str | None, str | None, str | None]:
    """Returns a word for the review of a phase, what it lacks, and which approval is void.

    A form that cannot be understood is one more problem.
    """
    try:
        if view.store.feedback(phase) is None:
            return None, None, None
        record = review_desk.record(view, phase)
    except InvalidInput as error:
        problems.extend(error.problems)
        return UNREADABLE, "a form that can be understood", None
    return review_word(record), record["missing"], reviews.void(record["previous"])
