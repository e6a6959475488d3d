"""Saves and loads the sessions of projects: the API that orchestrators call.

Orders the steps; formats, paths and git are known further down.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

from haytham.checkpoint import attempts, recovery, review_desk, session_creation, validation, waiting
from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import SessionWriter
from haytham.documents import workflow_file
from haytham.documents.document import Document
from haytham.domain import checkpoints, instants, progress, reviews
from haytham.domain import outputs as agent_outputs
from haytham.domain.choices import PhaseStatus
from haytham.domain.errors import HaythamError, InvalidInput, Location, NotFound, StorageFailure
from haytham.domain.identifiers import check_id, check_line
from haytham.domain.records import (
    CheckpointRecord,
    FeedbackRecord,
    RecoveryReport,
    ResumeStep,
    RetryRequest,
    ReviewRecord,
    SessionState,
    SessionSummary,
)
from haytham.domain.suggestions import allowed
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import files, layout
from haytham.storage.history import Entry, Person, user_identity
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore

LOCK_TIMEOUT = 30.0
_LOG = logging.getLogger("haytham")


class CheckpointManager:
    """Sessions below one base folder.

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
    ) -> None:
        self.base_dir = _base_folder(base_dir)
        self._layout = Layout(base=self.base_dir)
        self.clock = clock
        self._lock_timeout = lock_timeout
        self._identity = identity
        self._workflows = dict(workflow_file.built_in())
        self._opened: dict[Path, RecoveryReport] = {}
        self._callbacks: list[Callable[[ReviewRecord], object]] = []
        for path in workflows:
            self.register_workflow(path)

    # Workflows

    def register_workflow(self, path: str | Path) -> str:
        """Makes the workflow in a TOML file known under its name, which is returned."""
        text = files.read_text(Path(path))
        if text is None:
            raise NotFound("there is no such workflow file.", location=Location(path=str(path)))
        workflow = workflow_file.read(text, str(path))
        known = self._workflows.get(workflow.name)
        if known is not None and known.source != workflow.source:
            raise InvalidInput(
                f"another workflow is already known as {workflow.name!r}.",
                location=Location(path=str(path)),
                hint="give this one another name.",
            )
        self._workflows[workflow.name] = workflow
        return workflow.name

    def workflow(self, name: str) -> Workflow:
        """Returns a known workflow by its name; raises InvalidInput otherwise."""
        if not isinstance(name, str) or name not in self._workflows:
            hint = f"{allowed(str(name), self._workflows)} Make your own known with register_workflow."
            raise InvalidInput(f"workflow type is {name!r}, which is not known.", hint=hint)
        return self._workflows[name]

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
        _refuse_links(folder.parent.parent, folder.parent, folder)
        if folder.is_dir():
            return self._same_session(identity)
        layout.check_free(project_id, self.base_dir, "project id")
        layout.check_free(session_id, folder.parent, "session id")
        now = instants.text_of(self.clock())
        session_creation.ensure_project(self._project_store(project_id), identity, now)
        policy = session_creation.policies(workflow, identity["execution_mode"], review)
        is_new = session_creation.create(self._store_at(folder), workflow, identity, now, policy)
        return folder if is_new else self._same_session(identity)

    def load_session(self, project_id: str, session_id: str) -> SessionState:
        """Tells how far a session got, after taking in what people did and finishing what a crash may have left."""
        view = self._settled(project_id, session_id)
        finished = self._opened[view.store.folder]["finished"]
        return progress.state(
            view.manifest.value, edited_files=recovery.edited_files(view), recovered=finished, stale=view.stale()
        )

    def list_sessions(self, project_id: str) -> list[SessionSummary]:
        """Lists a project's sessions, newest first; one that cannot be read is listed with its problem."""
        found = [self._summary(project_id, each) for each in self._layout.session_ids(project_id)]
        return sorted(found, key=progress.age, reverse=True)

    def next_phase(self, project_id: str, session_id: str) -> int | None:
        """Returns the number of the phase to run next, or None when the session is completed."""
        return self.load_session(project_id, session_id)["next_phase"]

    def can_resume(self, project_id: str, session_id: str) -> bool:
        """Tells whether there is anything left to run."""
        return self.load_session(project_id, session_id)["can_resume"]

    def complete_session(self, project_id: str, session_id: str) -> SessionState:
        """Marks a session as completed, even if phases are left out; saying it again changes nothing."""
        with self._writing(project_id, session_id) as writer:
            writer.check_all_gates()
            if writer.identity["closed"] is None:
                writer.close()
        return self.load_session(project_id, session_id)

    def recover(self, project_id: str, session_id: str) -> RecoveryReport:
        """Finishes what a crash left and tells what it did and found; a healthy session is only looked at."""
        return self._recover(self._store(project_id, session_id))

    def history(self, project_id: str, session_id: str) -> list[Entry]:
        """Returns the commits of a session, newest first."""
        return list(self._store(project_id, session_id).history.entries())

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
        with self._writing(project_id, session_id) as writer:
            writer.save_checkpoint(writer.phase(phase_num), said)

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
        """
        given = [agent_outputs.split(each) for each in agent_outputs.sequence(outputs)]
        mode = execution_mode or agent_outputs.observed_mode(len(given))
        agents = [agent for _, agent in given]
        said = checkpoints.report("completed", agents, started, completed, duration, 0, mode, None)
        with self._writing(project_id, session_id) as writer:
            phase = writer.phase(phase_num)
            writer.save_checkpoint(phase, said, [agent_outputs.value(phase, writer.now, **each) for each, _ in given])

    def load_checkpoint(self, project_id: str, session_id: str, phase_num: int) -> CheckpointRecord:
        """Returns what the checkpoint of a phase says; raises NotFound before there is one."""
        store = self._opened_store(project_id, session_id)
        phase = self._phase(store, phase_num)
        return checkpoints.record(self._existing(store.checkpoint(phase), phase, "checkpoint").value)

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
        with self._writing(project_id, session_id) as writer:
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

    def get_phase_outputs(
        self, project_id: str, session_id: str, phase_nums: list[int] | None = None
    ) -> dict[int, dict[str, str]]:
        """Returns the outputs by phase and agent: of the phases asked for, or of all completed ones."""
        if isinstance(phase_nums, (str, bytes)) or not isinstance(phase_nums, (Sequence, NoneType)):
            raise InvalidInput(f"phase_nums is {phase_nums!r}; a list is needed.", hint="pass [number], even for one.")
        store = self._opened_store(project_id, session_id)
        if phase_nums is None:
            phases = [phase for phase in self._phases(store) if self._status(store, phase) is PhaseStatus.COMPLETED]
        else:
            phases = [self._phase(store, number) for number in phase_nums]
        return {p.number: {agent: d.value["output"] for agent, d in store.outputs(p).items()} for p in phases}

    def validate_checkpoint(self, project_id: str, session_id: str, phase_num: int) -> tuple[bool, list[str]]:
        """Checks all documents of a phase by the reader that loads them; reports instead of raising."""
        try:
            store = self._store(project_id, session_id)
            phase = self._phase(store, phase_num)
        except HaythamError as error:
            return False, [str(error)]
        problems = validation.problems(store, phase)
        return not problems, problems

    # Reviews

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
    ) -> None:
        """Records a decision about a phase as it is now; it is a commit by the reviewer.

        `reviewer` is a name, or a name and an address as git writes them; by default, who git says the user is.
        """
        with self._writing(project_id, session_id) as writer:
            phase = writer.phase(phase_num)
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
            self._tell(project_id, session_id, [phase])

    def load_feedback(self, project_id: str, session_id: str, phase_num: int) -> FeedbackRecord:
        """Returns what the feedback on a phase says; raises NotFound before there is a form."""
        store = self._opened_store(project_id, session_id)
        phase = self._phase(store, phase_num)
        document = self._existing(store.feedback(phase), phase, "feedback form")
        return reviews.record(document.value, store.content(phase))

    def get_approved_phases(self, project_id: str, session_id: str) -> list[int]:
        """Returns the phases whose present content is approved; raises if any feedback cannot be understood."""
        view = self._view(project_id, session_id)
        return [phase.number for phase in view.phases if view.missing_approval(phase) is None]

    def review(self, project_id: str, session_id: str, phase_num: int) -> ReviewRecord:
        """Tells how the review of a phase stands, after taking in what people wrote; raises NotFound without a form."""
        view = self._settled(project_id, session_id)
        phase = view.phase(phase_num)
        self._existing(view.store.feedback(phase), phase, "feedback form")
        return review_desk.record(view, phase)

    def wait_for_review(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        timeout: float | None = None,
        *,
        stop: threading.Event | None = None,
    ) -> ReviewRecord:
        """Waits until a phase is approved, sent back or skipped; raises ReviewTimeout after `timeout` seconds.

        A form that cannot be understood is waited over, so that its writer can mend it; at the end it is raised.
        """
        folder = self._store(project_id, session_id).path(self._view(project_id, session_id).phase(phase_num).folder)
        return waiting.until_decided(
            folder, lambda: self.review(project_id, session_id, phase_num), timeout=timeout, stop=stop
        )

    async def wait_for_review_async(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
    ) -> ReviewRecord:
        """Does what `wait_for_review` does without holding up the event loop; may be cancelled."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self.wait_for_review, project_id, session_id, phase_num, timeout, stop=stop)
        finally:
            stop.set()

    def on_decision(self, callback: Callable[[ReviewRecord], object]) -> None:
        """Calls back with each decision that this manager records; one that raises is logged and changes nothing."""
        self._callbacks.append(callback)

    def retry_request(self, project_id: str, session_id: str, phase_num: int) -> RetryRequest | None:
        """Returns what the next attempt at a phase is asked to do, or None if it was not sent back."""
        view = self._settled(project_id, session_id)
        return review_desk.retry_request(view, view.phase(phase_num))

    def resume(self, project_id: str, session_id: str) -> list[ResumeStep]:
        """Lists what is left to do in a session, in order, and why."""
        steps = self._settled(project_id, session_id).plan()
        return [
            ResumeStep(phase_num=s.phase.number, phase_name=s.phase.name, action=s.action, reason=s.reason)
            for s in steps
        ]

    def diff(
        self, project_id: str, session_id: str, phase_num: int, before: int | None = None, after: int | None = None
    ) -> str:
        """Shows what changed in a phase's outputs between two attempts, by default the last two, as a unified diff."""
        view = self._view(project_id, session_id)
        return attempts.diff(view, view.phase(phase_num), before, after)

    # Steps

    def _same_session(self, identity: dict[str, Any]) -> Path:
        store = self._opened_store(identity["project_id"], identity["session_id"])
        present = store.manifest().value["metadata"]
        for key in ("user_id", "workflow_type", "execution_mode"):
            if present[key] != identity[key]:
                raise InvalidInput(
                    f"session {identity['session_id']!r} exists with {key} {present[key]!r}, not {identity[key]!r}.",
                    location=Location(path=str(store.folder)),
                    hint="use another session id, or the values it was created with.",
                )
        for phase in self._phases(store):
            files.make_folder(store.path(phase.folder))
        return store.folder

    def _project_store(self, project_id: str) -> ProjectStore:
        return ProjectStore(self._layout.project(project_id), clock=self.clock, lock_timeout=self._lock_timeout)

    def _store_at(self, folder: Path) -> SessionStore:
        return SessionStore(folder, clock=self.clock, lock_timeout=self._lock_timeout)

    def _store(self, project_id: str, session_id: str) -> SessionStore:
        store = self._store_at(self._layout.existing_session(project_id, session_id))
        _refuse_links(store.history.git_folder, *(store.path(phase.folder) for phase in store.workflow.phases))
        return store

    def _opened_store(self, project_id: str, session_id: str) -> SessionStore:
        """Returns a session's store; the first time, after recovery."""
        store = self._store(project_id, session_id)
        if store.folder not in self._opened:
            try:
                self._recover(store)
            except StorageFailure:
                # A disk that cannot be written can still be read.
                self._opened[store.folder] = RecoveryReport(finished=[], removed=[], edited_files=[])
        return store

    def _recover(self, store: SessionStore) -> RecoveryReport:
        with store.locked():
            report = recovery.recover(self._writer(store))
        self._opened[store.folder] = report
        return report

    def _writer(self, store: SessionStore) -> SessionWriter:
        return SessionWriter(store, self.clock(), self._identity())

    def _view(self, project_id: str, session_id: str) -> SessionView:
        return SessionView(self._opened_store(project_id, session_id), self.clock(), self._identity())

    def _settled(self, project_id: str, session_id: str) -> SessionView:
        """Returns a view of a session after taking in what people did to its documents."""
        store = self._opened_store(project_id, session_id)
        view = self._writer(store)
        if not progress.same(view.manifest.value, view.derived_manifest()):
            self._recover(store)
        elif review_desk.is_settled(view):
            return view
        with store.locked():
            decided = review_desk.settle(self._writer(store))
        self._tell(project_id, session_id, decided)
        return self._view(project_id, session_id)

    def _tell(self, project_id: str, session_id: str, decided: Sequence[Phase]) -> None:
        if not self._callbacks or not decided:
            return
        view = self._view(project_id, session_id)
        for phase in decided:
            for callback in self._callbacks:
                try:
                    callback(review_desk.record(view, phase))
                except Exception:  # noqa: BLE001 - whatever a callback raises, the decision is saved
                    _LOG.exception("a callback for decisions failed; the decision itself is saved")

    @contextmanager
    def _writing(self, project_id: str, session_id: str) -> Iterator[SessionWriter]:
        """Holds a session for one change, after taking in what people decided.

        It is recovered if this is the first change or if the writer before died.
        """
        store = self._store(project_id, session_id)
        decided: list[Phase] = []
        try:
            with store.locked() as died:
                store.history.check_branch()  # before anything is written: somebody may have switched to another one
                if died or store.folder not in self._opened:
                    self._opened[store.folder] = recovery.recover(self._writer(store))
                writer = self._writer(store)
                if review_desk.has_new_forms(writer):
                    decided = review_desk.settle(writer)
                yield self._writer(store)
        finally:
            self._tell(project_id, session_id, decided)

    def _phases(self, store: SessionStore) -> tuple[Phase, ...]:
        return store.workflow.phases_in(store.manifest().value["metadata"]["execution_mode"])

    def _phase(self, store: SessionStore, number: int) -> Phase:
        return store.workflow.phase(number, store.manifest().value["metadata"]["execution_mode"])

    def _status(self, store: SessionStore, phase: Phase) -> PhaseStatus:
        document = store.checkpoint(phase)
        return progress.status_of(document.value if document else None)

    def _existing(self, document: Document | None, phase: Phase, what: str) -> Document:
        if document is None:
            raise NotFound(
                f"phase {phase.number} {phase.name} has no {what} yet.", hint="it comes with save_checkpoint."
            )
        return document

    def _summary(self, project_id: str, session_id: str) -> SessionSummary:
        try:
            return progress.summary(session_id, self._store(project_id, session_id).manifest().value)
        except HaythamError as error:
            return progress.unreadable(session_id, str(error))


def _base_folder(base_dir: object) -> Path:
    if not isinstance(base_dir, (str, Path)):
        raise InvalidInput(f"base_dir is {base_dir!r}, which is no path.", hint="pass a str or a Path.")
    folder = Path(base_dir)
    try:
        files.make_folder(folder)
    except ValueError as error:
        raise InvalidInput(f"base_dir is {str(base_dir)!r}: {error}.", hint="choose a name without it.") from error
    return folder


def _refuse_links(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            raise StorageFailure(
                "this is a symbolic link, which Haytham does not follow.",
                location=Location(path=str(folder)),
                hint="put the real folder there.",
            )
