"""A phase as it was at a commit, or at one of its attempts."""

import re

from haytham.checkpoint import attempts
from haytham.checkpoint.session_view import SessionView
from haytham.documents.reader import read
from haytham.domain import content, instants, progress
from haytham.domain.audit_records import PhaseSnapshot
from haytham.domain.errors import HaythamError, InvalidInput, NotFound
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.history_chain import HistoryChain
from haytham.storage.session_store import name_in

_BEGINNING = re.compile(r"[0-9a-f]{4,40}\Z")


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
    if at is not None and not (isinstance(at, str) and _BEGINNING.match(at)):
        raise InvalidInput(
            f"{at!r} is no id of a commit.", hint="pass 4 characters of it or more, as the log shows it."
        )
    found = HistoryChain(view.store.history).resolve(at) if at else view.store.history.head()
    if found is None:
        raise InvalidInput(f"the session's history has no commit {at}.", hint="haytham log shows those that it has.")
    return found


def take(view: SessionView, phase: Phase, at: int | str | None) -> PhaseSnapshot:
    """Returns a phase as it was; raises NotFound if it had no documents then."""
    commit, store = commit_of(view, phase, at), view.store
    entry = next(each for each in store.history.entries() if each.id == commit)
    chain = HistoryChain(store.history)
    files = {name: oid for name, oid in chain.files(commit).items() if name.startswith(f"{phase.folder}/")}
    if not files:
        raise NotFound(f"phase {phase.number} {phase.name} had no documents at commit {commit[:7]}.")
    documents = {name: chain.data(oid).decode(errors="replace") for name, oid in files.items()}
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
