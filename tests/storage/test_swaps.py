from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import Conflict
from haytham.storage import files, swaps


def test_replaced_file_is_held_and_let_go(tmp_path: Path) -> None:
    """A file that was replaced is kept until it is certain that nobody wrote to it afterwards."""
    path, held = tmp_path / "a.md", tmp_path / ".git" / "held"
    held.parent.mkdir()
    path.write_bytes(b"before")
    files.write({path: b"after"}, {path: b"before"}, held)
    assert [each.read_bytes() for each in held.iterdir()] == [b"before"]
    assert list(swaps.release(held)) == []
    assert list(held.iterdir()) == []


def test_late_write_of_an_editor_is_found(tmp_path: Path) -> None:
    """What an editor writes into a file that was replaced under its hands is not lost."""
    path, held = tmp_path / "a b.md", tmp_path / ".git" / "held"
    held.parent.mkdir()
    path.write_bytes(b"before")
    with path.open("r+b") as editor:
        files.write({path: b"after"}, {path: b"before"}, held)
        assert list(swaps.release(held)) == []
        assert len(list(held.iterdir())) == 1
        editor.write(b"typed!")
    ((name, kept),) = swaps.release(held)
    assert (name, kept.read_bytes(), path.read_bytes()) == ("a b.md", b"typed!", b"after")


def test_nothing_held_is_nothing_to_release(tmp_path: Path) -> None:
    """Before the first replacement there is no folder."""
    assert list(swaps.release(tmp_path / "held")) == []


def test_same_bytes_held_twice_are_two_files(tmp_path: Path) -> None:
    """A file that is held does not push out one that was held before and is still open in an editor."""
    path, held = tmp_path / "a.md", tmp_path / ".git" / "held"
    held.parent.mkdir()
    path.write_bytes(b"before")
    with path.open("r+b") as editor:
        files.write({path: b"after"}, {path: b"before"}, held)
        files.write({path: b"before"}, {path: b"after"}, held)
        files.write({path: b"again"}, {path: b"before"}, held)
        editor.write(b"typed!")
    assert [b"typed!"] == [kept.read_bytes() for _, kept in swaps.release(held)]


def test_unexpected_text_is_not_moved_at_all(tmp_path: Path) -> None:
    """Where the file is not what was expected, it stays in its place, and nobody sees ours there for a moment."""
    path, held = tmp_path / "a.md", tmp_path / ".git" / "held"
    held.parent.mkdir()
    path.write_bytes(b"theirs")
    before = path.stat()
    for expected in (b"other", None):
        with pytest.raises(Conflict):
            files.write({path: b"ours"}, {path: expected}, held)
    path.rename(tmp_path / "b.md")
    with pytest.raises(Conflict):
        files.write({path: b"ours"}, {path: b"theirs"}, held)
    assert before.st_ino == (tmp_path / "b.md").stat().st_ino
    assert sorted(each.name for each in tmp_path.iterdir()) == [".git", "b.md"]


class _Late(bytes):
    """Expected bytes; somebody saves the file just after it was found to hold them."""

    save: Callable[[], object] = staticmethod(lambda: None)
    __hash__ = bytes.__hash__

    def __eq__(self, other: object) -> bool:
        return bytes.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        is_other = bytes.__ne__(self, other)
        self.save()
        return is_other


@pytest.mark.parametrize("is_renamed", [False, True])
def test_save_between_the_look_and_the_exchange(tmp_path: Path, *, is_renamed: bool) -> None:
    """Somebody who saves in the last moment wins: their text is in its place, and ours is refused."""
    path, held = tmp_path / "a.md", tmp_path / ".git" / "held"
    held.parent.mkdir()
    path.write_bytes(b"before")
    expected = _Late(b"before")

    def save() -> None:
        target = tmp_path / "a.md.swp" if is_renamed else path
        target.write_bytes(b"theirs")
        target.rename(path)

    expected.save = save
    with pytest.raises(Conflict):
        files.write({path: b"ours"}, {path: expected}, held)
    assert path.read_bytes() == b"theirs"
    assert list(swaps.release(held)) == []
