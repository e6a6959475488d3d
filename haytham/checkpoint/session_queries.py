"""Answers questions about sessions; changes nothing but what recovery finishes."""

from collections.abc import Sequence
from pathlib import Path
from types import NoneType

from haytham.checkpoint import attempts, session_journals, validation
from haytham.checkpoint.session_access import SessionAccess
from haytham.domain import progress
from haytham.domain.choices import PhaseStatus
from haytham.domain.errors import HaythamError, InvalidInput
from haytham.domain.records import FolderReport, SessionSummary
from haytham.domain.workflow import Phase
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from haytham.storage import layout
from haytham.storage.history import Entry
from haytham.storage.layout import Layout
from haytham.storage.session_store import name_in


class SessionQueries:
    """What can be asked about the sessions below one base folder."""

    def __init__(self, places: Layout, access: SessionAccess) -> None:
        self._layout = places
        self._access = access

    # Of a project

    def session_ids(self, project_id: str) -> list[str]:
        """Returns the ids of a project's sessions, sorted."""
        return self._layout.session_ids(project_id)

    def list_sessions(self, project_id: str) -> list[SessionSummary]:
        """Lists a project's sessions, newest first; one that cannot be read is listed with its problem."""
        found = [self._summary(project_id, each) for each in self._layout.session_ids(project_id)]
        return sorted(found, key=progress.age, reverse=True)

    # Of a session

    def phases(self, project_id: str, session_id: str) -> tuple[Phase, ...]:
        """Returns the phases of a session's mode, with the session's own review policies."""
        return self._access.view(project_id, session_id).phases

    def history(self, project_id: str, session_id: str) -> list[Entry]:
        """Returns the commits of a session, newest first."""
        return list(self._access.store(project_id, session_id).history.entries())

    def validate_session(self, project_id: str, session_id: str) -> FolderReport:
        """Checks every document of a session by the reader that loads it, and lets git check its history."""
        return validation.session(self._access.store_at(self._layout.existing_session(project_id, session_id)))

    # Of a phase

    def get_phase_outputs(
        self, project_id: str, session_id: str, phase_nums: list[int] | None = None
    ) -> dict[int, dict[str, str]]:
        """Returns the outputs by phase and agent: of the phases asked for, or of all completed ones."""
        if isinstance(phase_nums, (str, bytes)) or not isinstance(phase_nums, (Sequence, NoneType)):
            raise InvalidInput(f"phase_nums is {phase_nums!r}; a list is needed.", hint="pass [number], even for one.")
        view = self._access.view(project_id, session_id)
        if phase_nums is None:
            phases = [phase for phase in view.phases if view.status(phase) is PhaseStatus.COMPLETED]
        else:
            phases = [view.phase(number) for number in phase_nums]
        return {p.number: {agent: d.value["output"] for agent, d in view.store.outputs(p).items()} for p in phases}

    def final_outputs(self, project_id: str, session_id: str) -> dict[str, str]:
        """Returns the outputs of the last phase that is completed, by their files in the session; none before one is.

        They are what a session usually results in: one of them is what a project is given to keep.
        """
        view = self._access.settled(project_id, session_id)
        completed = [phase for phase in view.phases if view.status(phase) is PhaseStatus.COMPLETED]
        return {
            name_in(phase, f"{agent}.md"): str(document.value["output"])
            for phase in completed[-1:]
            for agent, document in view.store.outputs(phase).items()
        }

    def validate_checkpoint(self, project_id: str, session_id: str, phase_num: int) -> tuple[bool, list[str]]:
        """Checks all documents of a phase by the reader that loads them; reports instead of raising."""
        try:
            store = self._access.store(project_id, session_id)
            phase = store.workflow.phase(phase_num, store.manifest().value["metadata"]["execution_mode"])
        except HaythamError as error:
            return False, [str(error)]
        problems = validation.phase_problems(store, phase)
        return not problems, [str(problem) for problem in problems]

    def form(self, project_id: str, session_id: str, phase_num: int) -> Path:
        """Returns where the feedback form of a phase is, whether it exists or not."""
        view = self._access.view(project_id, session_id)
        return view.store.path(name_in(view.phase(phase_num), layout.FEEDBACK_FILE))

    def attempts(self, project_id: str, session_id: str, phase_num: int) -> list[int]:
        """Returns the attempts at a phase that history has, first to last."""
        view = self._access.view(project_id, session_id)
        return list(attempts.commits(view, view.phase(phase_num)))

    # Steps

    def _summary(self, project_id: str, session_id: str) -> SessionSummary:
        try:
            store = self._access.store(project_id, session_id)
            manifest = store.manifest().value
            store.check_place(manifest["metadata"])
            return progress.summary(session_id, manifest)
        except HaythamError as error:
            return progress.unreadable(session_id, str(error))

    def journals(self, project_id: str, session_id: str, phase_num: int) -> Journals:
        """Returns the journals of the agents of a phase."""
        store = self._access.store(project_id, session_id)
        phase = self._access.view(project_id, session_id).phase(phase_num)
        return session_journals.of(store, phase, self._access.clock)

    def journal(self, project_id: str, session_id: str, phase_num: int, agent_name: str, branch: str = "") -> Journal:
        """Returns the journal of an agent in a phase, to be saved to while the phase runs."""
        return self.journals(project_id, session_id, phase_num).journal(agent_name, branch)
