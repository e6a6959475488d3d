"""Takes a session back to an earlier point by a new commit; nothing of its history is rewritten."""

from collections.abc import Callable

from haytham.checkpoint.session_writer import SessionWriter
from haytham.domain import messages
from haytham.domain.operation_records import RollbackRecord
from haytham.operations import earlier_state, keeping, points
from haytham.operations.earlier_state import EarlierState
from haytham.operations.points import Point
from haytham.storage import files, layout, restoring
from haytham.storage.store import HAYTHAM


def roll_back(
    writer: SessionWriter,
    phase: object,
    commit: object,
    reason: str,
    before: Callable[[], None],
    *,
    dry_run: bool = False,
) -> RollbackRecord:
    """Brings the documents of all phases to a point; what was there before is in history, also people's own edits.

    `before` is called right before anything is taken back.
    """
    points.find(writer, phase, commit)  # refused before anything is committed
    present = earlier_state.documents(writer)
    edited, unfinished = keeping.uncommitted(writer)
    if not dry_run:
        keeping.keep(writer, edited, unfinished)
    point = points.find(writer, phase, commit)
    state = earlier_state.of(writer, point, present)
    changed = {name: data for name, data in state.contents.items() if writer.store.bytes_of(name) != data}
    new = None
    if changed and not dry_run:
        before()
        new = _restore(writer, point, state, reason)
    return RollbackRecord(
        project_id=writer.identity["project_id"],
        session_id=writer.identity["session_id"],
        to=point.commit,
        phase=point.phase.number if point.phase else None,
        commit=new,
        restored=sorted(name for name, data in changed.items() if data is not None),
        removed=sorted(name for name, data in changed.items() if data is None),
        reopened=[each.number for each in state.reopened],
        kept_edits=sorted([*edited, *unfinished]),
        dry_run=dry_run,
    )


def _restore(writer: SessionWriter, point: Point, state: EarlierState, reason: str) -> str:
    identity = {**writer.identity, "closed": None}
    manifest = earlier_state.manifest(writer, state, identity, writer.parts)
    changes = {**state.contents, layout.MANIFEST_FILE: manifest}
    _forget_journals(writer, state)
    return restoring.restore(writer.store, changes, _message(writer, point, state, reason), HAYTHAM)


def _forget_journals(writer: SessionWriter, state: EarlierState) -> None:
    """Forgets which entries of the journals were acknowledged, before they go away on purpose."""
    for name, data in state.contents.items():
        folder, _, file = name.partition(f"/{layout.JOURNAL_FOLDER}/")
        note = writer.store.history.git_folder / layout.JOURNAL_NOTES / folder / file
        if file and data != writer.store.bytes_of(name) and note.exists():
            files.write_whole(note, b"\n")


def _message(writer: SessionWriter, point: Point, state: EarlierState, reason: str) -> str:
    gone = [phase for phase in writer.phases if state.contents.get(f"{phase.folder}/{layout.CHECKPOINT_FILE}") is None]
    lines = [reason, f"Pending: {', '.join(f'{phase.number} {phase.name}' for phase in gone)}" if gone else ""]
    trailers = {
        "Rolled-Back-To": point.commit,
        "To-Phase": point.phase.number if point.phase else None,
        "Reopened": ", ".join(str(phase.number) for phase in state.reopened) or None,
    }
    return messages.message(f"Rolled back to {point.title}", "\n".join(line for line in lines if line), trailers)
