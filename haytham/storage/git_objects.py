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
FILE_MODE, PROGRAM_MODE, FOLDER_MODE = 0o100644, 0o100755, 0o040000

_TYPE_NUMBERS = {COMMIT: 1, TREE: 2, BLOB: 3}
_ID_BYTES, _ID_DIGITS = 20, 40
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


def references(found: GitObject) -> dict[str, str]:
    """Returns the ids that a commit or a tree refers to, with the kind of each; raises ValueError if it is malformed.

    A tree that holds anything but files and folders is malformed here: no link and no other repository.
    """
    if found.kind == COMMIT:
        return _of_commit(found.data)
    return _of_tree(found.data) if found.kind == TREE else {}


def _of_commit(data: bytes) -> dict[str, str]:
    first, *rest = data.partition(b"\n\n")[0].decode().split("\n")
    if not first.startswith("tree "):
        raise ValueError("a commit has no tree")
    parents = [line.removeprefix("parent ") for line in rest if line.startswith("parent ")]
    found = dict.fromkeys(parents, COMMIT) | {first.removeprefix("tree "): TREE}
    if any(len(each) != _ID_DIGITS for each in found):
        raise ValueError("a commit refers to something without an id")
    return found


def _of_tree(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    kinds = {FILE_MODE: BLOB, PROGRAM_MODE: BLOB, FOLDER_MODE: TREE}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        kind, at = kinds.get(int(mode, 8)), end + 1 + _ID_BYTES
        if kind is None or at > len(data):
            raise ValueError(f"{name.decode(errors='replace')!r} is neither a file nor a folder")
        found[data[end + 1 : at].hex()] = kind
    return found


def signed(commit_: GitObject, signature: str) -> GitObject:
    """Returns a commit with a signature of its bytes in its header, as git writes it."""
    header, _, message = commit_.data.partition(b"\n\n")
    lines = "\n ".join(signature.strip("\n").split("\n"))
    return make(COMMIT, header + f"\ngpgsig {lines}\n\n".encode() + message)


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
    places: dict[str, tuple[int, int]] = {}
    for each in unique.values():
        start = len(body)
        body += _entry_header(each) + zlib.compress(each.data, _LEVEL)
        places[each.id] = start, len(body)
    return indexed(bytes(body) + digest(body), places)


def indexed(data: bytes, places: Mapping[str, tuple[int, int]]) -> Pack:
    """Makes the index of a pack, given where in it each object begins and ends."""
    view, checksum = memoryview(data), data[-_ID_BYTES:]
    found = [(bytes.fromhex(oid), zlib.crc32(view[start:end]), start) for oid, (start, end) in places.items()]
    return Pack(name=f"pack-{checksum.hex()}", data=data, index=_index(sorted(found), checksum))


def digest(data: bytes | bytearray) -> bytes:
    """Returns the hash that git puts behind its files."""
    return hashlib.sha1(data, usedforsecurity=False).digest()


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
    return data + digest(data)
