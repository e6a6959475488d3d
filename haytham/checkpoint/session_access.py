"""Opens sessions: recovered the first time, settled when asked, locked for a change."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from haytham.checkpoint import recovery, review_desk
from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import SessionWriter
from haytham.domain import instants, progress
from haytham.domain.errors import InvalidInput, Location, StorageFailure
from haytham.domain.records import RecoveryReport, ReviewRecord, SessionState
from haytham.domain.workflow import Phase
from haytham.storage import claims, layout, restoring
from haytham.storage.history import Person
from haytham.storage.layout import Layout
from haytham.storage.seals import Look
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
        self.clock = clock
        self._lock_timeout = lock_timeout
        self._identity = identity
        self.reports: dict[Path, RecoveryReport] = {}
        self._claims: dict[Path, claims.Claim] = {}
        self.callbacks: list[Callable[[ReviewRecord], object]] = []

    def store_at(self, folder: Path) -> SessionStore:
        """Returns the store of a folder, whether it exists or not."""
        return SessionStore(folder, clock=self.clock, lock_timeout=self._lock_timeout)

    def store(self, project_id: str, session_id: str) -> SessionStore:
        """Returns the store of a session, as it is; raises NotFound if there is none."""
        store = self.store_at(self._layout.existing_session(project_id, session_id))
        layout.refuse_links(store.history.git_folder, *(store.path(phase.folder) for phase in store.workflow.phases))
        return store

    def opened(self, project_id: str, session_id: str) -> SessionStore:
        """Returns a session's store; the first time, after recovery."""
        store = self.store(project_id, session_id)
        if store.folder not in self.reports or restoring.is_unfinished(store):
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
        return SessionWriter(store, self.clock(), self._identity())

    def view(self, project_id: str, session_id: str) -> SessionView:
        """Returns a view of a session as its documents are."""
        return SessionView(self.opened(project_id, session_id), self.clock(), self._identity())

    def settled(self, project_id: str, session_id: str) -> SessionView:
        """Returns a view of a session after taking in what people did to its documents."""
        store = self.opened(project_id, session_id)
        view = self._writer(store)
        if view.manifest_is_stale():
            self.recover(store)
        elif review_desk.is_settled(view):
            return view
        with store.locked():
            decided = review_desk.settle(self._writer(store))
        self.tell(project_id, session_id, decided)
        return self.view(project_id, session_id)

    def state(self, project_id: str, session_id: str) -> SessionState:
        """Returns how far a session got; at a glance if nothing changed since that was last found out."""
        store = self.store_at(self._layout.existing_session(project_id, session_id))
        layout.refuse_links(store.history.git_folder)
        store.bytes_of(layout.MANIFEST_FILE)  # read first, so that the seal is about these bytes
        told = store.told()
        if told is None:
            return self._state_in_full(project_id, session_id, store.look())
        report = self.reports.get(store.folder)
        return progress.state(
            store.manifest().value,
            edited_files=told["edited_files"],
            recovered=report["finished"] if report else [],
            stale=dict(told["stale"]),
        )

    def _state_in_full(self, project_id: str, session_id: str, found: Look) -> SessionState:
        view = self.settled(project_id, session_id)
        finished = self.reports[view.store.folder]["finished"]
        with view.store.history.kept_open():
            edited, stale = recovery.edited_files(view), view.stale()
        if not any(phase.approvals.expires_after_days for phase in view.phases):  # those change with time alone
            view.store.seal(found, {"edited_files": edited, "stale": list(stale.items())})
        return progress.state(view.manifest.value, edited_files=edited, recovered=finished, stale=stale)

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

    def claim(self, project_id: str, session_id: str) -> int:
        """Makes the work of a session ours alone, until somebody else claims it; returns the claim's number."""
        store = self.store(project_id, session_id)
        with store.locked():
            self._claims[store.folder] = claims.take(store.history.git_folder, self.clock)
        return self._claims[store.folder].number

    def end_claim(self, store: SessionStore) -> None:
        """Ends the claim that another one has on a session; call it under the lock."""
        claims.end(store.history.git_folder, self.clock, self._claims.get(store.folder, claims.NONE))

    @contextmanager
    def writing(
        self, project_id: str, session_id: str, *, even_archived: bool = False, is_work: bool = True
    ) -> Iterator[SessionWriter]:
        """Holds a session for one change, after taking in what people decided; raises InvalidInput if it is archived.

        It is recovered if this is the first change or if the writer before died. What `is_work` belongs to whoever
        claimed the session last; a decision is a person's, and does not.
        """
        store = self.store(project_id, session_id)
        decided: list[Phase] = []
        try:
            with store.locked() as died:
                if is_work:
                    claims.check(store.history.git_folder, self._claims.get(store.folder, claims.NONE))
                store.history.check_branch()  # before anything is written: somebody may have switched to another one
                if died or store.folder not in self.reports:
                    self.reports[store.folder] = recovery.recover(self._writer(store))
                writer = self._writer(store)
                if review_desk.has_new_forms(writer):
                    decided = review_desk.settle(writer)
                    writer = self._writer(store)
                if not even_archived:
                    _refuse_archived(writer)
                yield writer
        finally:
            self.tell(project_id, session_id, decided)


def _refuse_archived(view: SessionView) -> None:
    if since := progress.archived(view.manifest.value):
        raise InvalidInput(
            f"session {view.identity['session_id']} is archived since {since}.",
            location=Location(path=str(view.store.path(layout.MANIFEST_FILE))),
            hint=f"haytham archive --session {view.identity['session_id']} --undo opens it again.",
        )
