import errno
import os
import resource
import signal
import threading
from pathlib import Path

import pytest

from haytham.domain.errors import StorageFailure
from haytham.storage.journal_file import JournalFile

HASH, NEXT = b"a" * 32, b"b" * 32


@pytest.fixture
def file(tmp_path: Path) -> JournalFile:
    """A file in folders that are not there yet."""
    return JournalFile(tmp_path / "journal" / "writer.md", tmp_path / "notes" / "writer.md")


def _append(file: JournalFile, data: bytes, acknowledges: bytes) -> None:
    with file.locked():
        file.append(data, len(file.read()), acknowledges)


def test_nothing_is_there_before_the_first_write(file: JournalFile) -> None:
    """Reading makes no file and finds nothing."""
    assert (b"", b"", (0, 0, 0)) == (file.read(), file.acknowledged(), file.fingerprint())
    assert not file.path.parent.exists()


def test_what_is_appended_is_there_and_noted(file: JournalFile) -> None:
    """Bytes come behind those that are there, the note names the last entry, the fingerprint changes with each."""
    _append(file, b"one", HASH)
    first = file.fingerprint()
    _append(file, b"two", NEXT)
    assert (b"onetwo", NEXT) == (file.read(), file.acknowledged())
    assert first != file.fingerprint()


def test_two_objects_go_on_from_each_other(file: JournalFile) -> None:
    """Two writers on one file append in turn, also after one of them replaced it."""
    other = JournalFile(file.path, file._note)
    _append(file, b"1", HASH)
    _append(other, b"2", HASH)
    with file.locked():
        file.replace(b"new", HASH)
    _append(other, b"3", NEXT)
    _append(file, b"4", HASH)
    assert (b"new34", HASH) == (other.read(), other.acknowledged())


def test_a_note_that_somebody_replaced_is_opened_anew(file: JournalFile) -> None:
    """When one writer sets a tail aside, what another one acknowledges next is noted where it is looked for."""
    other = JournalFile(file.path, file._note)
    _append(other, b"1", HASH)
    _append(file, b"2torn", HASH)
    with file.locked():
        file.set_aside(file.read(), 2)
    assert b"" == file.acknowledged()
    _append(other, b"3", NEXT)
    assert (b"123", NEXT) == (file.read(), file.acknowledged())


def test_one_holds_it_at_a_time(file: JournalFile) -> None:
    """While one writer holds the file another one waits."""
    other = JournalFile(file.path, file._note)
    order: list[str] = []

    def second() -> None:
        _append(other, b"2", HASH)
        order.append("second")

    with file.locked():
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        order.append("first")
        file.append(b"1", 0, HASH)
    waiting.join(10)
    assert (b"12", ["first", "second"]) == (file.read(), order)


def test_a_forked_process_does_not_share_the_lock(file: JournalFile) -> None:
    """A child that inherits the open file waits for its parent like any other process."""
    _append(file, b"1", HASH)
    with file.locked():
        child = os.fork()
        if child == 0:
            _append(file, b"3", HASH)
            os._exit(0)
        os.sched_yield()
        file.append(b"2", 1, HASH)
    assert 0 == os.waitpid(child, 0)[1]
    assert b"123" == file.read()


def test_a_tail_is_put_aside_under_a_free_name(file: JournalFile) -> None:
    """What is cut off is kept, each time under another name, and nothing is acknowledged any more."""
    _append(file, b"whole torn", HASH)
    with file.locked():
        first = file.set_aside(file.read(), 5)
    _append(file, b" again", HASH)
    with file.locked():
        second = file.set_aside(bytearray(file.read()), 5)
        file.accept(NEXT)
    assert ["writer.md.torn-1", "writer.md.torn-2"] == [first.name, second.name]
    assert (b" torn", b" again") == (first.read_bytes(), second.read_bytes())
    assert (b"whole", NEXT) == (file.read(), file.acknowledged())


def test_what_a_dead_writer_left_is_swept(file: JournalFile) -> None:
    """A temporary file of this journal goes, one of another journal stays."""
    _append(file, b"1", HASH)
    own = file.path.with_name(".writer.md.0123456789ab.haytham-tmp")
    foreign = file.path.with_name(".other.md.0123456789ab.haytham-tmp")
    for path in (own, foreign):
        path.write_bytes(b"")
    with file.locked():
        file.sweep()
    assert (False, True) == (own.exists(), foreign.exists())


def test_a_link_is_not_followed(file: JournalFile, tmp_path: Path) -> None:
    """Neither a journal nor a note that is a link is written through."""
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    file.path.parent.mkdir()
    file.path.symlink_to(target)
    with pytest.raises(StorageFailure, match="symbolic link"):
        _append(file, b"1", HASH)
    file.path.unlink()
    file._note.parent.mkdir()
    file._note.symlink_to(target)
    with pytest.raises(StorageFailure, match="symbolic link"):
        _append(file, b"1", HASH)
    assert b"precious" == target.read_bytes()


def test_a_disk_that_refuses_leaves_what_was(file: JournalFile) -> None:
    """If only a part can be written, the file is cut back; the writer can go on afterwards."""
    _append(file, b"before", HASH)
    ours, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, hard))
    try:
        with pytest.raises(StorageFailure, match=f"full.*{errno.EFBIG}"):
            _append(file, b"more", NEXT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ours, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert (b"before", HASH) == (file.read(), file.acknowledged())
    _append(file, b"more", NEXT)
    assert (b"beforemore", NEXT) == (file.read(), file.acknowledged())


def test_it_is_not_written_without_the_lock(file: JournalFile) -> None:
    """Appending to a file that is not held is refused."""
    with pytest.raises(StorageFailure, match="not open"):
        file.append(b"1", 0, HASH)


def test_a_closed_file_is_opened_again(file: JournalFile) -> None:
    """Closing lets go of the descriptors, twice is fine, and the file can be used on."""
    _append(file, b"1", HASH)
    before = len(list(Path("/proc/self/fd").iterdir()))
    file.close()
    file.close()
    assert before - 2 == len(list(Path("/proc/self/fd").iterdir()))
    _append(file, b"2", HASH)
    assert b"12" == file.read()
