from pathlib import Path

import pytest

from haytham import BrokenRepository, Conflict, StorageFailure
from haytham.storage.store import CommitNote, Store
from tests.evidence import Clock, git, is_sound, snapshot, subjects

NOTE = CommitNote(message="A commit\n")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with one committed file."""
    made = Store(tmp_path / "s", "main", clock=Clock(), lock_timeout=1)
    assert made.create({"a.md": b"1"}, CommitNote(message="First\n"), ("folder",))
    return Store(tmp_path / "s", "main", clock=Clock(), lock_timeout=1)


def test_created_folder_is_whole(store: Store) -> None:
    """A store appears with its files, folders and first commit, and nothing else."""
    assert sorted(path.name for path in store.folder.iterdir()) == [".git", "a.md", "folder"]
    assert subjects(store.folder) == ["First"]
    assert git(store.folder, "status", "--porcelain") == ""
    assert [store.folder] == list(store.folder.parent.iterdir())


def test_store_is_created_once(store: Store) -> None:
    """Who comes second leaves the first one's store as it is."""
    before = snapshot(store.folder.parent)
    assert not store.create({"a.md": b"2"}, NOTE)
    assert before == snapshot(store.folder.parent)


def test_save_with_a_note_is_a_commit(store: Store) -> None:
    """Files are written and committed, together with others that were written before."""
    with store.locked():
        assert store.save({"folder/b.md": b"2"}) is None
        assert store.left_behind() == ("folder/b.md",)
        commit = store.save({"a.md": b"3"}, NOTE, also_commit=("folder/b.md",))
        assert store.left_behind() == ()
    assert commit == git(store.folder, "rev-parse", "HEAD")
    assert git(store.folder, "status", "--porcelain") == ""
    assert is_sound(store.folder)


def test_edits_are_told_from_our_own_writes(store: Store) -> None:
    """What we wrote and did not commit is no edit; what somebody else wrote is."""
    with store.locked():
        store.save({"a.md": b"ours", "folder/b.md": b"ours"})
        assert store.edited_by_hand(["a.md", "folder/b.md", "missing.md"]) == []
    (store.folder / "a.md").write_bytes(b"theirs")
    with store.locked():
        assert store.edited_by_hand(["a.md", "folder/b.md"]) == ["a.md"]
    (store.folder / "a.md").write_bytes(b"1")
    with store.locked():
        assert store.edited_by_hand(["a.md"]) == []


def test_file_is_read_once_per_change(store: Store) -> None:
    """One change sees one state, and does not overwrite what came after it was read."""
    with store.locked():
        assert store.bytes_of("a.md") == b"1"
        (store.folder / "a.md").write_bytes(b"theirs")
        assert store.bytes_of("a.md") == b"1"
        with pytest.raises(Conflict):
            store.save({"a.md": b"ours"}, NOTE)
    assert (store.folder / "a.md").read_bytes() == b"theirs"
    assert subjects(store.folder) == ["First"]
    with store.locked():
        assert store.bytes_of("a.md") == b"theirs"


def test_conflict_commits_nothing(store: Store) -> None:
    """A file that appeared in the meantime stops the save before its commit."""
    with store.locked():
        assert store.bytes_of("new.md") is None
        (store.folder / "new.md").write_bytes(b"theirs")
        with pytest.raises(Conflict):
            store.save({"new.md": b"ours"}, NOTE)
    assert (store.folder / "new.md").read_bytes() == b"theirs"
    assert subjects(store.folder) == ["First"]
    assert is_sound(store.folder)


def test_late_write_of_an_editor_is_put_beside_the_document(store: Store) -> None:
    """What an editor writes into the file that we replaced under its hands is rescued at the next change."""
    with (store.folder / "a.md").open("r+b") as editor:
        with store.locked():
            store.bytes_of("a.md")
            store.save({"a.md": b"ours"}, NOTE)
        editor.write(b"typed")
    with store.locked():
        pass
    (rescued,) = store.folder.glob("a.md.rescued-*")
    assert (rescued.read_bytes(), (store.folder / "a.md").read_bytes()) == (b"typed", b"ours")


def test_store_without_repository_cannot_be_locked(store: Store) -> None:
    """A folder whose repository is gone is not written to."""
    (store.folder / ".git").rename(store.folder.parent / "gone")
    with pytest.raises(BrokenRepository, match="no git repository any more"), store.locked():
        pytest.fail("the store must not be locked")


def test_file_without_its_folder_cannot_be_saved(store: Store) -> None:
    """When one of several files cannot be written, none is."""
    before = snapshot(store.folder)
    with store.locked(), pytest.raises(StorageFailure):
        store.save({"a.md": b"2", "missing/b.md": b"x"}, NOTE)
    changed = {k for k, v in snapshot(store.folder).items() if before.get(k) != v}
    assert changed <= {".git/haytham.written"}
