"""A phase as it was at a commit, or at one of its attempts."""

from haytham.checkpoint import attempts
from haytham.checkpoint.session_view import SessionView
from haytham.documents.reader import read
from haytham.domain import content, instants, progress
from haytham.domain.audit_records import PhaseSnapshot
from haytham.domain.errors import HaythamError, InvalidInput, NotFound
from haytham.domain.workflow import Phase
from haytham.storage import history_past, layout
from haytham.storage.session_store import name_in


def commit_of(view: SessionView, phase: Phase, at: int | str | None) -> str:
    """Returns the commit that is meant: of an attempt by its number, by its id or a beginning of it, or the newest.

    Raises InvalidInput if there is no such attempt or commit in the session's history.
    """
    if isinstance(at, int) and not isinstance(at, bool):
        known = attempts.commits(view, phase)
        if at not in known:
            there = ", ".join(str(each) for each in known) or "none yet"
            raise InvalidInput(f"phase {phase.number} has no attempt {at}.", hint=f"attempts: {there}.")
        return known[at]
    if at is not None:
        return history_past.commit_id(view.store.history, at)
    newest = view.store.history.head()
    if newest is None:
        raise InvalidInput("the session's history has no commit yet.")
    return newest


def take(view: SessionView, phase: Phase, at: int | str | None) -> PhaseSnapshot:
    """Returns a phase as it was; raises NotFound if it had no documents then."""
    commit, store = commit_of(view, phase, at), view.store
    entry = next(each for each in store.history.entries() if each.id == commit)
    committed = history_past.files_at(store.history, commit)
    files = {name: oid for name, oid in committed.items() if name.startswith(f"{phase.folder}/")}
    if not files:
        raise NotFound(f"phase {phase.number} {phase.name} had no documents at commit {commit[:7]}.")
    found = history_past.contents(store.history, files)
    documents = {name: data.decode(errors="replace") for name, data in found.items()}
    status, attempt = _state(documents.get(name_in(phase, layout.CHECKPOINT_FILE)))
    return PhaseSnapshot(
        phase_num=phase.number,
        phase_name=phase.name,
        commit=commit,
        time=instants.text_of(entry.time),
        subject=entry.subject,
        status=status,
        attempt=attempt,
        content=content.of(attempts.outputs(view, phase, commit)).hash,
        documents={name.removeprefix(f"{phase.folder}/"): text for name, text in documents.items()},
    )


def _state(checkpoint: str | None) -> tuple[str, int | None]:
    if checkpoint is None:
        return progress.status_of(None).value, None
    try:
        metadata = read("checkpoint", checkpoint).value["metadata"]
    except HaythamError:
        return "unreadable", None
    return str(metadata["status"]), int(metadata["retry_count"]) + 1
