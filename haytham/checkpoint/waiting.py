"""Waits until something has changed, or somebody has decided: the gateway to watchfiles.

The folder is watched, not the file, because many editors write beside it and rename.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from haytham.domain.errors import Conflict, HaythamError, InvalidInput, Location, Locked, NotFound, ReviewTimeout
from haytham.domain.records import ReviewRecord

OnProblem = Callable[[InvalidInput], object]

_LOG = logging.getLogger("haytham")
_DEBOUNCE = 30  # milliseconds; an editor's several writes of one save come closer together than that
_STEP = 10
_LOOK_AGAIN = 500  # milliseconds; for what happened before the watch began, and for file systems that tell nothing


def until_decided(
    folder: Path,
    look: Callable[[], ReviewRecord],
    *,
    timeout: float | None,
    stop: threading.Event | None,
    on_problem: OnProblem | None,
) -> ReviewRecord:
    """Looks whenever a file in the folder changes, until the look shows a decision; raises ReviewTimeout.

    Each time somebody has saved what cannot be understood, `on_problem` is told.
    """
    import watchfiles

    deadline = None if timeout is None else time.monotonic() + timeout
    stopping = stop or threading.Event()
    seen, problem = _state(folder), None
    found = _decided(look, on_problem)
    if isinstance(found, dict):
        return found
    for changes in watchfiles.watch(
        folder,
        debounce=_DEBOUNCE,
        step=_STEP,
        rust_timeout=_LOOK_AGAIN if timeout is None else max(1, min(_LOOK_AGAIN, int(timeout * 1000))),
        yield_on_timeout=True,
        stop_event=stopping,
        recursive=False,
        raise_interrupt=True,
    ):
        state = _state(folder)
        if changes or state != seen:
            found = _decided(look, on_problem if state != seen else None)
            seen = state
            if isinstance(found, dict):
                return found
        problem = found
        if deadline is not None and time.monotonic() >= deadline:
            break
    if isinstance(problem, HaythamError):
        raise problem
    raise ReviewTimeout(
        "nobody has decided yet.",
        location=Location(path=str(folder)),
        hint="wait again, or decide in the form in that folder.",
    )


def changes(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yields at once, whenever anything below a folder has changed and, to be certain, now and then."""
    import watchfiles

    yield
    for _ in watchfiles.watch(
        folder,
        debounce=_DEBOUNCE,
        step=_STEP,
        rust_timeout=_LOOK_AGAIN,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
    ):
        yield


def _decided(look: Callable[[], ReviewRecord], on_problem: OnProblem | None) -> ReviewRecord | HaythamError | None:
    """Returns the record if there is a decision, the problem if the form cannot be understood, or None."""
    try:
        record = look()
    except InvalidInput as error:
        if on_problem is not None:
            _tell(on_problem, error)
        return error
    except (NotFound, Conflict, Locked) as error:  # an editor may be half way through its save
        return error
    return record if record["decision"] else None


def _tell(on_problem: OnProblem, problem: InvalidInput) -> None:
    try:
        on_problem(problem)
    except Exception:  # noqa: BLE001 - whatever a callback raises, the wait goes on
        _LOG.exception("a callback for problems failed; the wait goes on")


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Returns what tells two states of a folder apart."""
    try:
        return sorted((path.name, path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.glob("*.md"))
    except FileNotFoundError:  # an editor is just replacing a file
        return []
