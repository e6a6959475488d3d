"""Forks a session: another one that goes on from a point of its history, and has that history as its own."""

from typing import Any

from haytham.checkpoint.session_view import SessionView
from haytham.domain import messages, progress
from haytham.domain.choices import SessionStatus
from haytham.domain.errors import InvalidInput, Location
from haytham.domain.operation_records import ForkRecord
from haytham.operations import earlier_state
from haytham.operations.earlier_state import Contents, EarlierState
from haytham.operations.points import Point
from haytham.storage import forking, history_past, layout
from haytham.storage.session_store import SessionStore
from haytham.storage.store import CommitNote


def fork(view: SessionView, store: SessionStore, point: Point) -> ForkRecord:
    """Makes the session of a store from a point of another one; the very same one may be there already."""
    parent, new = str(view.identity["session_id"]), store.folder.name
    number = point.phase.number if point.phase else None
    origin = {"session_id": parent, "commit": point.commit, "phase": number, "forked": view.now}
    state = earlier_state.of(view, point, earlier_state.documents(view))
    contents = _contents(view, point, state, new, origin)
    pending = [phase.number for phase in view.phases if f"{phase.folder}/{layout.CHECKPOINT_FILE}" not in contents]
    note = CommitNote(message=_message(new, parent, point))
    empty = tuple(phase.folder for phase in view.phases)
    if store.folder.exists() or not forking.create(store, view.store.history, point.commit, contents, note, empty):
        _check_same(store, origin)
    return ForkRecord(
        project_id=view.identity["project_id"],
        session_id=new,
        path=str(store.folder),
        origin=parent,
        commit=point.commit,
        phase=number,
        kept_phases=[phase.number for phase in view.phases if phase.number not in pending],
        pending_phases=pending,
        reopened=[phase.number for phase in state.reopened],
    )


def _check_same(store: SessionStore, origin: dict[str, Any]) -> None:
    """Raises InvalidInput unless the session that is there was forked from the same point."""
    there = progress.origin(store.manifest().value)
    if there is None or {**there, "forked": None} != {**origin, "forked": None}:
        raise InvalidInput(
            f"session {store.folder.name!r} exists already.",
            location=Location(path=str(store.folder)),
            hint="choose another id.",
        )


def project_message(record: ForkRecord) -> str:
    """Tells the project that a session was forked."""
    trailers = {
        "Session": record["session_id"],
        "Forked-From": record["origin"],
        "Origin": record["commit"],
        "Status": SessionStatus.IN_PROGRESS.value,
    }
    return messages.message(f"Session {record['session_id']} forked from {record['origin']}", trailers=trailers)


def _contents(
    view: SessionView, point: Point, state: EarlierState, session_id: str, origin: dict[str, Any]
) -> Contents:
    """Returns all files of the fork, and None for those of the commit that it has no more."""
    committed = history_past.files_at(view.store.history, point.commit)
    found: Contents = dict(history_past.contents(view.store.history, committed))
    for name, data in state.contents.items():
        if data is not None or name in committed:
            found[name] = data
    identity = {"session_id": session_id, "created": view.now, "closed": None}
    parts = {key: part for key, part in view.parts.items() if key != "archive"} | {"origin": origin}
    found[layout.MANIFEST_FILE] = earlier_state.manifest(view, state, identity, parts)
    return found


def _message(session_id: str, parent: str, point: Point) -> str:
    trailers = {"Session": session_id, "Forked-From": parent, "Origin": point.commit}
    return messages.message(f"Session {session_id} forked from {parent}", f"At {point.title}", trailers)
