"""Notes in a project's own history what happened to its sessions."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from haytham.domain import instants, messages, projects
from haytham.storage.project_store import ProjectStore


def note(store: ProjectStore, message: str, *, gone: str | None = None, once_for: str | None = None) -> None:
    """Commits a message to the project, as one change of its document; a session that is `gone` is current no more.

    With `once_for`, nothing is committed if this is what the project's history told last about that session.
    """
    with _mended(store):
        if once_for is None or not _is_told(store, once_for, message):
            _commit(store, message, gone)


def note_archived(store: ProjectStore, session_id: str, *, is_archived: bool) -> None:
    """Commits that a session is archived, or is no more, unless the project's history tells so already."""
    word, mark = ("archived", "yes") if is_archived else ("unarchived", "no")
    with _mended(store):
        if _is_archived(store, session_id) != is_archived:
            _commit(store, about(session_id, word, Archived=mark))


@contextmanager
def _mended(store: ProjectStore) -> Iterator[None]:
    """Holds a project, with what a crash left finished."""
    with store.locked():
        store.history.check()  # before anything is written: somebody may have switched to another branch
        store.finish()
        yield


def _commit(store: ProjectStore, message: str, gone: str | None = None) -> None:
    value = store.project().value
    current = value["metadata"]["current_session"]
    now = instants.text_of(store.now())
    kept = None if current == gone else current
    store.save_project(projects.changed(value, now, current_session=kept), message)


def _is_archived(store: ProjectStore, session_id: str) -> bool:
    """Tells whether a session is archived as far as the project's history tells."""
    for trailers in _trailers(store, session_id):
        if "Haytham-Archived" in trailers:
            return trailers["Haytham-Archived"] == "yes"
        if trailers.get("Haytham-Status") == "deleted":  # another one, of the same id
            break
    return False


def _is_told(store: ProjectStore, session_id: str, message: str) -> bool:
    newest = next(_trailers(store, session_id), {})
    last = {f"{key}: {value}" for key, value in newest.items() if key != messages.PARENT}
    return bool(last) and last <= set(message.splitlines())


def _trailers(store: ProjectStore, session_id: str) -> Iterator[Mapping[str, str]]:
    """Yields the trailers of what was noted about a session, newest first."""
    for entry in store.history.entries():
        if entry.trailers.get("Haytham-Session") == session_id:
            yield entry.trailers


def about(session_id: str, word: str, **trailers: object) -> str:
    """Words what happened to a session."""
    return messages.message(f"Session {session_id} {word}", trailers={"Session": session_id, **trailers})
