"""Git's index of one folder: a cache, kept up to date so that `git status` is clean for people.

A person's own staged changes stay; where git itself is at work on it, or the disk refuses it, it is left alone.
Read and written here as bytes, one file instead of the three that libgit2 takes. Format: gitformat-index(5).
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from haytham.domain.errors import StorageFailure
from haytham.storage import files, git_objects

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">24xI12x20sH")  # times, device and inode; mode; owner and size; id; flags
_EXTENDED, _STAGE, _LONGEST_NAME = 0x4000, 0x3000, 0xFFF
_KNOWN_VERSIONS = {2, 3, 4}

Entries = dict[tuple[bytes, int], bytes]  # by name and stage, as git sorts them: everything that stands before the name


def refresh(
    git_folder: Path,
    changes: Mapping[str, bytes | None],
    head: Callable[[], Any],
    is_staged: Callable[[str, str], bool] = lambda _path, _oid: False,
) -> None:
    """Brings the index up to date for these files; `head` gives the tree that a broken one is built anew from.

    What `is_staged` says a person put there, given a file and an id, stays.
    """
    index = git_folder / "index"
    temporary = files.temporary_name(index)
    with suppress(OSError, ValueError):  # ValueError: git wrote it in a way that is not known here
        current = files.read_bytes(index)
        entries = _entries(current) if current is not None and _is_whole(current) else _entries_of(head())
        _change(entries, {path: data for path, data in changes.items() if not _is_theirs(entries, path, is_staged)})
        try:
            temporary.write_bytes(_encoded(entries))
            files.replace_under_lock(temporary, index, lambda: files.read_bytes(index) == current)
        finally:
            temporary.unlink(missing_ok=True)


def ids(git_folder: Path) -> dict[str, str]:
    """Returns the ids of the files in the index; none if it is missing, broken or cannot be read."""
    with suppress(StorageFailure, ValueError):
        content = files.read_bytes(git_folder / "index")
        if content is not None and _is_whole(content):
            return {
                name.decode(errors="surrogateescape"): head[40:60].hex()
                for (name, _), head in _entries(content).items()
            }
    return {}


def blobs(tree: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields the files of a tree, with the ids that the index should have for them."""
    for entry in tree:
        if entry.filemode == git_objects.FOLDER_MODE:
            yield from blobs(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", str(entry.id)


def _is_theirs(entries: Entries, path: str, is_staged: Callable[[str, str], bool]) -> bool:
    present = entries.get((path.encode(), 0))
    return present is not None and is_staged(path, present[40:60].hex())


def _change(entries: Entries, changes: Mapping[str, bytes | None]) -> None:
    for path, data in changes.items():
        name = path.encode()
        above = [name[:at] for at, char in enumerate(name) if char == ord("/")]  # a file where there is a folder now
        for old in (name, *above):
            for stage in range(4):
                entries.pop((old, stage), None)
        if data is not None:
            entries[name, 0] = _entry(name, git_objects.make(git_objects.BLOB, data).id)


def _entries_of(tree: Any) -> Entries:
    pairs: Iterable[tuple[str, str]] = blobs(tree) if tree is not None else ()
    return {(path.encode(), 0): _entry(path.encode(), oid) for path, oid in pairs}


def _entry(name: bytes, oid: str) -> bytes:
    """Makes an entry that says nothing about the file's times, so that git compares its bytes."""
    return _ENTRY.pack(git_objects.FILE_MODE, bytes.fromhex(oid), min(len(name), _LONGEST_NAME))


def _entries(content: bytes) -> Entries:
    """Reads an index; raises ValueError if it is of a kind that is not known."""
    try:
        _, version, count = _HEADER.unpack_from(content)
        if version not in _KNOWN_VERSIONS:
            raise ValueError(version)
        entries: Entries = {}
        at, name = _HEADER.size, b""
        for _ in range(count):
            (flags,) = struct.unpack_from(">H", content, at + 60)
            start = at + (64 if flags & _EXTENDED else 62)
            head = content[at:start]
            name, at = _name(content, at, start, name if version == max(_KNOWN_VERSIONS) else None)
            entries[name, (flags & _STAGE) >> 12] = head
        _check_extensions(content, at)
    except (struct.error, IndexError) as error:
        raise ValueError(*error.args) from error
    return entries


def _name(content: bytes, at: int, start: int, before: bytes | None) -> tuple[bytes, int]:
    """Returns the name of an entry and where the next one begins.

    In version 4 a name is what it has in common with the one `before`, and the rest of it.
    """
    if before is None:
        end = content.index(b"\0", start)
        return content[start:end], at + ((end - at + 8) & ~7)
    surplus = content[start] & 0x7F
    while content[start] & 0x80:
        start += 1
        surplus = ((surplus + 1) << 7) | (content[start] & 0x7F)
    end = content.index(b"\0", start + 1)
    return before[: len(before) - surplus] + content[start + 1 : end], end + 1


def _check_extensions(content: bytes, at: int) -> None:
    """Raises ValueError if anything follows that must be understood; all else are caches that git makes anew."""
    while at < len(content) - 20:
        name, size = struct.unpack_from(">4sI", content, at)
        if name[:1].islower():
            raise ValueError(name)
        at += 8 + size


def _encoded(entries: Entries) -> bytes:
    version = 3 if any(len(head) > _ENTRY.size for head in entries.values()) else 2
    pieces = [_HEADER.pack(b"DIRC", version, len(entries))]
    for (name, _), head in sorted(entries.items()):
        length = len(head) + len(name)
        pieces.append(head + name + bytes(8 - length % 8))
    body = b"".join(pieces)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _is_whole(content: bytes) -> bool:
    whole = hashlib.sha1(content[:-20], usedforsecurity=False).digest()
    return content.startswith(b"DIRC") and content[-20:] in {whole, bytes(20)}  # git can be told to leave the sum out
