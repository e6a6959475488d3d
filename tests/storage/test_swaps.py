from pathlib import Path

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
