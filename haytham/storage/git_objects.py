"""Git's objects as bytes: blobs, trees, commits, and one pack with its index.

A commit of ours is written as a single pack, because each loose object would cost a flush of its own
(docs/decisions/0004-one-pack-per-commit.md). Formats: gitformat-pack(5). Nothing here touches the disk.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

BLOB, TREE, COMMIT = "blob", "tree", "commit"
FILE_MODE, FOLDER_MODE = 0o100644, 0o040000

_TYPE_NUMBERS = {COMMIT: 1, TREE: 2, BLOB: 3}
_LEVEL = 1  # history is mostly prose; a higher level costs time that a phase has to wait for


@dataclass(frozen=True, kw_only=True, slots=True)
class GitObject:
    """One object with its id."""

    kind: str
    data: bytes
    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """A pack file and its index."""

    name: str
    data: bytes
    index: bytes


def make(kind: str, data: bytes) -> GitObject:
    """Makes an object; its id is the hash of its content."""
    header = f"{kind} {len(data)}\0".encode()
    return GitObject(kind=kind, data=data, id=hashlib.sha1(header + data, usedforsecurity=False).hexdigest())


def tree(entries: Mapping[str, tuple[int, str]]) -> GitObject:
    """Makes a tree from names to mode and id."""
    ordered = sorted(entries.items(), key=lambda entry: _sort_key(entry[0], entry[1][0]))
    lines = (f"{mode:o} {name}\0".encode() + bytes.fromhex(oid) for name, (mode, oid) in ordered)
    return make(TREE, b"".join(lines))


def commit(tree_id: str, parents: Iterable[str], author: str, committer: str, message: str) -> GitObject:
    """Makes a commit; author and committer are `name <email> seconds zone`."""
    lines = [
        f"tree {tree_id}",
        *(f"parent {each}" for each in parents),
        f"author {author}",
        f"committer {committer}",
    ]
    return make(COMMIT, ("\n".join(lines) + "\n\n" + message).encode())


def nested(changes: Mapping[str, bytes | None]) -> dict[str, object]:
    """Returns changes by path as a tree of dicts."""
    nested: dict[str, object] = {}
    for path, data in changes.items():
        *folders, name = path.split("/")
        level = nested
        for folder in folders:
            level = level.setdefault(folder, {})  # type: ignore[assignment]  # folders hold dicts only
        level[name] = data
    return nested


def pack(objects: Iterable[GitObject]) -> Pack:
    """Packs objects, each of them once."""
    unique = {each.id: each for each in objects}
    body = bytearray(struct.pack(">4sII", b"PACK", 2, len(unique)))
    places: list[tuple[bytes, int, int]] = []
    for each in unique.values():
        entry = _entry_header(each) + zlib.compress(each.data, _LEVEL)
        places.append((bytes.fromhex(each.id), zlib.crc32(entry), len(body)))
        body += entry
    checksum = hashlib.sha1(body, usedforsecurity=False).digest()
    index = _index(sorted(places), checksum)
    return Pack(name=f"pack-{checksum.hex()}", data=bytes(body) + checksum, index=index)


def _sort_key(name: str, mode: int) -> bytes:
    return name.encode() + (b"/" if mode == FOLDER_MODE else b"")


def _entry_header(entry: GitObject) -> bytes:
    size = len(entry.data)
    byte = (_TYPE_NUMBERS[entry.kind] << 4) | (size & 0x0F)
    size >>= 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    header.append(byte)
    return bytes(header)


def _index(places: list[tuple[bytes, int, int]], checksum: bytes) -> bytes:
    counts = [0] * 256
    for oid, _, _ in places:
        counts[oid[0]] += 1
    total, fanout = 0, []
    for count in counts:
        total += count
        fanout.append(total)
    large = [offset for _, _, offset in places if offset >= 1 << 31]
    offsets = [offset if offset < 1 << 31 else (1 << 31) | large.index(offset) for _, _, offset in places]
    data = b"".join(
        [
            b"\xfftOc\x00\x00\x00\x02",
            struct.pack(">256I", *fanout),
            *(oid for oid, _, _ in places),
            struct.pack(f">{len(places)}I", *(crc for _, crc, _ in places)),
            struct.pack(f">{len(places)}I", *offsets),
            struct.pack(f">{len(large)}Q", *large),
            checksum,
        ]
    )
    return data + hashlib.sha1(data, usedforsecurity=False).digest()
