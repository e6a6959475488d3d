"""Gathers the folders of a session, or of a project and its sessions, as they are at one moment each."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from haytham.domain.headway import Headway
from haytham.exchange import archive as archives
from haytham.exchange import delivery
from haytham.exchange.archive import Archive
from haytham.storage import copies, layout
from haytham.storage.copies import FolderCopy
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore
from haytham.storage.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """An archive, with the files in it that a person changed and nobody committed."""

    archive: Archive
    uncommitted: list[str]


def session(project_id: str, store: SessionStore, steps: Headway) -> Collected:
    """Gathers one session."""
    session_id = store.folder.name
    with store.locked():
        ((copy, uncommitted),) = [_taken(each) for each in steps.over([store])]
    archive = Archive(
        kind=archives.SESSION,
        project_id=project_id,
        session_id=session_id,
        copies={delivery.session_place(session_id): copy},
    )
    return Collected(archive=archive, uncommitted=uncommitted)


def project(project_id: str, store: ProjectStore, sessions: list[SessionStore], steps: Headway) -> Collected:
    """Gathers a project with its sessions, all of them held meanwhile."""
    with _all_locked([store, *sessions]):
        own, uncommitted = _taken(store, layout.SESSIONS_FOLDER)
        found = {delivery.PROJECT_PLACE: own}
        for each in steps.over(sessions):
            place = delivery.session_place(each.folder.name)
            found[place], edited = _taken(each)
            uncommitted += [f"{place}/{name}" for name in edited]
    archive = Archive(kind=archives.PROJECT, project_id=project_id, session_id=None, copies=found)
    return Collected(archive=archive, uncommitted=uncommitted)


@contextmanager
def _all_locked(stores: list[Store]) -> Iterator[None]:
    with ExitStack() as held:
        for store in stores:
            held.enter_context(store.locked())
        yield


def _taken(store: Store, *without: str) -> tuple[FolderCopy, list[str]]:
    store.history.check()
    if isinstance(store, SessionStore):
        for phase in store.workflow.phases:
            store.settled_journals(phase)
    copy = copies.take(store, without)
    return copy, store.edited_by_hand(list(copy.files))
