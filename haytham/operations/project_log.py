"""Notes in a project's own history what happened to its sessions."""

from haytham.domain import instants, messages, projects
from haytham.storage.project_store import ProjectStore


def note(store: ProjectStore, message: str, *, gone: str | None = None, once_for: str | None = None) -> None:
    """Commits a message to the project, as one change of its document; a session that is `gone` is current no more.

    With `once_for`, nothing is committed if this is what the project's history told last about that session.
    """
    with store.locked():
        store.history.check()  # before anything is written: somebody may have switched to another branch
        store.finish()
        if once_for is not None and _is_told(store, once_for, message):
            return
        value = store.project().value
        current = value["metadata"]["current_session"]
        now = instants.text_of(store.now())
        kept = None if current == gone else current
        store.save_project(projects.changed(value, now, current_session=kept), message)


def _is_told(store: ProjectStore, session_id: str, message: str) -> bool:
    found = (entry.trailers for entry in store.history.entries() if entry.trailers.get("Haytham-Session") == session_id)
    last = {f"{key}: {value}" for key, value in next(found, {}).items() if key != messages.PARENT}
    return bool(last) and last <= set(message.splitlines())


def about(session_id: str, word: str, **trailers: object) -> str:
    """Words what happened to a session."""
    return messages.message(f"Session {session_id} {word}", trailers={"Session": session_id, **trailers})
