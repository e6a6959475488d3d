"""Who does the work of a session: claims that are counted, of which the newest holds.

A claim is one small file inside `.git`, written only when somebody claims: checking it costs a read, no flush.
"""

import json
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from haytham.domain import instants
from haytham.domain.errors import Location, StaleWriter
from haytham.storage import files

_NAME = "haytham.claim"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A claim that was made; the mark tells it from one of the same number in another session of the same id."""

    number: int
    mark: str


NONE = Claim(number=0, mark="")


def take(git_folder: Path, clock: instants.Clock) -> Claim:
    """Makes a claim that is newer than any before, durably; call it under the lock."""
    return _put(git_folder, clock, is_held=True)


def end(git_folder: Path, clock: instants.Clock, held: Claim) -> None:
    """Ends the newest claim, durably, unless it is the one held; nobody has one then. Call it under the lock."""
    if _claim(_present(git_folder)) not in {NONE, held}:
        _put(git_folder, clock, is_held=False)


def check(git_folder: Path, held: Claim) -> None:
    """Raises StaleWriter if the newest claim is not the one held; call it under the lock."""
    present = _present(git_folder)
    if _claim(present) == held:
        return
    lost = "this session is claimed" if held == NONE else f"claim {held.number} on this session is over"
    raise StaleWriter(
        f"{lost}: {_told(present)}. Nothing was written.",
        location=Location(path=str(git_folder / _NAME)),
        hint="stop this writer; or, if it is the one that should go on, let it claim the session: claim_session.",
    )


def _told(present: dict[str, object]) -> str:
    """Words why the newest claim is another one."""
    if not present:
        return "the session was made anew"
    who = "process {pid} on {host}".format_map({"pid": "?", "host": "?"} | present)
    since = present.get("since", "?")
    if present.get("is_held", True):
        return f"claim {_claim(present).number} is held by {who}, since {since}"
    return f"{who} took the session back to an earlier point at {since}"


def _put(git_folder: Path, clock: instants.Clock, *, is_held: bool) -> Claim:
    made = Claim(number=_claim(_present(git_folder)).number + 1, mark=secrets.token_hex(8))
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": instants.text_of(clock())}
    note = {"number": made.number, "mark": made.mark, **who, "is_held": is_held}
    files.write({git_folder / _NAME: json.dumps(note).encode()})
    return made


def _present(git_folder: Path) -> dict[str, object]:
    """Returns the newest claim; one that somebody has spoilt counts as the first, so that it is claimed again."""
    data = files.read_bytes(git_folder / _NAME)
    if data is None:
        return {}
    try:
        note = json.loads(data)
    except ValueError:
        return {"number": 1}
    return note if isinstance(note, dict) and isinstance(note.get("number"), int) else {"number": 1}


def _claim(present: dict[str, object]) -> Claim:
    number = present.get("number", 0)
    return Claim(number=number if isinstance(number, int) else 0, mark=str(present.get("mark", "")))
