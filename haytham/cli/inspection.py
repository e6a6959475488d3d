"""Looks at projects and sessions without changing anything: no recovery, no lock."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from haytham.checkpoint import attempts
from haytham.checkpoint.checkpoint_manager import LOCK_TIMEOUT
from haytham.checkpoint.session_view import SessionView
from haytham.cli.reporting import problems_of
from haytham.documents.document import Document
from haytham.domain import instants, reviews
from haytham.domain.choices import Action
from haytham.domain.errors import HaythamError, Location, Problem
from haytham.domain.workflow import Phase
from haytham.storage import files, layout, user_git
from haytham.storage.history import Entry
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore, name_in

Read = TypeVar("Read")

_RESCUED = ".rescued-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a check of one folder found: how many documents were read, and every problem."""

    folder: str
    documents: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def session_ids(base_dir: Path, project_id: str) -> list[str]:
    """Returns the ids of a project's sessions, sorted."""
    return Layout(base=base_dir).session_ids(project_id)


def session_phases(base_dir: Path, project_id: str, session_id: str) -> tuple[Phase, ...]:
    """Returns the phases of a session, by its own copy of its workflow and its own review policies."""
    return _phases(_session_store(base_dir, project_id, session_id))


def form_path(base_dir: Path, project_id: str, session_id: str, phase: Phase) -> Path:
    """Returns where the form of a phase is, whether it exists or not."""
    return _session_store(base_dir, project_id, session_id).path(name_in(phase, layout.FEEDBACK_FILE))


def attempt_numbers(base_dir: Path, project_id: str, session_id: str, phase: Phase) -> list[int]:
    """Returns the attempts at a phase that history has, first to last."""
    view = SessionView(_session_store(base_dir, project_id, session_id), instants.utc_now())
    return list(attempts.commits(view, phase))


def previous_decision(base_dir: Path, project_id: str, session_id: str, phase: Phase) -> Mapping[str, Any] | None:
    """Returns the decision about earlier content that an undecided form notes, or None."""
    form = _session_store(base_dir, project_id, session_id).feedback(phase)
    if form is None or reviews.action_of(form.value) is not None:
        return None
    previous: Mapping[str, Any] | None = form.value.get("previous")
    return previous


def void_decision(base_dir: Path, project_id: str, session_id: str, phase: Phase) -> str | None:
    """Words the approval that the form of a phase notes as void, and why, or returns None."""
    previous = previous_decision(base_dir, project_id, session_id, phase)
    if previous is None or previous["decision"] != Action.APPROVED or not previous["void_because"]:
        return None
    return f"approved by {previous['reviewer'] or 'somebody'}, void because {previous['void_because']}"


def rescued_files(base_dir: Path, project_id: str, session_id: str) -> list[str]:
    """Returns what was saved from under an editor's hands: versions of documents that lie beside them."""
    store = _session_store(base_dir, project_id, session_id)
    folders = ["", *(f"{phase.folder}/" for phase in store.workflow.phases)]
    return [f"{folder}{name}" for folder in folders for name in files.names_in(store.path(folder)) if _RESCUED in name]


def project_history(base_dir: Path, project_id: str) -> list[Entry]:
    """Returns the commits of a project's own history, newest first."""
    return list(_project_store(base_dir, project_id).history.entries())


def check_project(base_dir: Path, project_id: str) -> Finding:
    """Checks the project document and the project's history."""
    store = _project_store(base_dir, project_id)
    finding = Finding(folder=str(store.folder))
    _read(finding, str(store.path(layout.PROJECT_FILE)), store.project)
    _check_history(finding, store)
    return finding


def check_session(base_dir: Path, project_id: str, session_id: str) -> Finding:
    """Checks every document of a session, by the reader that loads them, and the session's history."""
    store = _session_store(base_dir, project_id, session_id)
    finding = Finding(folder=str(store.folder))
    _read(finding, str(store.path(layout.WORKFLOW_FILE)), lambda: store.workflow)
    _read(finding, str(store.path(layout.MANIFEST_FILE)), store.manifest)
    for phase in _readable_phases(store):
        _check_phase(finding, store, phase)
    _check_history(finding, store)
    return finding


def _check_phase(finding: Finding, store: SessionStore, phase: Phase) -> None:
    there = store.output_names(phase)
    checkpoint = _read_if_there(finding, store, "checkpoint", name_in(phase, layout.CHECKPOINT_FILE))
    for name in there:
        _read_if_there(finding, store, "agent_output", name_in(phase, name))
    _read_if_there(finding, store, "user_feedback", name_in(phase, layout.FEEDBACK_FILE))
    if checkpoint is not None:
        finding.problems.extend(_disagreements(store, phase, checkpoint, there))


def _disagreements(store: SessionStore, phase: Phase, checkpoint: Document, there: list[str]) -> Iterator[Problem]:
    location = Location(path=str(store.path(name_in(phase, layout.CHECKPOINT_FILE))))
    number = checkpoint.value["metadata"]["phase_number"]
    if number != phase.number:
        yield Problem(message=f"this is the checkpoint of phase {number}, not {phase.number}.", location=location)
    for agent, file in checkpoint.value["outputs"].items():
        if file not in there:
            hint = f"git shows what it was: git log -- {name_in(phase, file)}"
            yield Problem(message=f"the output {file} of agent {agent} is not there.", location=location, hint=hint)


def _read_if_there(finding: Finding, store: SessionStore, kind: str, name: str) -> Document | None:
    path = store.path(name)
    if not path.exists() and not path.is_symlink():
        return None
    return _read(finding, str(path), lambda: store.document(kind, name))


def _read(finding: Finding, path: str, read: Callable[[], Read]) -> Read | None:
    finding.documents.append(path)
    try:
        return read()
    except HaythamError as error:
        finding.problems.extend(problems_of(error))
        return None


def _check_history(finding: Finding, store: ProjectStore | SessionStore) -> None:
    try:
        store.history.check()
    except HaythamError as error:
        finding.problems.extend(problems_of(error))
    else:
        where = Location(path=str(store.history.git_folder))
        lines = user_git.fsck(store.folder)
        finding.problems.extend(Problem(message=f"git fsck: {line}", location=where) for line in lines)


def _readable_phases(store: SessionStore) -> tuple[Phase, ...]:
    """Returns the phases of a session; of all modes if the manifest cannot tell its own."""
    try:
        return _phases(store)
    except HaythamError:
        pass
    try:
        return store.workflow.phases
    except HaythamError:
        return ()


def _phases(store: SessionStore) -> tuple[Phase, ...]:
    manifest = store.manifest().value
    workflow = store.workflow.with_reviews(manifest.get("review_policy", {}))
    return workflow.phases_in(manifest["metadata"]["execution_mode"])


def _project_store(base_dir: Path, project_id: str) -> ProjectStore:
    folder = Layout(base=base_dir).existing_project(project_id)
    return ProjectStore(folder, clock=instants.utc_now, lock_timeout=LOCK_TIMEOUT)


def _session_store(base_dir: Path, project_id: str, session_id: str) -> SessionStore:
    folder = Layout(base=base_dir).existing_session(project_id, session_id)
    return SessionStore(folder, clock=instants.utc_now, lock_timeout=LOCK_TIMEOUT)
