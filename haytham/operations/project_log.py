"""Notes in a project's own history what happened to its sessions."""

from haytham.domain import instants, messages, projects
from haytham.storage.project_store import ProjectStore


def note(store: ProjectStore, message: str, *, gone: str | None = None, once_for: str | None = None) -> None:
    """Commits a message to the project, as one change of its document; a session that is `gone` is current no more.

    With `once_for`, nothing is committed if the project's history tells of that session already.
    """
    with store.locked():
        store.history.check()  # before anything is written: somebody may have switched to another branch
        store.finish()
        if once_for is not None and _tells_of(store, once_for):
            return
        value = store.project().value
        current = value["metadata"]["current_session"]
        now = instants.text_of(store.now())
        kept = None if current == gone else current
        store.save_project(projects.changed(value, now, current_session=kept), message)


def _tells_of(store: ProjectStore, session_id: str) -> bool:
    return any(entry.trailers.get("Haytham-Session") == session_id for entry in store.history.entries())


def about(session_id: str, word: str, **trailers: object) -> str:
    """Words what happened to a session."""
    return messages.message(f"Session {session_id} {word}", trailers={"Session": session_id, **trailers})
