"""The files of git's objects are hashed in process, whatever git itself would find."""

import random
from pathlib import Path

import pytest

from haytham.storage import object_files
from haytham.storage.store import CommitNote, Store
from tests.audit import tampering
from tests.evidence import Clock, git
from tests.trials import count


@pytest.mark.parametrize("packed", [False, True])
def test_every_flipped_byte_is_found(tmp_path: Path, packed: bool) -> None:
    """A pack, an index or another sealed file with one other byte is named, and no other file is."""
    store = Store(tmp_path / "s", "main", clock=Clock(), lock_timeout=1)
    store.create({"a.md": b"1" * 500}, CommitNote(message="First\n"))
    if packed:
        git(store.folder, "gc", "-q")
    objects = store.history.git_folder / "objects"
    sealed = [path for path in objects.rglob("*") if path.is_file() and path.name != "packs"]
    assert len(sealed) >= 2
    source = random.Random(int(packed))
    for _ in range(count(100, 2000)):
        path = source.choice(sealed)
        undo = tampering.flip(path, source)
        assert path in {path, path.with_suffix(".idx")} & {found for found, _ in object_files.faults(objects)}
        undo()
    assert list(object_files.faults(objects)) == []
