"""A folder of documents with its history: reads them, and saves them in one durable step.

The order of a save: note what is coming, write the files, commit, forget the note. A crash between any two steps
leaves either the old state or a new one that recovery can finish, and a person's own bytes are never overwritten.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.domain import instants
from haytham.domain.errors import BrokenRepository, Location, StorageFailure
from haytham.storage import files, folders, locks, restoring, seals, swaps
from haytham.storage.branches import Prepared
from haytham.storage.history import History, Person, blob_id

RESCUED = ".rescued-"

_NOTE = "haytham.written"
_SEAL = "haytham.seal"
_HEAD = "haytham.head"
_LOOKED_AT = ("HEAD", "packed-refs", "objects/pack", _NOTE)
_COMMIT_ID = re.compile(r"[0-9a-f]{40}\Z")
HAYTHAM = Person(name="Haytham", email="haytham@localhost")


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitNote:
    """What a commit says, and by whom."""

    message: str
    author: Person = HAYTHAM
    sign: Callable[[bytes], str] | None = None


class Store:
    """The documents in one folder and their history on one branch."""

    def __init__(self, folder: Path, branch: str, *, clock: instants.Clock, lock_timeout: float) -> None:
        self.folder = folder
        self.history = History(folder, branch)
        self._clock = clock
        self._lock_timeout = lock_timeout
        self._read: dict[str, bytes | None] = {}
        self._paths: dict[str, Path] = {}
        self._coming: Mapping[str, bytes | None] = {}
        self.restored: list[str] = []
        self.held = self.history.git_folder / "haytham.held"

    def create(self, contents: Mapping[str, bytes], note: CommitNote, empty: tuple[str, ...] = ()) -> bool:
        """Makes the folder, some empty ones in it and its first commit, all or nothing; False if it was there first."""

        def fill(building: Store) -> None:
            for folder in empty:
                files.make_folder(building.path(folder))
            building.save(contents, note)

        return self.build(fill)

    def build(self, fill: Callable[["Store"], None]) -> bool:
        """Makes the folder with an empty history, to be filled before it appears; False if it was there first."""
        temporary = files.temporary_name(self.folder)
        building = Store(temporary, self.history.branch, clock=self._clock, lock_timeout=self._lock_timeout)

        def make() -> None:
            building.history.create()
            files.make_folder(building.held)
            fill(building)

        return folders.build(temporary, self.folder, make)

    def now(self) -> datetime:
        """Returns the time by the store's clock."""
        return self._clock()

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Holds the folder for writing, cleared of what dead writers left; yields whether one died."""
        if not self.history.git_folder.is_dir():
            raise BrokenRepository(
                "the folder has no git repository any more.",
                location=Location(path=str(self.history.git_folder)),
                hint="the documents are untouched; restore the folder .git from a copy or a clone.",
            )
        with locks.held(self.history.git_folder, self._lock_timeout, self._clock) as died, files.translating():
            self.read_anew()
            self._rescue()
            with self.history.kept_open():
                if died:
                    self.sweep()
                if restoring.is_unfinished(self):
                    self.restored = restoring.finish(self)
                yield died

    def sweep(self) -> list[Path]:
        """Removes temporary files and locks of dead writers, and mends the index; call it only under the lock."""
        subfolders = [path for path in self.folder.iterdir() if path.is_dir() and path.name != ".git"]
        self._rescue_swapped([self.folder, *subfolders])
        removed = files.sweep([self.folder, *subfolders]) + self.history.sweep()
        self._mend_index()
        return removed

    def _mend_index(self) -> None:
        """Brings into the index what a crash left out of it, so that `git status` is clean for people."""
        outdated = self.history.outdated_in_index()
        found = {name: self.bytes_of(name) for name in outdated}
        mended = {name: data for name, data in found.items() if data is not None and blob_id(data) == outdated[name]}
        if mended:
            self.history.refresh_index(mended)

    def path(self, name: str) -> Path:
        """Returns the place of a file, given its name inside the folder."""
        if name not in self._paths:
            self._paths[name] = self.folder / name
        return self._paths[name]

    @contextmanager
    def previewing(self, contents: Mapping[str, bytes | None]) -> Iterator[None]:
        """Lets documents be read meanwhile as they are about to be written."""
        self._coming = contents
        try:
            yield
        finally:
            self._coming = {}

    @property
    def coming(self) -> Mapping[str, bytes | None]:
        """What is about to be written, by name, while it is previewed."""
        return self._coming

    def bytes_of(self, name: str) -> bytes | None:
        """Returns a file's bytes, or None; read once, so that a change sees one state and notices if it moved."""
        if name in self._coming:
            return self._coming[name]
        if name not in self._read:
            self._read[name] = files.read_bytes(self.path(name))
        return self._read[name]

    def finished_part(self, name: str) -> bytes | None:
        """Returns as much of a file as may enter history while somebody goes on writing it: all of it, here."""
        return self.bytes_of(name)

    def read_anew(self) -> None:
        """Forgets what was read, so that the files are read as they are now."""
        self._read.clear()

    def document(self, kind: str, name: str, words: tuple[str, ...] = ()) -> Document | None:
        """Reads a document, or returns None if it is not there; raises InvalidDocument if it cannot be understood.

        `words` are names that its meaning depends on.
        """
        data = self.bytes_of(name)
        if data is None:
            return None
        path = str(self.path(name))
        return read(kind, files.decoded(data, path), path, words)

    def save(
        self, contents: Mapping[str, bytes], note: CommitNote | None = None, *, also_commit: tuple[str, ...] = ()
    ) -> str | None:
        """Writes files and, if there is a note, commits them, together with files that were written before.

        Raises Conflict if a file no longer holds what was read from it through this store.
        """
        expected = {self.path(name): data for name, data in self._read.items() if name in contents}
        paths = {self.path(name): data for name, data in contents.items()}
        if note is None:
            self.history.check()  # a commit does so by itself
        coming = {self.history.git_folder / _NOTE: self._note_of(contents)}
        if note is None:
            files.write(paths, expected, self.held, first=coming)
            self._read.update(contents)
            return None
        changes = {name: self.finished_part(name) for name in also_commit} | dict(contents)
        return self._commit(changes, note, paths, expected, coming)

    def commit(self, names: tuple[str, ...], note: CommitNote) -> str:
        """Commits files as they are on disk."""
        return self._commit({name: self.bytes_of(name) for name in names}, note, {}, {}, {})

    def _commit(
        self,
        changes: Mapping[str, bytes | None],
        note: CommitNote,
        paths: Mapping[Path, bytes],
        expected: Mapping[Path, bytes | None],
        coming: Mapping[Path, bytes],
    ) -> str:
        """Flushes the documents and the pack of their commit together, then moves the branch to it."""
        prepared = self._prepared(changes, note)
        seen = {name: self._read.get(name) for name in changes}
        try:
            files.write({**paths, **prepared.files}, expected, self.held, first=coming)
        except BaseException:
            self.history.release(prepared)
            raise
        self._read.update({name: data for name, data in changes.items() if self.path(name) in paths})

        def on_top() -> Prepared:  # of what a person committed just now
            again = self._prepared(changes, note)
            files.write(again.files)
            return again

        commit = self.history.publish(prepared, on_top, seen)
        self.note_head(commit)
        return commit

    def _prepared(self, changes: Mapping[str, bytes | None], note: CommitNote) -> Prepared:
        prepared = self.history.prepare(changes, note.message, note.author, self._clock(), note.sign)
        self.history.hold(prepared)
        return prepared

    def recorded_head(self) -> str | None:
        """Returns the newest commit that was made through a store, as noted beside git's files; None if unknown."""
        noted = files.read_line(self.history.git_folder / _HEAD).decode(errors="replace")
        return noted if _COMMIT_ID.match(noted) else None

    def note_head(self, commit: str) -> None:
        """Notes the newest commit, not flushed: one that a power cut leaves behind is still part of history."""
        with suppress(StorageFailure):
            files.write_line(self.history.git_folder / _HEAD, commit.encode())

    @property
    def is_at_rest(self) -> bool:
        """Whether nobody is changing the folder just now."""
        return locks.is_free(self.history.git_folder)

    def edited_by_hand(self, names: list[str]) -> list[str]:
        """Returns those files that hold neither what was committed nor what we wrote ourselves."""
        committed, written = (self.history.blob_ids(names), self._written()) if names else ({}, {})
        edited: list[str] = []
        for name in names:
            data = self.bytes_of(name)
            found = blob_id(data) if data is not None else None
            if found != committed.get(name) and found not in written.get(name, ()):
                edited.append(name)
        return edited

    def left_behind(self, among: Iterable[str] | None = None) -> tuple[str, ...]:
        """Returns the files, of all or of some, that we wrote and did not commit, because a writer died in between."""
        written = self._written()
        names = [name for name in (written if among is None else among) if name in written]
        committed = self.history.blob_ids(names) if names else {}
        present = {name: blob_id(data) for name in names if (data := self.bytes_of(name)) is not None}
        return tuple(name for name, oid in present.items() if oid in written[name] and oid != committed.get(name))

    def _rescue(self) -> None:
        """Puts beside its document what an editor wrote into a file that we had replaced under its hands."""
        with files.translating():
            for name, kept in swaps.release(self.held):
                self._put_beside(name, kept)

    def _rescue_swapped(self, folders: list[Path]) -> None:
        """Does the same for what a dead writer had just taken out of its place; what we know is only removed."""
        for folder in folders:
            for place, left in swaps.left_in(folder, self._is_known):
                self._put_beside(str(place.relative_to(self.folder)), left)

    def _is_known(self, place: Path, data: bytes) -> bool:
        name = str(place.relative_to(self.folder))
        committed = {self.history.blob_ids([name]).get(name), restoring.replaced(self, name)}
        return blob_id(data) in {*committed, *self._written().get(name, ())}

    def _put_beside(self, name: str, rescued: Path) -> None:
        place = self.path(f"{name}{RESCUED}{secrets.token_hex(4)}")
        rescued.rename(place)
        files.flush_folder(place.parent)

    # The seal: nothing changed since the last look

    def look(self) -> seals.Look:
        """Looks at everything that this store reads; do it before reading, to `seal` what came of it."""
        held = [f"{self.held.name}/{name}" for name in files.names_in(self.held)]
        return seals.look(self.folder, [*_LOOKED_AT, f"refs/heads/{self.history.branch}", *held])

    def seal(self, found: seals.Look, told: Any) -> None:
        """Keeps what was told about the folder as it looked, for whoever finds it unchanged."""
        seals.put(self.history.git_folder / _SEAL, found, told, seals.this_boot())

    def told(self) -> Any | None:
        """Returns what was kept by `seal`, if nothing changed since and nobody is at work or died; otherwise None."""
        if not self.is_at_rest:
            return None
        return seals.told(self.history.git_folder / _SEAL, self.folder, seals.this_boot())

    # The note of what we wrote but have not committed yet

    def _written(self) -> dict[str, list[str]]:
        try:
            note = json.loads(files.read_bytes(self.history.git_folder / _NOTE) or b"{}")
        except ValueError:  # somebody else wrote it
            return {}
        return note if isinstance(note, dict) else {}

    def note_written(self, contents: Mapping[str, bytes]) -> None:
        """Notes files as ours that wait for their commit; nothing else is noted then."""
        note = {name: [blob_id(data)] for name, data in contents.items()}
        files.write_whole(self.history.git_folder / _NOTE, json.dumps(note).encode())

    def _note_of(self, contents: Mapping[str, bytes]) -> bytes:
        """Returns the note of what is about to be written.

        What we wrote before stands beside it, because until the new file is there, the old one still is.
        What has been committed since is forgotten here, so that a commit need not write the note again.
        """
        before = self._written()
        committed = self.history.blob_ids(before) if before else {}
        open_ = {name: [oid for oid in oids if oid != committed.get(name)] for name, oids in before.items()}
        written = {name: oids for name, oids in open_.items() if oids}
        for name, data in contents.items():
            present = self.bytes_of(name)
            old = [oid for oid in before.get(name, ()) if present is not None and oid == blob_id(present)]
            written[name] = [*old, blob_id(data)]
        return json.dumps(written).encode()
