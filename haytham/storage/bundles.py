"""A git bundle: the whole history of a branch as bytes that `git clone` understands.

Written in process, always in the same order and without deltas, so that the same history gives the same bytes.
Read back by this module alone: every object is inflated within a limit, hashed and followed before anything is
written, and no program is run. A bundle of another make is refused. Format: gitformat-bundle(5).
"""

import struct
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from haytham.domain.errors import BrokenRepository, InvalidInput, Location
from haytham.storage import git_objects
from haytham.storage.git_objects import BLOB, COMMIT, TREE, GitObject, Pack
from haytham.storage.history import History

LARGEST = 1 << 29  # bytes of all objects of one history, inflated

_SIGNATURE = "# v2 git bundle\n"
_HEAD = struct.Struct(">4sII")
_SUM = 20
_KINDS = {1: COMMIT, 2: TREE, 3: BLOB}
_PIECE = 16_384


@dataclass(frozen=True, kw_only=True, slots=True)
class Bundle:
    """A history that was checked: where its branch leads, and its objects as one pack."""

    head: str
    pack: Pack


@dataclass(frozen=True, kw_only=True, slots=True)
class _Placed:
    """An object, and where in the pack it begins and ends."""

    what: GitObject
    start: int
    end: int


def written(history: History, head: str) -> bytes:
    """Returns the bundle of a branch."""
    pack = git_objects.pack(_reachable(history, head))
    return _header(head, history.branch).encode() + pack.data


def read(data: bytes, branch: str, head: str) -> Bundle:
    """Reads the bundle of a branch; raises InvalidInput if a byte of it is not as it must be."""
    header = _header(head, branch).encode()
    if not data.startswith(header):
        raise InvalidInput(f"the history is no bundle of {branch} at {head}.")
    packed = data[len(header) :]
    try:
        objects = _objects(packed)
        _check_whole(objects, head)
    except (ValueError, IndexError, struct.error, zlib.error) as error:
        raise InvalidInput(f"the history is damaged: {error}.") from error
    places = {oid: (each.start, each.end) for oid, each in objects.items()}
    return Bundle(head=head, pack=git_objects.indexed(packed, places))


def _header(head: str, branch: str) -> str:
    return f"{_SIGNATURE}{head} HEAD\n{head} refs/heads/{branch}\n\n"


def _reachable(history: History, head: str) -> Iterator[GitObject]:
    """Yields every object that a commit leads to, once, the newest first; raises BrokenRepository if one is damaged."""
    seen, waiting = {head}, deque([head])
    with history.opened() as repository:
        while waiting:
            oid = waiting.popleft()
            try:
                number, data = repository.read(oid)
                found = git_objects.make(_KINDS[number], data)
                further = git_objects.references(found)
            except (KeyError, ValueError) as error:
                raise _damaged(history, f"object {oid} of git's cannot be exported: {error}.") from error
            if found.id != oid:
                raise _damaged(history, f"object {oid} of git's is damaged.")
            yield found
            waiting.extend(each for each in further if each not in seen)
            seen.update(further)


def _damaged(history: History, message: str) -> BrokenRepository:
    return BrokenRepository(message, location=Location(path=str(history.git_folder)), hint="see: haytham validate")


def _objects(packed: bytes) -> dict[str, _Placed]:
    """Returns the objects of a pack by their ids; of files only the ids, because nothing follows from the rest."""
    signature, version, count = _HEAD.unpack_from(packed)
    if (signature, version) != (b"PACK", 2) or git_objects.digest(packed[:-_SUM]) != packed[-_SUM:]:
        raise ValueError("its pack has another check sum")
    at, left, found = _HEAD.size, LARGEST, dict[str, _Placed]()
    for _ in range(count):
        start = at
        kind, size, at = _entry_header(packed, at)
        left -= size
        if left < 0:
            raise ValueError(f"it would take more than {LARGEST:,} bytes")
        content, at = _inflated(packed, at, size)
        each = git_objects.make(kind, content)
        if each.id in found:
            raise ValueError(f"object {each.id} is there twice")
        found[each.id] = _Placed(what=each if kind != BLOB else replace(each, data=b""), start=start, end=at)
    if at != len(packed) - _SUM:
        raise ValueError("there is something behind its last object")
    return found


def _entry_header(packed: bytes, at: int) -> tuple[str, int, int]:
    byte = packed[at]
    kind, size, shift = _KINDS.get(byte >> 4 & 7), byte & 0x0F, 4
    if kind is None:
        raise ValueError("an object is of a kind that is not used here")
    while byte & 0x80:
        at += 1
        byte = packed[at]
        size |= (byte & 0x7F) << shift
        shift += 7
    return kind, size, at + 1


def _inflated(packed: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Inflates one object, never to more than its size; returns it and where the next one begins."""
    inflater, content = zlib.decompressobj(), bytearray()
    while not inflater.eof:
        piece = inflater.unconsumed_tail or packed[at : at + _PIECE]
        if not piece:
            raise ValueError("it ends too early")
        if not inflater.unconsumed_tail:
            at += len(piece)
        content += inflater.decompress(piece, size + 1 - len(content))
        if len(content) > size:
            break
    if len(content) != size:
        raise ValueError("an object is not as long as it says")
    return bytes(content), at - len(inflater.unused_data)


def _check_whole(objects: dict[str, _Placed], head: str) -> None:
    """Raises ValueError unless the objects are exactly those that the head leads to."""
    kinds, waiting = {head: COMMIT}, [head]
    while waiting:
        oid = waiting.pop()
        if oid not in objects or objects[oid].what.kind != kinds[oid]:
            raise ValueError(f"{kinds[oid]} {oid} is missing")
        for each, kind in git_objects.references(objects[oid].what).items():
            if each not in kinds:
                waiting.append(each)
            if kinds.setdefault(each, kind) != kind:
                raise ValueError(f"object {each} cannot be both {kind} and {kinds[each]}")
    if len(kinds) != len(objects):
        raise ValueError("there are objects in it that belong to nothing")
