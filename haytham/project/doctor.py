"""Examines a machine: whether it has what Haytham needs, each answer with a way to mend it."""

import platform
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import haytham
from haytham.domain import instants
from haytham.domain.errors import HaythamError
from haytham.domain.records import CheckRecord
from haytham.storage import health, history_user, user_git

OK, WARNING, PROBLEM = "ok", "warning", "problem"

_OLDEST_GIT = (2, 30)
_LITTLE_ROOM = 200 * 1024 * 1024
_MIB = 1024 * 1024
_REMOTE = frozenset(
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "fuse.s3fs", "virtiofs"]
)


def examine(base_dir: str | Path = "projects", *, clock: instants.Clock = instants.utc_now) -> list[CheckRecord]:
    """Returns every check in order; leaves nothing behind, and does not make the base folder."""
    return [*_programs(), *_folder(Path(base_dir), clock)]


def _programs() -> Iterator[CheckRecord]:
    yield _check("haytham", f"{haytham.__version__}, Python {platform.python_version()}")
    yield _git()
    yield _check("pygit2", metadata.version("pygit2"))
    yield _person()


def _git() -> CheckRecord:
    try:
        version = user_git.version()
    except HaythamError as error:
        return _check("git", error.message, PROBLEM, error.hint)
    shown = ".".join(str(part) for part in version)
    if version < _OLDEST_GIT:
        return _check("git", shown, WARNING, f"versions before {'.'.join(map(str, _OLDEST_GIT))} were never tried.")
    return _check("git", shown)


def _person() -> CheckRecord:
    person = history_user.user_identity()
    if person is None:
        commands = "git config --global user.name NAME\ngit config --global user.email ADDRESS"
        hint = f"until it is, you review under your account's name. To set it:\n{commands}"
        return _check("user.name", "not set", WARNING, hint)
    return _check("user.name", str(person))


def _folder(base: Path, clock: instants.Clock) -> Iterator[CheckRecord]:
    place = health.nearest(base)
    yield _base(base, place)
    yield _file_system(place)
    yield _room(place)
    if fault := health.fault_of_writing(place):
        yield _check("writing", fault, PROBLEM, f"make {place} a folder that you may write in.")
        return
    yield _check("writing", "written, flushed and replaced")
    yield _locks(place, clock)
    yield _check("names", "told apart by case" if health.tells_case_apart(place) else "not told apart by case")


def _base(base: Path, place: Path) -> CheckRecord:
    if base.exists() and not base.is_dir():
        return _check("folder", f"{base} is a file", PROBLEM, "name another folder with --base-dir.")
    if not base.is_dir():
        return _check("folder", f"{base} is not there yet; haytham init makes it")
    if not health.is_ours(place):
        return _check("folder", f"{base} belongs to somebody else", WARNING, "git may refuse to work there.")
    if health.is_open_to_all(place):
        return _check("folder", f"{base} may be written by everybody", WARNING, f"chmod o-w {base}")
    return _check("folder", str(base))


def _file_system(place: Path) -> CheckRecord:
    kind = health.kind_of(place)
    if kind in _REMOTE:
        hint = "locks and flushes are promised for local disks only; let one machine write at a time."
        return _check("file system", f"{kind}, which is not local", WARNING, hint)
    return _check("file system", kind or "not known")


def _room(place: Path) -> CheckRecord:
    free = health.free_bytes(place)
    shown = f"{free // _MIB:,} MiB free"
    if free < _LITTLE_ROOM:
        return _check("room", shown, WARNING, "make room: a full disk stops every save.")
    return _check("room", shown)


def _locks(place: Path, clock: instants.Clock) -> CheckRecord:
    fault = health.fault_of_locking(place, clock)
    hint = "keep the projects on a file system with locks, such as a local disk."
    return _check("locks", fault, PROBLEM, hint) if fault else _check("locks", "a second writer waits")


def _check(name: str, found: str, status: str = OK, hint: str = "") -> CheckRecord:
    return CheckRecord(name=name, status=status, found=found, hint=hint)
