"""Cleans up after the dead, and repairs what they left."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from haytham.checkpoint.session_view import SessionView
from haytham.domain.operation_records import CleanupRecord, RepairRecord
from haytham.domain.records import RecoveryReport
from haytham.journal.journals import Journals
from haytham.storage import files, folders, layout, user_git
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import Store

_TORN = ".torn-"
_SECONDS_PER_DAY = 86_400


def clean(store: Store, now: datetime, torn_after_days: float = 0, swept: Sequence[Path] = ()) -> CleanupRecord:
    """Removes what dead writers left in a store, lets git pack its objects, and lists torn pieces of journals."""
    before = folders.size(store.folder)[1]
    with store.locked():
        removed = [*swept, *store.sweep()]
        user_git.repack(store.folder)
    return CleanupRecord(
        folder=str(store.folder),
        bytes_before=before,
        bytes_after=folders.size(store.folder)[1],
        removed=[str(path) for path in removed],
        torn=_torn(store, now, torn_after_days) if isinstance(store, SessionStore) else [],
    )


def repair(view: SessionView, report: RecoveryReport, journals: Sequence[Journals]) -> RepairRecord:
    """Repairs the journals of a session that are damaged, and tells all that was done."""
    repaired: list[str] = []
    for journal in (each for of_phase in journals for each in of_phase.all()):
        if faults := journal.verify():
            aside = journal.repair()
            repaired.append(f"{journal.path}: {faults[0]}" + (f"; the rest is in {aside.name}" if aside else ""))
    return RepairRecord(
        **report,
        project_id=view.identity["project_id"],
        session_id=view.identity["session_id"],
        journals=repaired,
        rescued_files=view.store.rescued(),
    )


def _torn(store: SessionStore, now: datetime, days: float) -> list[str]:
    """Returns the pieces of journals that were put aside longer ago than that."""
    places = [store.path(name_in(phase, layout.JOURNAL_FOLDER)) for phase in store.workflow.phases]
    pieces = [place / name for place in places for name in files.names_in(place) if _TORN in name]
    return [str(piece) for piece in pieces if now.timestamp() - piece.stat().st_mtime > days * _SECONDS_PER_DAY]
