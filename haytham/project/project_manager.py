"""Makes, lists, archives and deletes projects, and starts and completes their sessions."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from haytham.audit import chronicle, verification
from haytham.checkpoint import validation
from haytham.checkpoint.checkpoint_manager import LOCK_TIMEOUT, CheckpointManager
from haytham.domain import instants, messages, projects
from haytham.domain.audit_records import LogRecord, VerifyReport
from haytham.domain.choices import PhaseStatus, ProjectStatus, choose
from haytham.domain.errors import HaythamError, InvalidInput
from haytham.domain.headway import Headway, OnProgress
from haytham.domain.identifiers import check_line, check_text
from haytham.domain.records import FolderReport, ProjectRecord, ProjectStatusRecord, SessionResult, SessionStart
from haytham.project import timeline
from haytham.project.timeline import Event
from haytham.storage import files, folders, layout
from haytham.storage.history import Person
from haytham.storage.history_user import user_identity
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore

_DEFAULT_WORKFLOW = "idea_validation"


class ProjectManager:
    """Projects below one base folder."""

    def __init__(
        self,
        base_dir: str | Path = "projects",
        *,
        workflows: Iterable[str | Path] = (),
        clock: instants.Clock = instants.utc_now,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
        lock_timeout: float = LOCK_TIMEOUT,
        identity: Callable[[], Person | None] = user_identity,
    ) -> None:
        self.base_dir = Path(base_dir)
        self.sessions = CheckpointManager(
            base_dir, workflows=workflows, clock=clock, lock_timeout=lock_timeout, identity=identity, new_id=new_id
        )
        self._identity = identity
        self._layout = Layout(base=self.base_dir)
        self._clock = clock
        self._new_id = new_id
        self._lock_timeout = lock_timeout

    def create_project(
        self, user_id: str, startup_idea: str, project_name: str | None = None, execution_mode: str = "mvp"
    ) -> ProjectRecord:
        """Makes a project with its own history and returns it."""
        project_id = f"project-{self._new_id()[:12]}"
        value = projects.value(
            project_id=project_id,
            user_id=user_id,
            startup_idea=startup_idea,
            name=project_name,
            execution_mode=self._check_mode(execution_mode),
            now=self._now(),
        )
        layout.check_free(project_id, self.base_dir, "project id")
        if not self._store_at(project_id).create_project(value):
            raise InvalidInput(f"project {project_id!r} exists already.", hint="repeat the call.")
        return projects.record(value)

    def start_session(
        self,
        project_id: str,
        workflow_type: str = _DEFAULT_WORKFLOW,
        *,
        execution_mode: str | None = None,
        review: str | Mapping[int, str] | None = None,
    ) -> SessionStart:
        """Makes a session of a project and returns what it is called.

        Without one of its own, its mode is the project's or, where the workflow has no such mode, the workflow's
        default.
        `review` gives it other review policies than the workflow, as in `create_session`.
        """
        store = self._store(project_id)
        store.check()  # before the session is made
        project = store.project().value
        metadata, workflow = project["metadata"], self.sessions.workflow(workflow_type)
        usual = metadata["execution_mode"] if metadata["execution_mode"] in workflow.modes else workflow.default_mode
        session_id = f"session-{self._new_id()[:12]}"
        folder = self.sessions.create_session(
            project_id, session_id, metadata["user_id"], workflow_type, execution_mode or usual, review=review
        )
        head = self.sessions.history(project_id, session_id)[0].id
        trailers = {"Session": session_id, "Workflow": workflow_type, "Status": "in_progress", "Head": head}
        note = messages.message(f"Session {session_id} started", trailers=trailers)
        self._change(project_id, note, current_session=session_id)
        state = self.sessions.load_session(project_id, session_id)
        return SessionStart(
            project_id=project_id,
            session_id=session_id,
            user_id=state["user_id"],
            workflow_type=state["workflow_type"],
            execution_mode=state["execution_mode"],
            status=state["status"],
            created=state["created"],
            path=str(folder),
        )

    def complete_session(
        self,
        project_id: str,
        session_id: str,
        requirements_content: str,
        metrics: dict[str, Any] | None = None,
    ) -> SessionResult:
        """Closes a session and keeps its result as `outputs/requirements_v{N}.md`, in a commit of the project's.

        Phases that were not run, and metrics of the caller's own, are named in the result and in the commit.
        """
        check_text(requirements_content, "requirements_content")
        own_metrics = projects.plain_json({} if metrics is None else metrics, "metrics")
        self._store(project_id).check()  # before the session is closed
        state = self.sessions.complete_session(project_id, session_id)
        head = self.sessions.history(project_id, session_id)[0].id
        unfinished = [n for n, status in state["phase_statuses"].items() if not PhaseStatus(status).is_done]
        with self._writing(project_id) as store:
            version = store.next_requirements_version()
            name = layout.requirements(version)
            files.make_folder(store.path(layout.OUTPUTS_FOLDER))
            value = projects.changed(store.project().value, self._now(), requirements_version=version)
            note = _result_note(session_id, version, unfinished, own_metrics, head)
            store.save_project(value, note, {name: requirements_content.encode()}, self._identity())
        return SessionResult(
            project_id=project_id,
            session_id=session_id,
            status=state["status"],
            completed=state["last_updated"],
            requirements_version=version,
            requirements_file=str(store.path(name)),
            unfinished_phases=unfinished,
            metrics={**state["metrics"], **own_metrics},
        )

    def session_results(self, project_id: str, session_id: str) -> list[str]:
        """Returns the files in which results of a session were kept, oldest first."""
        store = self._store(project_id)
        return [str(store.path(name)) for name in store.results(session_id)]

    def list_user_projects(self, user_id: str, status: str | None = None) -> list[ProjectRecord]:
        """Lists a user's projects, newest first, optionally only those of one status.

        One whose document cannot be read is listed as history knows it, with its problem; if history does not know
        whose it is either, it is listed for everybody.
        """
        check_line(user_id, "user id")
        wanted = choose(ProjectStatus, status, "status") if status is not None else None
        found = [self._record_or_problem(each) for each in self.project_ids()]
        known = [each for each in found if each["user_id"] == user_id and wanted in {None, each["status"]}]
        chosen = [*known, *(each for each in found if not each["user_id"])]
        return sorted(chosen, key=_age, reverse=True)

    def project_ids(self) -> list[str]:
        """Returns the ids of all projects, sorted."""
        return [each for each in self._layout.project_ids() if self._is_project(each)]

    def list_projects(self) -> list[ProjectStatusRecord]:
        """Lists all projects with their sessions, by id; one that cannot be read is listed with its problem."""
        return [self._status_or_problem(each) for each in self.project_ids()]

    def history(self, project_id: str) -> list[Event]:
        """Returns the commits of a project and of all its sessions, newest first."""
        sessions = self.sessions.session_ids(project_id)
        histories = {each: self.sessions.history(project_id, each) for each in sessions}
        return timeline.interleaved(histories, self._store(project_id).history.entries())

    def log(
        self,
        project_id: str,
        *,
        phase: int | None = None,
        actor: str | None = None,
        decision: str | None = None,
        since: object = None,
        until: object = None,
    ) -> list[LogRecord]:
        """Returns the commits of a project and of all its sessions as one, newest first, as `log` of a session does."""
        chosen = chronicle.wanted(phase, actor, decision, since, until)
        events = [each for each in self.history(project_id) if chosen.has(each.entry)]
        folders = {each.session_id: self._folder(project_id, each.session_id) for each in events}
        records = {
            session_id: iter(chronicle.records([e.entry for e in events if e.session_id == session_id], session_id, at))
            for session_id, at in folders.items()
        }
        return [next(records[each.session_id]) for each in events]

    def validate_project(self, project_id: str) -> list[FolderReport]:
        """Checks every document and the history of a project, then of each of its sessions; changes nothing."""
        sessions = self.sessions.session_ids(project_id)
        own = validation.project(self._store(project_id))
        return [own, *(self.sessions.validate_session(project_id, each) for each in sessions)]

    def verify_project(self, project_id: str, *, on_progress: OnProgress | None = None) -> list[VerifyReport]:
        """Verifies a project's own document and history, then each of its sessions; changes nothing.

        `on_progress(done, total)` is called with each step.
        """
        sessions = self.sessions.session_ids(project_id)
        steps = Headway(len(sessions), on_progress)
        own = verification.project(self._store(project_id))
        return [own, *(self.sessions.verify_session(project_id, each) for each in steps.over(sessions))]

    def get_project_status(self, project_id: str) -> ProjectStatusRecord:
        """Returns a project with its sessions, newest first, and how many are in which status."""
        record = projects.record(self._store(project_id).project().value)
        sessions = self.sessions.list_sessions(project_id)
        counts: dict[str, int] = {}
        for session in sessions:
            counts[session["status"]] = counts.get(session["status"], 0) + 1
        return ProjectStatusRecord(**record, sessions=sessions, session_counts=counts)

    def update_user_preferences(self, project_id: str, preferences: dict[str, Any]) -> dict[str, Any]:
        """Lays preferences over the ones a project has; returns all of them."""
        with self._writing(project_id) as store:
            value = projects.with_preferences(store.project().value, preferences, self._now())
            changed = json.dumps(sorted(preferences), ensure_ascii=False)
            note = messages.message("Preferences changed", trailers={"Preferences": changed})
            store.save_project(value, note, person=self._identity())
        return dict(value["preferences"])

    def get_user_preferences(self, project_id: str) -> dict[str, Any]:
        """Returns a project's preferences."""
        return dict(self._store(project_id).project().value["preferences"])

    def archive_project(self, project_id: str) -> ProjectRecord:
        """Marks a project as archived; its sessions stay as they are."""
        note = messages.message("Project archived", trailers={"Status": "archived"})
        return projects.record(self._change(project_id, note, status=ProjectStatus.ARCHIVED.value))

    def delete_project(self, project_id: str) -> None:
        """Removes a project with all its sessions and their history, for good."""
        store = self._store(project_id)
        with store.locked():
            gone = folders.set_aside(store.folder)
        folders.remove(gone)

    # Steps

    def _now(self) -> str:
        return instants.text_of(self._clock())

    def _check_mode(self, mode: str) -> str:
        return self.sessions.workflow(_DEFAULT_WORKFLOW).check_mode(mode)

    def _folder(self, project_id: str, session_id: str | None) -> Path:
        return self._layout.session(project_id, session_id) if session_id else self._layout.project(project_id)

    def _store_at(self, project_id: str) -> ProjectStore:
        folder = self._layout.project(project_id)
        return ProjectStore(folder, clock=self._clock, lock_timeout=self._lock_timeout)

    def _store(self, project_id: str) -> ProjectStore:
        self._layout.existing_project(project_id)
        return self._store_at(project_id)

    def _record_or_problem(self, project_id: str) -> ProjectRecord:
        store = self._store(project_id)
        try:
            return projects.record(store.project().value)
        except HaythamError as error:
            committed = store.committed_project()
            if committed is None:
                return projects.unreadable(project_id, str(error))
            return {**projects.record(committed.value), "problem": str(error)}

    def _status_or_problem(self, project_id: str) -> ProjectStatusRecord:
        try:
            return self.get_project_status(project_id)
        except HaythamError as error:
            record = projects.unreadable(project_id, str(error))
            return ProjectStatusRecord(**record, sessions=[], session_counts={})

    def _is_project(self, name: str) -> bool:
        try:
            return self._store_at(name).exists()
        except HaythamError:
            return False

    @contextmanager
    def _writing(self, project_id: str) -> Iterator[ProjectStore]:
        """Holds a project for one change, after finishing what a crash may have left."""
        store = self._store(project_id)
        with store.locked():
            store.history.check()  # before anything is written: somebody may have switched to another branch
            store.finish()
            yield store

    def _change(self, project_id: str, note: str, **metadata: object) -> dict[str, Any]:
        with self._writing(project_id) as store:
            value = projects.changed(store.project().value, self._now(), **metadata)
            store.save_project(value, note, person=self._identity())
        return value


def _age(project: ProjectRecord) -> tuple[float, str]:
    made = instants.parse(project["created"], "created").timestamp() if project["created"] else 0.0
    return made, project["project_id"]


def _result_note(session_id: str, version: int, unfinished: list[int], metrics: dict[str, Any], head: str) -> str:
    body = f"Not run: phases {', '.join(str(each) for each in unfinished)}" if unfinished else ""
    shown = json.dumps(metrics, ensure_ascii=False) if metrics else None
    trailers = {"Session": session_id, "Status": "completed", "Requirements": version, "Metrics": shown, "Head": head}
    return messages.message(f"Session {session_id} completed, requirements v{version}", body, trailers)
