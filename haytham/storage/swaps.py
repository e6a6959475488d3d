"""Replaces a file that somebody else may be writing at the same moment, without losing a byte of theirs.

Linux can exchange two names in one step (renameat2). So the new file goes in and the old one comes out at once, and
only then is it looked at: if it is not what was expected, it goes back. An editor that had opened the old file before
the exchange may still write to it afterwards; therefore it is held for a while, and rescued if it changed.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from haytham.domain.errors import Conflict, Location

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_SWAP = ".haytham-swap"
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


def content(path: Path) -> bytes:
    """Returns a file's bytes; a link is not followed, and a pipe is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "this is no plain file", str(path))
        pieces = [os.read(descriptor, found.st_size + 1)]
        while pieces[-1]:
            pieces.append(os.read(descriptor, 1 << 20))
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def replace(new: Path, path: Path, expected: bytes | None, held: Path | None) -> None:
    """Puts a new file in the place of one that must hold the expected bytes (None: not exist).

    Raises Conflict otherwise, with their file in its place and ours gone.
    """
    if expected is None:
        _put_where_nothing_is(new, path)
        return
    if _content_if_any(path) != expected:  # so that ours is not seen in its place even for a moment
        raise _conflict(path)
    ours = content(new)
    swap = new.with_name(f".{path.name}.{secrets.token_hex(6)}{_SWAP}")
    new.rename(swap)  # from here on the name may hold somebody's text: `left_in` finds it after a crash
    if not _try_exchange(swap, path):
        _replace_after_a_look(swap, path, expected)
    elif content(swap) == expected:
        _hold(swap, path, expected, held)
    else:
        _put_back(swap, path, ours)
        _hold(swap, path, ours, held)
        raise _conflict(path)


def remove(path: Path, expected: bytes, held: Path) -> None:
    """Takes a file out of its place, which must hold the expected bytes, and holds it as a replaced one.

    Raises Conflict otherwise, with their file in its place; where they have just put another one there, both are kept.
    """
    if _content_if_any(path) != expected:
        raise _conflict(path)
    kept = _hold(path, path, expected, held)
    if content(kept) != expected:
        _put_where_nothing_is(kept, path)
        raise _conflict(path)


def left_in(folder: Path, is_known: Callable[[Path, bytes], bool]) -> Iterator[tuple[Path, Path]]:
    """Clears up after a writer that died between an exchange and the next step.

    What is known of the document is removed; anything else is yielded, as the document's place and the file.
    """
    with suppress(FileNotFoundError):
        for left in [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(_SWAP)]:
            place = folder / left.name.removesuffix(_SWAP).rpartition(".")[0].removeprefix(".")
            if is_known(place, content(left)):
                left.unlink()
            else:
                yield place, left


def release(held: Path) -> Iterator[tuple[str, Path]]:
    """Lets go of the held files that nobody can write to any more; yields those that changed, by their name."""
    try:
        entries = list(os.scandir(held))
    except FileNotFoundError:
        return
    for entry in entries:
        kept = Path(entry.path)
        digest, _, name = entry.name.split("-", 2)
        if _is_open_elsewhere(kept):
            continue
        if _digest(content(kept)) == digest:
            kept.unlink(missing_ok=True)
        else:
            yield unquote(name), kept


def _try_exchange(ours: Path, path: Path) -> bool:
    try:
        return _exchange(ours, path)
    except (Conflict, OSError):  # nothing was exchanged
        ours.unlink(missing_ok=True)
        raise


def _content_if_any(path: Path) -> bytes | None:
    try:
        return content(path)
    except FileNotFoundError:
        return None


def _put_where_nothing_is(new: Path, path: Path) -> None:
    try:
        os.link(new, path)
    except FileExistsError:
        raise _conflict(path) from None
    new.unlink()


def _put_back(theirs: Path, path: Path, ours: bytes) -> None:
    """Exchanges again until what comes out is ours; somebody may have put a third version in meanwhile."""
    while _exchange(theirs, path) and content(theirs) != ours:
        ours = content(path)  # what went in is older than what came out: the newer one goes back in


def _hold(old: Path, path: Path, known: bytes, held: Path | None) -> Path:
    """Keeps a replaced file, named by the bytes it is known to hold; returns where."""
    if held is None:
        old.unlink()
        return old
    held.mkdir(exist_ok=True)
    name = quote(str(path.relative_to(held.parent.parent)), safe="")
    return old.rename(held / f"{_digest(known)}-{secrets.token_hex(4)}-{name}")  # the same bytes may be held twice


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges two names in one step; False where the system or the file system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    done = library.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    if done == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    if number == errno.ENOENT:
        raise _conflict(other)
    raise OSError(number, os.strerror(number), str(other))


def _replace_after_a_look(new: Path, path: Path, expected: bytes) -> None:
    with suppress(FileNotFoundError):
        if content(path) == expected:
            new.replace(path)
            return
    new.unlink(missing_ok=True)
    raise _conflict(path)


def _is_open_elsewhere(path: Path) -> bool:
    """Tells whether any process has the file open: only then is a write lease refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno in {errno.EAGAIN, errno.EWOULDBLOCK}
    finally:
        os.close(descriptor)
    return False


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _conflict(path: Path) -> Conflict:
    return Conflict(
        f"{path.name} was changed by someone else meanwhile; their text is untouched and ours was not written.",
        location=Location(path=str(path)),
        hint="read it again, then repeat the call.",
    )
