import errno
from pathlib import Path

import pytest

from haytham import StorageFailure
from haytham.storage import files, folders
from tests.evidence import snapshot


def test_folder_is_built_at_once_or_not_at_all(tmp_path: Path) -> None:
    """A folder appears whole; when its making fails, nothing does."""

    def build() -> None:
        (temporary / "a").write_bytes(b"x")
        assert not (tmp_path / "deep" / "final").exists()

    final = tmp_path / "deep" / "final"
    temporary = files.temporary_name(final)
    assert folders.build(temporary, final, build)
    assert snapshot(tmp_path) == {"deep": "", "deep/final": "", "deep/final/a": b"x"}

    def fail() -> None:
        (other / "a").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "full")

    other = files.temporary_name(tmp_path / "deep" / "other")
    with pytest.raises(StorageFailure, match="the disk is full"):
        folders.build(other, tmp_path / "deep" / "other", fail)
    assert snapshot(tmp_path) == {"deep": "", "deep/final": "", "deep/final/a": b"x"}


def test_folder_that_was_there_first_stays(tmp_path: Path) -> None:
    """Who comes second is told so, and leaves nothing behind."""
    final = tmp_path / "final"
    final.mkdir()
    (final / "theirs").write_bytes(b"x")
    temporary = files.temporary_name(final)
    assert not folders.build(temporary, final, (temporary / "ours").mkdir)
    assert snapshot(tmp_path) == {"final": "", "final/theirs": b"x"}


def test_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    """A file is not mistaken for a folder that was there first."""
    (tmp_path / "final").write_bytes(b"mine")
    temporary = files.temporary_name(tmp_path / "final")
    with pytest.raises(StorageFailure, match="a file where a folder is needed"):
        folders.build(temporary, tmp_path / "final", lambda: None)
    assert snapshot(tmp_path) == {"final": b"mine"}


def test_folder_of_a_dead_maker_goes_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    """A folder that is just being made is told by its maker's hold on it."""
    dead = files.temporary_name(tmp_path / "dead")
    dead.mkdir()
    outer = files.temporary_name(tmp_path / "outer")

    def build() -> None:
        assert not dead.exists()
        inner = files.temporary_name(tmp_path / "inner")
        assert folders.build(inner, tmp_path / "inner", lambda: None)
        assert outer.exists()

    assert folders.build(outer, tmp_path / "outer", build)
    assert snapshot(tmp_path) == {"inner": "", "outer": ""}


def test_folder_is_set_aside_and_removed(tmp_path: Path) -> None:
    """A folder leaves its place at once, whole, under a name that is swept if nobody comes to remove it."""
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a").write_bytes(b"x")
    gone = folders.set_aside(folder)
    assert not folder.exists()
    assert (gone / "deep" / "a").read_bytes() == b"x"
    assert folders.build(files.temporary_name(tmp_path / "other"), tmp_path / "other", lambda: None)
    assert snapshot(tmp_path) == {"other": ""}
    folders.remove(gone)  # somebody swept it: nothing is left to do
    folders.remove(folders.set_aside(tmp_path / "other"))
    assert snapshot(tmp_path) == {}
