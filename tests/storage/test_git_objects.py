import hashlib
import struct
from pathlib import Path

import pytest

from haytham.storage import git_objects
from haytham.storage.git_objects import BLOB, COMMIT, FILE_MODE, FOLDER_MODE, TREE
from tests.evidence import git

WHO = "Some Body <s@example.org> 1769853600 +0000"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository that real git made."""
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


@pytest.mark.parametrize("data", [b"", b"x", b"text\n", b"\r\n\0\xff", b"a" * 15, b"a" * 16, b"a" * 3_000_000])
def test_id_of_a_blob_is_gits_own(repository: Path, data: bytes) -> None:
    """A blob has the id that git gives to the same bytes."""
    assert git(repository, "hash-object", "--stdin", data=data) == git_objects.make(BLOB, data).id


def test_id_of_a_tree_is_gits_own(repository: Path) -> None:
    """Entries are sorted as git sorts them: a folder as if its name ended with a slash."""
    blob = git(repository, "hash-object", "-w", "--stdin", data=b"x")
    folder = git(repository, "mktree", data=f"100644 blob {blob}\tf\n".encode())
    names = ["a", "a-b", "a.b", "a0", "ab", "b", "B", "é", "z.md"]
    entries = dict.fromkeys(names, (FILE_MODE, blob)) | {"a": (FOLDER_MODE, folder), "z": (FOLDER_MODE, folder)}
    listing = "".join(
        f"{'040000 tree' if mode == FOLDER_MODE else '100644 blob'} {oid}\t{name}\0"
        for name, (mode, oid) in reversed(entries.items())
    )
    assert git(repository, "mktree", "-z", data=listing.encode()) == git_objects.tree(entries).id


def test_empty_tree_is_gits_own(repository: Path) -> None:
    """The tree of an empty folder is the well-known one."""
    assert git_objects.tree({}).id == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.mark.parametrize("parents", [0, 1, 2])
def test_id_of_a_commit_is_gits_own(repository: Path, parents: int) -> None:
    """A commit has the id that git gives to the same one."""
    tree = git_objects.tree({}).id
    commit = git_objects.commit(tree, [f"{n}" * 40 for n in range(parents)], WHO, WHO, "Subject é\n\nBody\n")
    options = ["hash-object", "-t", "commit", "--literally", "--stdin"]
    assert git(repository, *options, data=commit.data) == commit.id


def test_pack_is_accepted_by_git(repository: Path) -> None:
    """A pack of ours, with its index, passes git's own strict checks and can be read."""
    blobs = [
        git_objects.make(BLOB, data) for data in (b"", b"a" * 15, b"b" * 16, b"c" * 2047, b"d" * 2048, b"e" * 10**6)
    ]
    tree = git_objects.tree({f"f{n}": (FILE_MODE, blob.id) for n, blob in enumerate(blobs)})
    commit = git_objects.commit(tree.id, [], WHO, WHO, "first\n")
    pack = git_objects.pack([*blobs, tree, commit, blobs[0]])
    folder = repository / ".git" / "objects" / "pack"
    (folder / f"{pack.name}.pack").write_bytes(pack.data)
    (folder / f"{pack.name}.idx").write_bytes(pack.index)
    shown = git(repository, "verify-pack", "-v", str(folder / f"{pack.name}.idx"))
    assert {each.id for each in (*blobs, tree, commit)} <= set(shown.split())
    git(repository, "update-ref", "refs/heads/main", commit.id)
    assert git(repository, "fsck", "--strict", "--full") == ""
    for blob in blobs:
        assert str(len(blob.data)) == git(repository, "cat-file", "-s", blob.id)


def test_index_is_the_one_that_git_would_write(repository: Path, tmp_path: Path) -> None:
    """`git index-pack --strict` makes the same index, byte for byte."""
    blobs = [git_objects.make(BLOB, bytes([n]) * n) for n in range(200)]
    pack = git_objects.pack(blobs)
    file = tmp_path / "ours.pack"
    file.write_bytes(pack.data)
    git(repository, "index-pack", "--strict", str(file))
    assert file.with_suffix(".idx").read_bytes() == pack.index


def test_pack_of_nothing_is_well_formed() -> None:
    """A pack without objects still has its header and its checksum."""
    pack = git_objects.pack([])
    assert struct.unpack(">4sII", pack.data[:12]) == (b"PACK", 2, 0)
    assert hashlib.sha1(pack.data[:-20], usedforsecurity=False).digest() == pack.data[-20:]


def test_kinds_are_packed_as_what_they_are(repository: Path) -> None:
    """Each kind of object comes back as its kind."""
    made = [
        git_objects.make(BLOB, b"x"),
        git_objects.tree({}),
        git_objects.commit(git_objects.tree({}).id, [], WHO, WHO, "m\n"),
    ]
    pack = git_objects.pack(made)
    git(repository, "unpack-objects", "-q", data=pack.data)
    assert [git(repository, "cat-file", "-t", each.id) for each in made] == [BLOB, TREE, COMMIT]
