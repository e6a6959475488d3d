"""The file of a journal: appended durably by one process at a time, replaced whole when entries are removed.

What was acknowledged is noted beside git's own files, so that a journal that lost its last entries can be told from
one whose last entry was never finished. The note may be behind after a crash, never ahead.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from haytham.domain.errors import Location, StorageFailure
from haytham.storage import files

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

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


def _fingerprint(found: os.stat_result) -> Fingerprint:
    return found.st_ino, found.st_size, found.st_mtime_ns
