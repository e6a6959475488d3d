import errno
import os
import resource
import time
from pathlib import Path

import pytest

from haytham import Conflict, InvalidInput, StorageFailure
from haytham.storage import files
from tests.evidence import snapshot


@pytest.mark.parametrize(
    "data", [b"", b"text\n", b"\r\n\0\xff\xfe", b"x" * 5_000_000], ids=["empty", "text", "odd", "big"]
)
def test_bytes_are_written_and_read_as_they_are(tmp_path: Path, data: bytes) -> None:
    """What is written is what is there, and nothing else is left."""
    files.write({tmp_path / "a": data})
    assert data == files.read_bytes(tmp_path / "a")
    assert list(tmp_path.iterdir()) == [tmp_path / "a"]


def test_many_files_are_written_with_few_open_at_a_time(tmp_path: Path) -> None:
    """More files than a process may have open are written in one call, and none stays open."""
    before = set(Path("/proc/self/fd").iterdir())
    contents = {tmp_path / f"{number}.md": f"{number}\n".encode() for number in range(300)}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        files.write(contents)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert contents == {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert before == set(Path("/proc/self/fd").iterdir())


def test_what_comes_first_is_there_when_a_later_file_is_refused(tmp_path: Path) -> None:
    """A note is in its place before any document is; a conflict leaves it there, and nothing open or half done."""
    note, document = tmp_path / "note", tmp_path / "document"
    document.write_bytes(b"a person's")
    before = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(Conflict):
        files.write({document: b"ours"}, {document: b"what we read"}, first={note: b"coming"})
    assert {note: b"coming", document: b"a person's"} == {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert before == set(Path("/proc/self/fd").iterdir())


def test_missing_file_is_none(tmp_path: Path) -> None:
    """A file that is not there has no bytes and no text; nor has one below a file."""
    (tmp_path / "file").write_bytes(b"")
    assert files.read_bytes(tmp_path / "a") is None
    assert files.read_text(tmp_path / "a") is None
    assert files.read_bytes(tmp_path / "file" / "a") is None


def test_text_is_not_changed_on_its_way(tmp_path: Path) -> None:
    """Line ends and byte order marks stay."""
    (tmp_path / "a").write_bytes("\ufeffa\r\nb".encode())
    assert files.read_text(tmp_path / "a") == "\ufeffa\r\nb"


def test_text_that_is_not_utf8_is_named_by_its_line(tmp_path: Path) -> None:
    """A broken byte is told with its place."""
    (tmp_path / "a").write_bytes(b"one\ntwo\n\xff")
    with pytest.raises(InvalidInput, match="byte 8 is 0xff") as caught:
        files.read_text(tmp_path / "a")
    assert (str(tmp_path / "a"), 3) == (caught.value.location.path, caught.value.location.line)


def test_link_is_not_read_through(tmp_path: Path) -> None:
    """A symbolic link is refused, also one to nowhere."""
    (tmp_path / "secret").write_bytes(b"secret")
    for target in ("secret", "nowhere"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / target)
        with pytest.raises(StorageFailure, match="symbolic link"):
            files.read_bytes(tmp_path / "link")


def test_link_is_not_written_through(tmp_path: Path) -> None:
    """Writing replaces a link and leaves what it points to alone."""
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    files.write({tmp_path / "link": b"ours"})
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert not (tmp_path / "link").is_symlink()


def test_folder_is_no_file(tmp_path: Path) -> None:
    """A folder in the place of a file is an error, not an absence."""
    with pytest.raises(StorageFailure):
        files.read_bytes(tmp_path)


@pytest.mark.parametrize("expected", [b"before", None], ids=["file", "nothing"])
def test_expected_bytes_are_replaced(tmp_path: Path, expected: bytes | None) -> None:
    """A file that still is as it was read is replaced."""
    if expected is not None:
        (tmp_path / "a").write_bytes(expected)
    files.write({tmp_path / "a": b"after"}, {tmp_path / "a": expected})
    assert snapshot(tmp_path) == {"a": b"after"}


@pytest.mark.parametrize(
    ("present", "expected"), [(b"theirs", b"before"), (b"theirs", None), (None, b"before"), (b"", b"before")]
)
def test_changed_bytes_are_a_conflict(tmp_path: Path, present: bytes | None, expected: bytes | None) -> None:
    """A file that somebody else changed, made or removed meanwhile is left as they left it."""
    if present is not None:
        (tmp_path / "a").write_bytes(present)
    before = snapshot(tmp_path)
    with pytest.raises(Conflict, match="changed by someone else meanwhile") as caught:
        files.write({tmp_path / "a": b"ours"}, {tmp_path / "a": expected})
    assert before == snapshot(tmp_path)
    assert str(tmp_path / "a") == caught.value.location.path


def test_conflict_stops_the_files_behind_it(tmp_path: Path) -> None:
    """Files are replaced in their order; from the conflict on, nothing is."""
    for name in "abc":
        (tmp_path / name).write_bytes(b"before")
    (tmp_path / "b").write_bytes(b"theirs")
    paths = {tmp_path / name: b"ours" for name in "abc"}
    with pytest.raises(Conflict):
        files.write(paths, dict.fromkeys(paths, b"before"))
    assert snapshot(tmp_path) == {"a": b"ours", "b": b"theirs", "c": b"before"}


def test_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """When one file cannot be written, none is, and no temporary file stays."""
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(StorageFailure):
        files.write({tmp_path / "a": b"after", tmp_path / "missing" / "b": b"x"})
    assert snapshot(tmp_path) == {"a": b"before"}


def test_temporaries_are_recognised_and_swept(tmp_path: Path) -> None:
    """What a dead writer left is found by its name; nothing else is touched."""
    (tmp_path / "a.md").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"")
    left = [files.write_temporary(tmp_path / name, b"half") for name in ("a.md", "x" * 200)]
    assert sorted(left) == sorted(files.temporaries_in(tmp_path))
    assert sorted(left) == sorted(files.sweep([tmp_path, tmp_path / "missing"]))
    assert {".hidden", "a.md"} == set(snapshot(tmp_path))
    assert files.sweep([tmp_path]) == []


def test_replacing_under_gits_lock(tmp_path: Path) -> None:
    """A file that git guards is replaced under its lock, which is gone afterwards."""
    path = tmp_path / "ref"
    temporary = files.write_temporary(path, b"new")
    assert files.replace_under_lock(temporary, path, (tmp_path / "ref.lock").exists)
    assert snapshot(tmp_path) == {"ref": b"new"}


def test_lock_of_somebody_else_is_respected(tmp_path: Path) -> None:
    """Where git holds the lock, nothing is replaced and nothing of ours stays."""
    path = tmp_path / "ref"
    (tmp_path / "ref.lock").write_bytes(b"git")
    assert not files.replace_under_lock(files.write_temporary(path, b"new"), path, lambda: True)
    assert snapshot(tmp_path) == {"ref.lock": b"git"}


def test_file_that_moved_on_is_not_replaced(tmp_path: Path) -> None:
    """Under the lock it is asked once more; if the answer is no, all stays."""
    path = tmp_path / "ref"
    path.write_bytes(b"old")
    assert not files.replace_under_lock(files.write_temporary(path, b"new"), path, lambda: False)
    assert snapshot(tmp_path) == {"ref": b"old"}


def test_own_lock_is_swept_and_gits_fresh_one_is_not(tmp_path: Path) -> None:
    """Ours is told by its inode, git's by its age."""
    path, lock = tmp_path / "ref", tmp_path / "ref.lock"
    path.write_bytes(b"x")
    assert files.sweep_lock(path, 600)
    os.link(path, lock)
    assert files.sweep_lock(path, 600)
    assert not lock.exists()
    lock.write_bytes(b"")
    assert not files.sweep_lock(path, 600)
    assert lock.exists()
    os.utime(lock, (time.time() - 601,) * 2)
    assert files.sweep_lock(path, 600)
    assert not lock.exists()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "cannot be written"),
        (errno.EACCES, "cannot be written"),
        (errno.ENOTDIR, "a file where a folder is needed"),
        (errno.EIO, "the disk refused"),
    ],
)
def test_errors_of_the_system_are_told_in_words(number: int, words: str) -> None:
    """Each kind of refusal has its own words and its own way out, and stays an OSError."""
    with pytest.raises(OSError, match=words) as caught, files.translating():
        raise OSError(number, os.strerror(number), "some/file")
    assert isinstance(caught.value, StorageFailure)
    assert caught.value.location.path == "some/file"
    assert caught.value.hint
    assert f"(errno {number})" in caught.value.message


def test_a_line_is_written_in_place(tmp_path: Path) -> None:
    """A line may shrink and grow, and is not written through a link."""
    for data in (b"long content", b"x", b""):
        files.write_line(tmp_path / "line", data)
        assert data == files.read_line(tmp_path / "line")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(StorageFailure):
        files.write_line(tmp_path / "link", b"x")
    assert (tmp_path / "secret").read_bytes() == b"secret"


def test_plain_files_are_listed(tmp_path: Path) -> None:
    """Hidden files and folders are not documents, and a link is refused rather than passed over."""
    for name in ("b.md", "a.md", ".hidden.md"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "folder.md").mkdir()
    assert files.names_in(tmp_path) == ["a.md", "b.md"]
    assert files.names_in(tmp_path / "missing") == []
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    with pytest.raises(StorageFailure, match="symbolic link"):
        files.names_in(tmp_path)
