"""Moves a branch to a new commit, under the lock by which git itself guards it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from haytham.domain.errors import BrokenRepository, Conflict, Location, StorageFailure
from haytham.storage import files

_PATIENCE = 2.0  # seconds to wait for a git command of the user's that is just now at work
_POLL = 0.003


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A commit that is built but not yet part of history; `files` hold its objects."""

    commit: str
    base: str | None
    files: Mapping[Path, bytes]
    changes: Mapping[str, bytes | None]

    @property
    def ref(self) -> bytes:
        """What the file of a branch holds that leads to the commit."""
        return f"{self.commit}\n".encode()


def advance(
    ref: Path, prepared: Prepared, head: Callable[[], str | None], on_top: Callable[[], Prepared] | None
) -> Prepared:
    """Makes a commit the newest one of a branch and returns it.

    If the branch has moved on, `on_top` prepares the commit anew while git has to wait, so that nobody can keep us from
    ever getting there. Without it, Conflict is raised.
    """
    deadline = time.monotonic() + _PATIENCE
    while (moved := _tried(ref, prepared, head, on_top)) is None:
        if on_top is None and head() != prepared.base:
            raise Conflict(
                f"someone else committed to {ref.name} meanwhile; nothing was committed.",
                location=Location(path=str(ref)),
                hint="repeat the call.",
            )
        if time.monotonic() > deadline:
            raise BrokenRepository(
                f"git's own lock on {ref.name} does not go away; nothing was committed.",
                location=Location(path=f"{ref}.lock"),
                hint="if no git command is running in this folder, remove that file and repeat the call.",
            )
        time.sleep(_POLL)
    return moved


def _tried(
    ref: Path, prepared: Prepared, head: Callable[[], str | None], on_top: Callable[[], Prepared] | None
) -> Prepared | None:
    """Tries once; git may hold the lock, or remove the folder of a branch while it packs it."""
    chosen = [prepared]

    def newer() -> Path:
        chosen.append(on_top() if on_top else prepared)
        return files.write_temporary(ref, chosen[-1].ref)

    files.make_folder(ref.parent)
    try:
        temporary = files.write_temporary(ref, prepared.ref)
        is_moved = files.replace_under_lock(
            temporary, ref, lambda: head() == prepared.base, newer if on_top is not None else None
        )
        if not is_moved:
            return None
        files.flush_folder(ref.parent)
    except StorageFailure:
        if ref.parent.is_dir():
            raise
        return None
    return chosen[-1]
