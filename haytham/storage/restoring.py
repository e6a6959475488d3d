"""Brings a folder to another state, in one commit: files come back, are replaced, or go away.

The commit comes first and is what decides: before it the old state holds, after it the new one. What a crash left of
the folder is brought to it by `finish`. A file that holds neither its old nor its new bytes is a person's, and stays.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from haytham.domain.errors import Conflict
from haytham.storage import files
from haytham.storage.history import History, Person, blob_id

INTENT = "haytham.restoring"

Contents = Mapping[str, bytes | None]


class Restored(Protocol):
    """What a store has to offer for being restored."""

    held: Path
    history: History

    def path(self, name: str) -> Path:
        """Returns the place of a file."""

    def bytes_of(self, name: str) -> bytes | None:
        """Returns a file's bytes."""

    def read_anew(self) -> None:
        """Forgets what was read."""

    def now(self) -> datetime:
        """Returns the time."""

    def note_head(self, commit: str) -> None:
        """Notes the newest commit."""


def restore(store: Restored, changes: Contents, message: str, author: Person) -> str:
    """Commits changes, where None removes a file, then brings the folder to them; call it under the lock.

    What the folder has under these names must be committed before. Raises Conflict, with nothing changed, if somebody
    commits at the same moment.
    """
    before = {name: store.bytes_of(name) for name in changes}
    prepared = store.history.prepare(changes, message, author, store.now())
    store.history.hold(prepared)
    intent = {"commit": prepared.commit, "base": prepared.base, "names": list(changes)}
    files.write(prepared.files, first={_intent(store): json.dumps(intent).encode()})
    try:
        store.history.publish(prepared, None, before)
    except Conflict:
        files.remove(_intent(store))
        store.history.release(prepared)
        raise
    store.note_head(prepared.commit)
    _apply(store, before, changes)
    files.remove(_intent(store))
    return prepared.commit


def is_unfinished(store: Restored) -> bool:
    """Tells whether a restoring is under way, or a crash left one unfinished."""
    return _intent(store).exists()


def finish(store: Restored) -> list[str]:
    """Brings the folder to a commit that a crash left it behind; returns the files changed. Call it under the lock."""
    intent = _read(store)
    base, names = intent.get("base"), intent.get("names", [])
    changed: list[str] = []
    if names and any(entry.id == intent.get("commit") for entry in store.history.entries()):
        before = {name: store.history.read(name, base) if base else None for name in names}
        after = {name: store.history.read(name, intent["commit"]) for name in names}
        changed = [name for name in names if before[name] != after[name] and store.bytes_of(name) == before[name]]
        _apply(store, {name: before[name] for name in changed}, {name: after[name] for name in changed})
        store.history.refresh_index(after)
    files.remove(_intent(store))
    return changed


def replaced(store: Restored, name: str) -> str | None:
    """Returns the id of what a file held before the restoring that a crash left unfinished, or None."""
    intent = _read(store)
    before = store.history.read(name, intent["base"]) if intent.get("base") and name in intent["names"] else None
    return None if before is None else blob_id(before)


def _apply(store: Restored, before: Contents, after: Contents) -> None:
    """Brings files from one state to another; what somebody changes at this moment is theirs, and stays."""
    changed = [name for name, data in after.items() if before[name] != data]
    for name in changed:
        files.make_folder(store.path(name).parent)
    written = {store.path(name): data for name in changed if (data := after[name]) is not None}
    expected = {store.path(name): before[name] for name in changed}
    try:
        files.write(written, expected, store.held)
    except Conflict:
        for path, data in written.items():
            with suppress(Conflict):
                files.write({path: data}, expected, store.held)
    gone = {path: data for path, data in expected.items() if path not in written and data is not None}
    files.remove_known(gone, store.held)
    store.read_anew()


def _intent(store: Restored) -> Path:
    return store.history.git_folder / INTENT


def _read(store: Restored) -> dict[str, Any]:
    try:
        found = json.loads(files.read_bytes(_intent(store)) or b"{}")
    except ValueError:  # torn by a power cut, so before the commit
        return {}
    return found if isinstance(found, dict) else {}
