"""The file of a journal: appended durably by one process at a time, replaced whole when entries are removed.

A journal that goes on from an entry of another session's has that journal beside it, up to the entry: its origin. No
byte of it is copied at first, it is another name of the same file. That is safe because a journal only grows, or is
replaced; and `settle` makes it a file of its own before it enters history.

What was acknowledged is noted beside git's own files, so that a journal that lost its last entries can be told from
one whose last entry was never finished. The note may be behind after a crash, never ahead.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from haytham.documents import journal_marks, journal_text
from haytham.domain.errors import Conflict, DamagedJournal, Location, StorageFailure
from haytham.storage import files

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

_ORIGIN = ".origin-"
_CHUNK = 1 << 18
_HEAD = 1 << 16

Fingerprint = tuple[int, int, int]


class JournalFile:
    """One journal on disk, with the note of what was acknowledged."""

    def __init__(self, path: Path, note: Path) -> None:
        self.path = path
        self._note = note
        self._descriptor: int | None = None
        self._note_descriptor: int | None = None
        self._process = os.getpid()

    def __del__(self) -> None:
        """Lets go of the file."""
        self.close()

    def close(self) -> None:
        """Lets go of the file; it is opened again when it is needed."""
        for descriptor in (self._descriptor, self._note_descriptor):
            if descriptor is not None:
                with suppress(OSError):
                    os.close(descriptor)
        self._descriptor = self._note_descriptor = None

    def read(self) -> bytes:
        """Returns all bytes; none if there is no such file."""
        return files.read_bytes(self.path) or b""

    def place_of(self, mark: bytes) -> int:
        """Returns where some bytes begin, -1 if they are nowhere; call it while holding the lock."""
        return _place_of(self._held(), mark)

    def part(self, start: int, end: int) -> bytes:
        """Returns the bytes from one place to another; call it while holding the lock."""
        return os.pread(self._held(), end - start, start)

    def acknowledged(self) -> bytes:
        """Returns the hash of the last entry that is known to have been acknowledged, nothing if none is."""
        return files.read_line(self._note).strip()

    def fingerprint(self) -> Fingerprint:
        """Returns what tells whether others wrote: the file's identity, size and time of change."""
        try:
            return _fingerprint(self.path.lstat())
        except FileNotFoundError:
            return 0, 0, 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the journal for writing, alone; the file is made if there is none."""
        with files.translating():
            descriptor = self._lock()
            try:
                yield
            finally:
                if self._descriptor == descriptor:  # it is closed already otherwise, and may be another file's by now
                    with suppress(OSError):
                        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def append(self, data: bytes, end: int, acknowledges: bytes) -> Fingerprint:
        """Adds bytes durably at the end, which must be where the caller thinks; call it while holding the lock.

        Returns the fingerprint of the file with them. If the disk refuses, the file is cut back to what it was.
        """
        descriptor = self._held()
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
            os.fdatasync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, end)
                os.fdatasync(descriptor)
            self.close()
            raise
        if end == 0:
            files.flush_folder(self.path.parent)
        self._acknowledge(acknowledges)
        return _fingerprint(os.fstat(descriptor))

    def replace(self, data: bytes, acknowledges: bytes) -> None:
        """Puts other bytes in the place of all, whole or not at all; call it while holding the lock."""
        self._forget()
        files.write({self.path: data})
        self._acknowledge(acknowledges)
        self.drop_origins()
        self.close()  # the lock goes with it: whoever waits for it finds the new file

    def set_aside(self, data: bytes | bytearray, start: int) -> Path:
        """Moves what stands behind a point into a file beside; call it while holding the lock."""
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.torn-{number}")).exists():
            number += 1
        files.write({aside: bytes(data[start:])})
        self._forget()
        os.ftruncate(self._held(), start)
        os.fsync(self._held())
        return aside

    def accept(self, entry_hash: bytes) -> None:
        """Notes that the file is as it should be; call it while holding the lock."""
        self._forget()
        self._acknowledge(entry_hash)

    def sweep(self) -> None:
        """Removes what a writer that died while replacing the file left; call it while holding the lock."""
        prefix = f".{self.path.name[:100]}."
        for left in files.temporaries_in(self.path.parent):
            if left.name.startswith(prefix):
                files.remove(left)

    # The origin

    def origin(self, entry_id: str) -> Path:
        """Returns where the journal that has an entry lies, if it is one of another session's."""
        return self.path.with_name(f"{self.path.name}{_ORIGIN}{entry_id}")

    def take_origins(self, sources: Iterable[tuple[str, Path]]) -> None:
        """Puts other journals beside this one, each up to an entry, durably; call it while holding the lock.

        Whoever calls holds the first of them. Raises Conflict if an entry of another one went away meanwhile.
        """
        for number, (entry_id, source) in enumerate(sources):
            place = self.origin(entry_id)
            files.remove(place)
            try:
                os.link(source, place, follow_symlinks=False)
            except OSError:  # another disk, or one that knows no links
                files.write({place: Origin(source, entry_id).read()})
            if number and not _has_entry(place, entry_id):
                raise Conflict(f"entry {entry_id} went away meanwhile.", hint="repeat the call.")
        files.flush_folder(self.path.parent)

    def origins(self) -> list[Path]:
        """Returns the journals beside this one that it may go on from."""
        prefix = f"{self.path.name}{_ORIGIN}"
        names = files.names_in(self.path.parent)
        return [self.path.with_name(name) for name in names if name.startswith(prefix)]

    def drop_origins(self) -> None:
        """Removes them, when no entry refers to them any more; call it while holding the lock."""
        for path in self.origins():
            files.remove(path)

    def settle(self) -> None:
        """Makes the origins files of their own, without what comes behind the entries that they are there for."""
        with self.locked():
            for path in self.origins():
                needed = Origin(path, path.name.rpartition(_ORIGIN)[2]).read()
                found = path.lstat()
                if found.st_nlink > 1 or len(needed) < found.st_size:
                    files.write({path: needed})

    def _lock(self) -> int:
        if self._process != os.getpid():  # a forked process would share its parent's lock
            self.close()
            self._process = os.getpid()
        while True:
            if self._descriptor is None:
                files.make_folder(self.path.parent)
                self._descriptor = os.open(self.path, _FLAGS, 0o644)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if self.fingerprint()[0] == os.fstat(self._descriptor).st_ino:
                return self._descriptor
            self.close()  # somebody replaced the file

    def _held(self) -> int:
        if self._descriptor is None:
            raise StorageFailure("the journal is not open.", location=Location(path=str(self.path)))
        return self._descriptor

    def _forget(self) -> None:
        """Forgets durably what was acknowledged, before the entries that it names go away on purpose."""
        if self._note.exists():
            files.write_whole(self._note, b"\n")
            self._close_note()

    def _close_note(self) -> None:
        if self._note_descriptor is not None:
            os.close(self._note_descriptor)
            self._note_descriptor = None

    def _acknowledge(self, entry_hash: bytes) -> None:
        if self._note_descriptor is not None and not os.fstat(self._note_descriptor).st_nlink:
            self._close_note()  # somebody replaced it
        if self._note_descriptor is None:
            files.make_folder(self._note.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._note_descriptor = os.open(self._note, flags, 0o644)
        os.pwrite(self._note_descriptor, entry_hash + b"\n", 0)


class Origin(JournalFile):
    """A journal that another one goes on from: what comes behind that entry is not read, nor who saved it asked."""

    def __init__(self, path: Path, entry_id: str) -> None:
        super().__init__(path, path)
        self._entry_id = entry_id

    def read(self) -> bytes:
        """Returns all bytes up to the end of the entry."""
        return journal_marks.until(super().read(), self._entry_id)

    def acknowledged(self) -> bytes:
        """Returns nothing: the entry itself is the last one."""
        return b""


def settle(paths: Iterable[Path]) -> None:
    """Makes those of some files that are origins of journals files of their own, before they enter history."""
    for path in {path.with_name(path.name.rpartition(_ORIGIN)[0]) for path in paths if _ORIGIN in path.name}:
        if path.exists():
            JournalFile(path, path).settle()


def origin_of(path: Path) -> tuple[str, str] | None:
    """Returns the journal and the entry that a journal goes on from, None if it needs no other."""
    try:
        with _reading(path) as descriptor:
            return journal_text.origin_of(os.pread(descriptor, _HEAD, 0))
    except journal_text.Unreadable as error:
        raise DamagedJournal(f"the journal is damaged: {error}.", location=Location(path=str(path))) from error


def _has_entry(path: Path, entry_id: str) -> bool:
    with _reading(path) as descriptor:
        return _place_of(descriptor, journal_marks.mark_of(entry_id)) >= 0


@contextmanager
def _reading(path: Path) -> Iterator[int]:
    with files.translating():
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _place_of(descriptor: int, mark: bytes) -> int:
    """Finds bytes in a file, a piece at a time: that is many times faster than reading a long one into memory."""
    chunk = bytearray(_CHUNK)
    start = 0
    while (count := os.preadv(descriptor, [chunk], start)) >= len(mark):
        if (found := chunk.find(mark, 0, count)) >= 0:
            return start + found
        start += count - len(mark) + 1
    return -1


def _fingerprint(found: os.stat_result) -> Fingerprint:
    return found.st_ino, found.st_size, found.st_mtime_ns
