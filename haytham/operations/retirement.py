"""Archives and deletes sessions, one by one or by a rule."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime

from haytham.checkpoint.session_writer import SessionWriter
from haytham.domain import progress, session_retention, suggestions
from haytham.domain.errors import Conflict, HaythamError, InvalidInput, Location
from haytham.domain.operation_records import DeletionRecord, RetentionRecord, RetentionRow
from haytham.domain.session_retention import ARCHIVE, DELETE, Candidate, SessionRetention
from haytham.operations import keeping, project_log
from haytham.storage import folders, unrecorded
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore
from haytham.storage.unrecorded import Unrecorded


def archive(writer: SessionWriter, project: ProjectStore, *, is_archived: bool) -> None:
    """Archives a session, or opens it again; then the project's history notes it. Repeating it changes nothing.

    Where a crash or a fault came between the two, repeating it notes what was done.
    """
    project.check()
    if (progress.archived(writer.manifest.value) is not None) != is_archived:
        keeping.keep(writer, *keeping.uncommitted(writer))
        writer.archive(is_archived=is_archived)
    project_log.note_archived(project, writer.store.folder.name, is_archived=is_archived)


def planned(store: SessionStore, project_id: str, *, dry_run: bool) -> DeletionRecord:
    """Tells what goes with a session; one that cannot be read can still be deleted."""
    state = unrecorded.fingerprint(store)  # first: what changes while the rest is read is noticed later
    files, size = folders.size(store.folder)
    found = _unrecorded(store)
    return DeletionRecord(
        project_id=project_id,
        session_id=store.folder.name,
        path=str(store.folder),
        files=files,
        bytes=size,
        commits=_commits(store),
        edited_files=None if found is None else found.files,
        refs=None if found is None else found.refs,
        state=state,
        dry_run=dry_run,
    )


def delete(store: SessionStore, record: DeletionRecord, project: ProjectStore, state: str | None) -> None:
    """Removes a session, after the project's history noted it: so none can vanish without a word.

    Raises Conflict if it is not in this state any more; None is any.
    """
    name = store.folder.name
    figures = {"Files": record["files"], "Bytes": record["bytes"], "Commits": record["commits"]}
    with store.locked() if store.history.git_folder.is_dir() else nullcontext():
        _check_state(store, state)
        project_log.note(project, project_log.about(name, "deleted", Status="deleted", **figures), gone=name)
        gone = folders.set_aside(store.folder)
    folders.remove(gone)


def _check_state(store: SessionStore, state: str | None) -> None:
    if state is not None and state != unrecorded.fingerprint(store):
        raise Conflict(
            f"session {store.folder.name!r} changed since it was looked at; it was not deleted.",
            location=Location(path=str(store.folder)),
            hint="look at it again with --dry-run.",
        )


def carry_out(record: RetentionRecord, retire: Callable[[RetentionRow], object]) -> RetentionRecord:
    """Retires the sessions that were chosen; one that changed since is spared."""
    rows = [_retired(row, retire) if row["spared"] is None else row for row in record["chosen"]]
    gone = sum(1 for row in rows if row["spared"] is None)
    planned_to_go = sum(1 for row in record["chosen"] if row["spared"] is None)
    return {
        **record,
        "dry_run": False,
        "chosen": rows,
        "kept": record["kept"] + planned_to_go - gone,
        "bytes": sum(row["bytes"] for row in rows if row["spared"] is None),
    }


def _retired(row: RetentionRow, retire: Callable[[RetentionRow], object]) -> RetentionRow:
    try:
        retire(row)
    except Conflict:
        return {**row, "spared": "it changed meanwhile"}
    return row


def chosen(
    stores: Sequence[SessionStore], project_id: str, wanted: SessionRetention, action: str, now: datetime
) -> RetentionRecord:
    """Tells which sessions a rule chooses, and which of them stay nevertheless."""
    if action not in {ARCHIVE, DELETE}:
        raise InvalidInput(f"action is {action!r}.", hint=suggestions.allowed(str(action), [ARCHIVE, DELETE]))
    found = {store.folder.name: (store, each) for store in stores if (each := _candidate(store, action))}
    reasons = session_retention.chosen([each for _, each in found.values()], wanted, now)
    rows = [_row(*found[name], reason, action) for name, reason in reasons.items()]
    going = [row for row in rows if row["spared"] is None]
    return RetentionRecord(
        project_id=project_id,
        action=action,
        dry_run=True,
        chosen=rows,
        kept=len(stores) - len(going),
        bytes=sum(row["bytes"] for row in going),
    )


def _candidate(store: SessionStore, action: str) -> Candidate | None:
    """Returns a session as retention sees it; none that cannot be read, or that is archived already."""
    try:
        manifest = store.manifest().value
    except HaythamError:
        return None
    if action == ARCHIVE and progress.archived(manifest) is not None:
        return None
    metadata = manifest["metadata"]
    return Candidate(
        session_id=store.folder.name,
        status=metadata["status"],
        last_updated=metadata["last_updated"],
        bytes=folders.size(store.folder)[1],
    )


def _row(store: SessionStore, candidate: Candidate, reason: str, action: str) -> RetentionRow:
    state = unrecorded.fingerprint(store) if action == DELETE else None
    return RetentionRow(
        session_id=candidate.session_id,
        status=candidate.status,
        last_updated=candidate.last_updated,
        bytes=candidate.bytes,
        reason=reason,
        spared=_spared(store) if action == DELETE else None,
        state=state,
    )


def _spared(store: SessionStore) -> str | None:
    """Says why a rule does not delete a session, or returns None."""
    found = _unrecorded(store)
    if found is None:
        return "its history cannot be read"
    reasons = [f"{name} is in no history" for name in found.files]
    reasons += [f"{name} has commits of its own" for name in found.refs]
    return reasons[0] if reasons else None


def _unrecorded(store: SessionStore) -> Unrecorded | None:
    """Returns what would be lost although the session's history does not have it; None if that cannot be told."""
    try:
        return unrecorded.of(store)
    except HaythamError:
        return None


def _commits(store: SessionStore) -> int:
    try:
        return sum(1 for _ in store.history.entries())
    except HaythamError:
        return 0
