"""Lists what is wrong with documents and the history behind them, by the reader that loads them.

Nothing is changed: no recovery, no lock.
"""

from collections.abc import Callable
from typing import TypeVar

from haytham.checkpoint import session_journals
from haytham.documents.document import Document
from haytham.domain import instants
from haytham.domain.errors import HaythamError, Location, Problem
from haytham.domain.records import FolderReport
from haytham.domain.workflow import Phase
from haytham.storage import files, layout, user_git
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import Store

Read = TypeVar("Read")


def project(store: ProjectStore) -> FolderReport:
    """Checks the project document and the project's history."""
    check = _project_documents(store)
    check.history()
    return check.report()


def session(store: SessionStore) -> FolderReport:
    """Checks every document of a session, its journals, and the session's history."""
    check = _session_documents(store)
    for phase in readable_phases(store):
        _journals(check, store, phase)
    check.history()
    return check.report()


def documents(store: ProjectStore | SessionStore) -> tuple[list[str], list[Problem]]:
    """Checks the documents alone; returns the names of those that were read, and every problem."""
    check = _session_documents(store) if isinstance(store, SessionStore) else _project_documents(store)
    return check.names, check.problems


def _project_documents(store: ProjectStore) -> "_Check":
    check = _Check(store)
    check.read(layout.PROJECT_FILE, store.project)
    return check


def _session_documents(store: SessionStore) -> "_Check":
    check = _Check(store)
    check.read(layout.WORKFLOW_FILE, lambda: store.workflow)
    check.read(layout.MANIFEST_FILE, store.manifest)
    for phase in readable_phases(store):
        _phase(check, store, phase)
    return check


def phase_problems(store: SessionStore, phase: Phase) -> list[Problem]:
    """Returns every problem of a phase that is expected to have been saved; an empty list means that all is well."""
    check = _Check(store)
    if not store.path(phase.folder).is_dir():
        check.add(f"phase {phase.number} has no folder {phase.folder}.", phase.folder)
    elif not _phase(check, store, phase):
        check.add(f"phase {phase.number} {phase.name} has no checkpoint yet.", phase.folder)
    _journals(check, store, phase)
    return check.problems


class _Check:
    """A check of one folder: what was read and what was found so far."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.names: list[str] = []
        self.problems: list[Problem] = []

    def read(self, name: str, reader: Callable[[], Read | None]) -> Read | None:
        """Reads a document, if there is one, and notes whatever is wrong with it."""
        before = len(self.problems)
        found = self.attempt(reader)
        if found is not None or len(self.problems) > before:
            self.names.append(name)
        return found

    def attempt(self, reader: Callable[[], Read]) -> Read | None:
        """Returns what there is to read, or notes why there is none."""
        try:
            return reader()
        except HaythamError as error:
            self.problems.extend(error.problems)
            return None

    def document(self, kind: str, name: str, words: tuple[str, ...] = ()) -> Document | None:
        """Reads a document of a kind, if there is one; `words` are names that its meaning depends on."""
        return self.read(name, lambda: self._store.document(kind, name, words))

    def add(self, message: str, name: str, hint: str = "") -> None:
        """Notes a problem of a file."""
        place = Location(path=str(self._store.path(name)))
        self.problems.append(Problem(message=message, location=place, hint=hint))

    def history(self) -> None:
        """Checks the branch, and lets git check its own objects."""
        try:
            self._store.history.check()
        except HaythamError as error:
            self.problems.extend(error.problems)
            return
        for line in user_git.fsck(self._store.folder):
            self.add(f"git fsck: {line}", self._store.history.git_folder.name)

    def report(self) -> FolderReport:
        """Returns what was found."""
        return FolderReport(
            folder=str(self._store.folder),
            documents=[str(self._store.path(name)) for name in self.names],
            problems=[problem.record() for problem in self.problems],
        )


def _phase(check: _Check, store: SessionStore, phase: Phase) -> bool:
    """Checks the documents of a phase that are there; tells whether a checkpoint is, readable or not."""
    folder, name = store.path(phase.folder), name_in(phase, layout.CHECKPOINT_FILE)
    if folder.is_symlink():
        check.attempt(lambda: layout.refuse_links(folder))
        return False
    checkpoint = check.document("checkpoint", name)
    outputs = check.attempt(lambda: store.output_names(phase))
    for output in outputs or ():
        check.document("agent_output", name_in(phase, output))
    for form in check.attempt(lambda: _forms(store, phase)) or ():
        check.document("user_feedback", form, phase.approvals.roles)
    if checkpoint is not None and outputs is not None:
        _agreement(check, phase, checkpoint, outputs)
    return name in check.names


def _journals(check: _Check, store: SessionStore, phase: Phase) -> None:
    """Lets the journals of a phase's agents check themselves."""
    if store.path(phase.folder).is_symlink():
        return
    for journal in check.attempt(session_journals.of(store, phase, instants.utc_now).all) or ():
        check.names.append(f"{name_in(phase, layout.JOURNAL_FOLDER)}/{journal.path.name}")
        for line in check.attempt(journal.verify) or ():
            check.add(line, check.names[-1])


def _forms(store: SessionStore, phase: Phase) -> list[str]:
    """Returns the names of the documents that decide about a phase: its form, and those of several reviewers."""
    reviews = name_in(phase, layout.REVIEWS_FOLDER)
    decided = [f"{reviews}/{name}" for name in files.names_in(store.path(reviews)) if name.endswith(".md")]
    return [name_in(phase, layout.FEEDBACK_FILE), *decided]


def _agreement(check: _Check, phase: Phase, checkpoint: Document, there: list[str]) -> None:
    """Checks a checkpoint against the folder that it lies in."""
    name = name_in(phase, layout.CHECKPOINT_FILE)
    number = checkpoint.value["metadata"]["phase_number"]
    if number != phase.number:
        check.add(f"this is the checkpoint of phase {number}, not {phase.number}.", name)
    for agent, file in checkpoint.value["outputs"].items():
        if file not in there:
            hint = f"git shows what it was: git log -- {name_in(phase, file)}"
            check.add(f"the output {file} of agent {agent} is not there.", name, hint)


def readable_phases(store: SessionStore) -> tuple[Phase, ...]:
    """Returns the phases of a session; of all modes if the manifest cannot tell its own."""
    try:
        phases = store.workflow.phases
    except HaythamError:
        return ()
    try:
        return store.workflow.phases_in(store.manifest().value["metadata"]["execution_mode"])
    except HaythamError:
        return phases
