"""Saves and loads the sessions of projects: the API that orchestrators call.

Orders the steps; formats, paths and git are known further down.
"""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from haytham.audit.auditing import Auditing
from haytham.checkpoint import overview, session_creation, waiting
from haytham.checkpoint.reviewing import Reviewing
from haytham.checkpoint.session_access import SessionAccess
from haytham.checkpoint.session_queries import SessionQueries
from haytham.checkpoint.workflow_registry import WorkflowRegistry
from haytham.domain import checkpoints, instants
from haytham.domain import outputs as agent_outputs
from haytham.domain.choices import PhaseStatus, SessionStatus
from haytham.domain.errors import Conflict, InvalidInput, Locked
from haytham.domain.identifiers import check_id, check_line
from haytham.domain.records import (
    CheckpointRecord,
    RecoveryReport,
    SessionOverview,
    SessionState,
)
from haytham.domain.workflow import Workflow
from haytham.exchange.exchanging import Exchanging
from haytham.exchange.places import Places
from haytham.operations.operating import Operating
from haytham.storage import files, layout
from haytham.storage.history import Person
from haytham.storage.history_user import user_identity
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore

LOCK_TIMEOUT = 30.0


class CheckpointManager(SessionQueries, Reviewing, Exchanging, Auditing, Operating):
    """Sessions below one base folder: what changes them, beside questions and reviews.

    Every method raises InvalidInput (a ValueError) for a bad id, phase number, status, mode or action, and NotFound
    (a FileNotFoundError) for a missing project, session or phase. When a method that saves has returned, what it
    saved survives a crash.
    """

    def __init__(
        self,
        base_dir: str | Path = "projects",
        *,
        workflows: Iterable[str | Path] = (),
        clock: instants.Clock = instants.utc_now,
        lock_timeout: float = LOCK_TIMEOUT,
        identity: Callable[[], Person | None] = user_identity,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self.base_dir = layout.base_folder(base_dir)
        places = Layout(base=self.base_dir)
        access = SessionAccess(places, clock=clock, lock_timeout=lock_timeout, identity=identity)
        Reviewing.__init__(self, access)
        SessionQueries.__init__(self, places, access)
        Exchanging.__init__(self, access, Places(layout=places, clock=clock, lock_timeout=lock_timeout))
        Auditing.__init__(self, places, access)
        Operating.__init__(self, places, access, self._project_store, new_id)
        self.clock = clock
        self._lock_timeout = lock_timeout
        self._workflows = WorkflowRegistry(workflows)

    # Workflows

    def register_workflow(self, path: str | Path) -> str:
        """Makes the workflow in a TOML file known under its name, which is returned."""
        return self._workflows.register(path)

    def workflow(self, name: str) -> Workflow:
        """Returns a known workflow by its name; raises InvalidInput otherwise."""
        return self._workflows.named(name)

    def workflow_names(self) -> list[str]:
        """Returns the names of the workflows that are known, sorted."""
        return self._workflows.names()

    # Sessions

    def create_session(
        self,
        project_id: str,
        session_id: str,
        user_id: str,
        workflow_type: str = "idea_validation",
        execution_mode: str = "mvp",
        *,
        review: str | Mapping[int, str] | None = None,
    ) -> Path:
        """Makes a session and returns its folder; one that exists is left as it is.

        `review` gives this session other review policies than its workflow: one for all phases, or some by number.
        Raises InvalidInput if it exists with another user, workflow or mode.
        """
        workflow = self.workflow(workflow_type)
        identity = {
            "session_id": check_id(session_id, "session id"),
            "project_id": check_id(project_id, "project id"),
            "user_id": check_line(user_id, "user id"),
            "workflow_type": workflow.name,
            "execution_mode": workflow.check_mode(execution_mode),
        }
        folder = self._layout.session(project_id, session_id)
        layout.refuse_links(folder.parent.parent, folder.parent, folder)
        if folder.is_dir():
            return self._same_session(identity)
        layout.check_free(project_id, self.base_dir, "project id")
        layout.check_free(session_id, folder.parent, "session id")
        now = instants.text_of(self.clock())
        session_creation.ensure_project(self._project_store(project_id), identity, now)
        policy = session_creation.policies(workflow, identity["execution_mode"], review)
        is_new = session_creation.create(self._access.store_at(folder), workflow, identity, now, policy)
        return folder if is_new else self._same_session(identity)

    def load_session(self, project_id: str, session_id: str) -> SessionState:
        """Tells how far a session got, after taking in what people did and finishing what a crash may have left."""
        return self._access.state(project_id, session_id)

    def overview(self, project_id: str, session_id: str) -> SessionOverview:
        """Tells what `load_session` does, with how each phase and its review stand; reports a broken form."""
        state = self.load_session(project_id, session_id)
        return overview.of(self._access.settled(project_id, session_id), state)

    def watch(
        self, project_id: str, session_id: str, *, stop: threading.Event | None = None
    ) -> Iterator[SessionOverview]:
        """Yields the overview of a session at once and whenever it changes, until it is completed or `stop` is set.

        While somebody is half way through a change, nothing is yielded; what cannot be read at first is raised.
        """
        folder, seen = self._layout.existing_session(project_id, session_id), None
        for _ in waiting.changes(folder, stop or threading.Event()):
            try:
                found = self.overview(project_id, session_id)
            except (InvalidInput, Conflict, Locked):
                if seen is None:
                    raise
                continue
            if found != seen:
                yield found
            if found["status"] == SessionStatus.COMPLETED:
                return
            seen = found

    async def watch_async(self, project_id: str, session_id: str) -> AsyncIterator[SessionOverview]:
        """Does what `watch` does without holding up the event loop; may be cancelled."""
        stop = threading.Event()
        seen = self.watch(project_id, session_id, stop=stop)
        try:
            while (found := await asyncio.to_thread(next, seen, None)) is not None:
                yield found
        finally:
            stop.set()

    def next_phase(self, project_id: str, session_id: str) -> int | None:
        """Returns the number of the phase to run next, or None when the session is completed."""
        return self.load_session(project_id, session_id)["next_phase"]

    def can_resume(self, project_id: str, session_id: str) -> bool:
        """Tells whether there is anything left to run."""
        return self.load_session(project_id, session_id)["can_resume"]

    def claim_session(self, project_id: str, session_id: str) -> int:
        """Makes this manager the only one that may do the session's work; returns the number of its claim.

        It holds until somebody else claims the session, whatever becomes of this process. From then on everything that
        works on phases, or ends the session, raises StaleWriter here and writes nothing, as it does for those who
        never claimed it. People may decide all the same. A session that nobody claimed is open to all.
        """
        return self._access.claim(project_id, session_id)

    def complete_session(self, project_id: str, session_id: str) -> SessionState:
        """Marks a session as completed, even if phases are left out; saying it again changes nothing."""
        with self._access.writing(project_id, session_id) as writer:
            writer.check_all_gates()
            if writer.identity["closed"] is None:
                writer.close()
        return self.load_session(project_id, session_id)

    def recover(self, project_id: str, session_id: str) -> RecoveryReport:
        """Finishes what a crash left and tells what it did and found; a healthy session is only looked at."""
        return self._access.recover(self._access.store(project_id, session_id))

    # Phases

    def save_checkpoint(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        status: str,
        agents: list[dict[str, Any]],
        started: str | None = None,
        completed: str | None = None,
        duration: float | None = None,
        retry_count: int = 0,
        execution_mode: str = "single",
        errors: list[str] | None = None,
    ) -> None:
        """Records how a phase stands; completing, failing, skipping or sending it back is a commit."""
        said = checkpoints.report(status, agents, started, completed, duration, retry_count, execution_mode, errors)
        with self._access.writing(project_id, session_id) as writer:
            writer.save_checkpoint(writer.phase(phase_num), said)

    def start_phase(self, project_id: str, session_id: str, phase_num: int) -> None:
        """Notes that a phase begins now; `complete_phase` counts its time from here."""
        started = instants.text_of(self.clock())
        self.save_checkpoint(project_id, session_id, phase_num, PhaseStatus.IN_PROGRESS.value, [], started)

    def complete_phase(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        outputs: list[dict[str, Any]],
        *,
        started: str | None = None,
        completed: str | None = None,
        duration: float | None = None,
        execution_mode: str | None = None,
    ) -> None:
        """Completes a phase in one step: the outputs of its agents, its checkpoint, its form, one commit.

        Each output is a dict with `agent_name` and `output_content`, and what else `save_agent_output` and an agent of
        `save_checkpoint` take. It is quicker than saving one by one, and all of it is there or none.
        Where no times are given, a phase that `start_phase` began has taken from then until now.
        """
        given = [agent_outputs.split(each) for each in agent_outputs.sequence(outputs)]
        mode = execution_mode or agent_outputs.observed_mode(len(given))
        agents = [agent for _, agent in given]
        said = checkpoints.report("completed", agents, started, completed, duration, 0, mode, None)
        with self._access.writing(project_id, session_id) as writer:
            phase = writer.phase(phase_num)
            said = checkpoints.timed(said, writer.checkpoint_value(phase), writer.instant)
            writer.save_checkpoint(phase, said, [agent_outputs.value(phase, writer.now, **each) for each, _ in given])

    def load_checkpoint(self, project_id: str, session_id: str, phase_num: int) -> CheckpointRecord:
        """Returns what the checkpoint of a phase says; raises NotFound before there is one."""
        view = self._access.view(project_id, session_id)
        return checkpoints.record(view.existing_checkpoint(view.phase(phase_num)).value)

    def save_agent_output(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        agent_name: str,
        output_content: str,
        status: str = "completed",
        duration: float | None = None,
        model: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        tools_used: list[str] | None = None,
        error_type: str | None = None,
        error_message: str | None = None,
        stack_trace: str | None = None,
    ) -> None:
        """Saves what an agent produced, byte for byte."""
        with self._access.writing(project_id, session_id) as writer:
            phase = writer.phase(phase_num)
            value = agent_outputs.value(
                phase,
                writer.now,
                agent_name=agent_name,
                output_content=output_content,
                status=status,
                duration=duration,
                model=model,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                tools_used=tools_used,
                error_type=error_type,
                error_message=error_message,
                stack_trace=stack_trace,
            )
            writer.save_output(phase, value)

    # Steps

    def _same_session(self, identity: dict[str, Any]) -> Path:
        view = self._access.view(identity["project_id"], identity["session_id"])
        session_creation.check_same(view.store, view.identity, identity)
        for phase in view.phases:
            files.make_folder(view.store.path(phase.folder))
        return view.store.folder

    def _project_store(self, project_id: str) -> ProjectStore:
        return ProjectStore(self._layout.project(project_id), clock=self.clock, lock_timeout=self._lock_timeout)
