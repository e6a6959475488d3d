"""The files that hold git's objects, hashed one by one; reads only.

Every pack, index and cache of git's ends with the hash of all that precedes it, and a loose object is named by the
hash of what it holds: a changed byte shows, whether or not the object is in use. The bits that pad the compressed data
of a loose object mean nothing; whoever changes one of those changes no object.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from haytham.storage import files

_HASH_BYTES = 20
_FANOUT = re.compile(r"[0-9a-f]{2}\Z")
_LOOSE = re.compile(r"[0-9a-f]{38}\Z")
_SEALED = (".pack", ".idx", ".rev", ".bitmap", ".mtimes", ".graph")
_SEALED_NAMES = ("multi-pack-index", "commit-graph")
_SIGNATURES = {".pack": b"PACK", ".idx": b"\xfftOc"}


def faults(objects: Path) -> Iterator[tuple[Path, str]]:
    """Yields what is wrong with the files in git's folder of objects: which file, and what."""
    with files.translating():
        found = sorted(each for each in objects.rglob("*") if each.is_file() and not each.is_symlink())
    for path in found:
        if path.suffix in _SEALED or path.name in _SEALED_NAMES:
            yield from _sealed(path)
        elif _LOOSE.match(path.name) and _FANOUT.match(path.parent.name):
            yield from _loose(path)


def unseen(objects: Path) -> list[Path]:
    """Returns the packs without an index, which git does not see: a crash leaves one, and nothing needs it then."""
    return sorted(each for each in objects.glob("pack/*.pack") if not each.with_suffix(".idx").is_file())


def _sealed(path: Path) -> Iterator[tuple[Path, str]]:
    data = files.read_bytes(path) or b""
    body, checksum = data[:-_HASH_BYTES], data[-_HASH_BYTES:]
    if hashlib.sha1(body, usedforsecurity=False).digest() != checksum:
        yield path, "the file is not as git wrote it: its checksum does not fit."
    elif not body.startswith(_SIGNATURES.get(path.suffix, b"")):
        yield path, "the file is none that git wrote."
    elif path.suffix == ".idx":
        yield from _index(path, body)


def _index(path: Path, body: bytes) -> Iterator[tuple[Path, str]]:
    """Checks that an index belongs to the pack beside it: each names the other's checksum."""
    pack = files.read_bytes(path.with_suffix(".pack"))
    if pack is None:
        yield path, "the pack of this index is gone."
    elif pack[-_HASH_BYTES:] != body[-_HASH_BYTES:]:
        yield path, "the index belongs to another pack than the one beside it."


def _loose(path: Path) -> Iterator[tuple[Path, str]]:
    decompressor = zlib.decompressobj()
    try:
        data = decompressor.decompress(files.read_bytes(path) or b"")
    except zlib.error:
        data = b""
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    if digest != f"{path.parent.name}{path.name}" or not decompressor.eof or decompressor.unused_data:
        yield path, "the object is not what its name says: it was changed or damaged."
