"""Opens sessions: recovered the first time, settled when asked, locked for a change."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from haytham.checkpoint import recovery, review_desk
from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import SessionWriter
from haytham.domain import instants, progress
from haytham.domain.errors import StorageFailure
from haytham.domain.records import RecoveryReport, ReviewRecord
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.history import Person
from haytham.storage.layout import Layout
from haytham.storage.session_store import SessionStore

_LOG = logging.getLogger("haytham")


class SessionAccess:
    """The ways into the sessions below one base folder; `reports` tells what recovery found in each."""

    def __init__(
        self,
        places: Layout,
        *,
        clock: instants.Clock,
        lock_timeout: float,
        identity: Callable[[], Person | None],
    ) -> None:
        self._layout = places
        self._clock = clock
        self._lock_timeout = lock_timeout
        self._identity = identity
        self.reports: dict[Path, RecoveryReport] = {}
        self.callbacks: list[Callable[[ReviewRecord], object]] = []

    def store_at(self, folder: Path) -> SessionStore:
        """Returns the store of a folder, whether it exists or not."""
        return SessionStore(folder, clock=self._clock, lock_timeout=self._lock_timeout)

    def store(self, project_id: str, session_id: str) -> SessionStore:
        """Returns the store of a session, as it is; raises NotFound if there is none."""
        store = self.store_at(self._layout.existing_session(project_id, session_id))
        layout.refuse_links(store.history.git_folder, *(store.path(phase.folder) for phase in store.workflow.phases))
        return store

    def opened(self, project_id: str, session_id: str) -> SessionStore:
        """Returns a session's store; the first time, after recovery."""
        store = self.store(project_id, session_id)
        if store.folder not in self.reports:
            try:
                self.recover(store)
            except StorageFailure:
                # A disk that cannot be written can still be read.
                self.reports[store.folder] = RecoveryReport(finished=[], removed=[], edited_files=[])
        return store

    def recover(self, store: SessionStore) -> RecoveryReport:
        """Finishes what a crash left, and notes what was found."""
        with store.locked():
            report = recovery.recover(self._writer(store))
        self.reports[store.folder] = report
        return report

    def _writer(self, store: SessionStore) -> SessionWriter:
        return SessionWriter(store, self._clock(), self._identity())

    def view(self, project_id: str, session_id: str) -> SessionView:
        """Returns a view of a session as its documents are."""
        return SessionView(self.opened(project_id, session_id), self._clock(), self._identity())

    def settled(self, project_id: str, session_id: str) -> SessionView:
        """Returns a view of a session after taking in what people did to its documents."""
        store = self.opened(project_id, session_id)
        view = self._writer(store)
        if not progress.same(view.manifest.value, view.derived_manifest()):
            self.recover(store)
        elif review_desk.is_settled(view):
            return view
        with store.locked():
            decided = review_desk.settle(self._writer(store))
        self.tell(project_id, session_id, decided)
        return self.view(project_id, session_id)

    def tell(self, project_id: str, session_id: str, decided: Sequence[Phase]) -> None:
        """Calls back about decisions that were recorded."""
        if not self.callbacks or not decided:
            return
        view = self.view(project_id, session_id)
        for phase in decided:
            for callback in self.callbacks:
                try:
                    callback(review_desk.record(view, phase))
                except Exception:  # noqa: BLE001 - whatever a callback raises, the decision is saved
                    _LOG.exception("a callback for decisions failed; the decision itself is saved")

    @contextmanager
    def writing(self, project_id: str, session_id: str) -> Iterator[SessionWriter]:
        """Holds a session for one change, after taking in what people decided.

        It is recovered if this is the first change or if the writer before died.
        """
        store = self.store(project_id, session_id)
        decided: list[Phase] = []
        try:
            with store.locked() as died:
                store.history.check_branch()  # before anything is written: somebody may have switched to another one
                if died or store.folder not in self.reports:
                    self.reports[store.folder] = recovery.recover(self._writer(store))
                writer = self._writer(store)
                if review_desk.has_new_forms(writer):
                    decided = review_desk.settle(writer)
                yield self._writer(store)
        finally:
            self.tell(project_id, session_id, decided)
