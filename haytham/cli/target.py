"""Finds the session and the phase that a command is about; never guesses between two."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import hints
from haytham.cli.selection import Selection, listing, newest
from haytham.domain.choices import PhaseStatus, ReviewPolicy, SessionStatus
from haytham.domain.errors import InvalidDocument, InvalidInput, Location, NotFound
from haytham.domain.records import SessionSummary
from haytham.domain.workflow import Phase


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One session, and the manager that opens it."""

    manager: CheckpointManager
    project: str
    session: str

    @property
    def ids(self) -> tuple[str, str]:
        """What managers take first."""
        return self.project, self.session

    def form_ids(self) -> dict[str, str]:
        """What the JSON forms about a session begin with."""
        return {"project_id": self.project, "session_id": self.session}

    def phases(self) -> tuple[Phase, ...]:
        """Returns the session's phases, with its own review policies."""
        return self.manager.phases(*self.ids)

    def phase(self, number: int) -> Phase:
        """Returns one phase; raises InvalidInput if the session has none of that number."""
        known = {phase.number: phase for phase in self.phases()}
        if number not in known:
            numbers = ", ".join(str(each) for each in known)
            raise InvalidInput(f"this session has no phase {number}.", hint=f"its phases: {numbers}.")
        return known[number]

    def form(self, phase: Phase) -> Path:
        """Returns where the form of a phase is."""
        return self.manager.form(*self.ids, phase.number)

    def phase_to_review(self, number: int | None) -> Phase:
        """Returns the phase that is named or, without a name, the only one that waits for a review."""
        if number is not None:
            return self.phase(number)
        waiting = self.waiting()
        if not waiting:
            raise NotFound(
                f"no phase of session {self.session} waits for a review.",
                hint="name a phase to look at a decision again, or to change it.",
            )
        if len(waiting) > 1:
            raise InvalidInput(f"{len(waiting)} phases wait for a review.", hint=f"name one: {_phases(waiting)}.")
        return waiting[0]

    def waiting(self) -> list[Phase]:
        """Returns the phases at which the session waits for a review or, if at none, those where one is optional."""
        undecided = self._undecided()
        return [each for each in undecided if each.review is ReviewPolicy.REQUIRED] or undecided

    def _undecided(self) -> list[Phase]:
        """Returns the completed phases that nobody has decided about yet, or whose form cannot be understood."""
        statuses = self.manager.load_session(*self.ids)["phase_statuses"]
        completed = [phase for phase in self.phases() if statuses[phase.number] == PhaseStatus.COMPLETED]
        return [each for each in completed if each.review is not ReviewPolicy.NONE and self._is_undecided(each)]

    def _is_undecided(self, phase: Phase) -> bool:
        try:
            return self.manager.review(*self.ids, phase.number)["decision"] is None
        except InvalidDocument:
            return True


def newest_session(selection: Selection) -> Target:
    """Returns the session that is named, or the newest one of the project."""
    return _target(selection, newest)


def open_session(selection: Selection) -> Target:
    """Returns the session that is named, or the only one of the project that is not completed."""
    return _target(selection, _only_open)


def _target(selection: Selection, choose: Callable[[Sequence[SessionSummary]], str | None]) -> Target:
    project = selection.one_project()
    manager = selection.manager.sessions
    session = selection.session or _chosen(manager.list_sessions(project), choose)
    if session is None:
        place = Location(path=str(selection.base_dir / project))
        raise NotFound("the project has no sessions yet.", location=place, hint="haytham new begins one.")
    target = Target(manager=manager, project=project, session=session)
    manager.load_session(*target.ids)  # finishes what a crash may have left, before anything is looked at
    return target


def _chosen(sessions: Sequence[SessionSummary], choose: Callable[[Sequence[SessionSummary]], str | None]) -> str | None:
    session = choose(sessions)
    if session is not None and len(sessions) > 1:
        hints.need_session(session)
    return session


def _only_open(sessions: Sequence[SessionSummary]) -> str | None:
    if len(sessions) <= 1:
        return sessions[0]["session_id"] if sessions else None
    found = [e["session_id"] for e in sessions if e["status"] != SessionStatus.COMPLETED and not e["archived"]]
    if len(found) == 1:
        return found[0]
    candidates = found or [each["session_id"] for each in sessions]
    what = f"{len(found)} sessions are not completed" if found else "every session is completed"
    raise InvalidInput(f"{what}, and none is named.", hint=f"add --session with one of: {listing(candidates)}.")


def _phases(phases: Sequence[Phase]) -> str:
    return ", ".join(f"{phase.number} {phase.name} ({phase.review})" for phase in phases)
