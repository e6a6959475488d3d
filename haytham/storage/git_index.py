"""Git's index of one folder: a cache, kept up to date so that `git status` is clean for people.

A person's own staged changes stay; where git itself is at work on it, or the disk refuses it, it is left alone.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haytham.storage import files, git_objects

if TYPE_CHECKING:
    import pygit2


def refresh(git_folder: Path, changes: Mapping[str, bytes | None], head: Any) -> None:
    """Brings the index up to date for these files; `head` is the tree that a broken one is built anew from."""
    from pygit2 import GitError

    temporary = files.temporary_name(git_folder / "index")
    try:
        _refresh(git_folder / "index", temporary, changes, head)
    except (GitError, OSError):
        for left in (temporary, temporary.with_name(f"{temporary.name}.lock")):
            with suppress(OSError):
                left.unlink(missing_ok=True)


def ids(git_folder: Path) -> dict[str, str]:
    """Returns the ids of the files in the index; none if it is missing, broken or cannot be read."""
    from pygit2 import GitError, Index

    content = files.read_bytes(git_folder / "index")
    if content is None or not _is_whole(content):
        return {}
    try:
        return {entry.path: str(entry.id) for entry in Index(str(git_folder / "index"))}
    except (GitError, OSError):
        return {}


def blobs(tree: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields the files of a tree, with the ids that the index should have for them."""
    for entry in tree:
        if entry.filemode == git_objects.FOLDER_MODE:
            yield from blobs(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", str(entry.id)


def _refresh(index: Path, temporary: Path, changes: Mapping[str, bytes | None], head: Any) -> None:
    from pygit2 import IndexEntry, Oid
    from pygit2.enums import FileMode

    current = files.read_bytes(index)
    entries = _copy_at(temporary, current, head)
    for path, data in changes.items():
        if data is not None:
            oid = git_objects.make(git_objects.BLOB, data).id
            entries.add(IndexEntry(path, Oid(hex=oid), FileMode.BLOB))
        elif path in entries:
            entries.remove(path)
    entries.write()
    files.replace_under_lock(temporary, index, lambda: files.read_bytes(index) == current)


def _copy_at(path: Path, content: bytes | None, head: Any) -> "pygit2.Index":
    from pygit2 import Index

    if content is not None and _is_whole(content):
        path.write_bytes(content)
        return Index(str(path))
    index = Index(str(path))
    if head is not None:
        index.read_tree(head)
    return index


def _is_whole(content: bytes) -> bool:
    """Tells whether an index can be opened: libgit2 complains of a broken one even after it is closed."""
    whole = hashlib.sha1(content[:-20], usedforsecurity=False).digest()
    return content.startswith(b"DIRC") and content[-20:] in {whole, bytes(20)}  # git can be told to leave the sum out
