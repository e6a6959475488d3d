"""Who does the work of a session: claims that are counted, of which the newest holds.

A claim is one small file inside `.git`, written only when somebody claims: checking it costs a read, no flush.
"""

import json
import os
import socket
from pathlib import Path

from haytham.domain import instants
from haytham.domain.errors import Location, StaleWriter
from haytham.storage import files

_NAME = "haytham.claim"


def take(git_folder: Path, clock: instants.Clock) -> int:
    """Makes a claim that is newer than any before, durably, and returns its number; call it under the lock."""
    number = _number(_present(git_folder)) + 1
    note = {"number": number, "pid": os.getpid(), "host": socket.gethostname(), "since": instants.text_of(clock())}
    files.write({git_folder / _NAME: json.dumps(note).encode()})
    return number


def check(git_folder: Path, held: int) -> None:
    """Raises StaleWriter if somebody made a newer claim than the one held, 0 for none; call it under the lock."""
    present = _present(git_folder)
    if _number(present) <= held:
        return
    holder = "process {pid} on {host}, since {since}".format_map({"pid": "?", "host": "?", "since": "?"} | present)
    lost = f"claim {held} on this session is over" if held else "this session is claimed"
    raise StaleWriter(
        f"{lost}: claim {_number(present)} is held by {holder}. Nothing was written.",
        location=Location(path=str(git_folder / _NAME)),
        hint="stop this writer; or, if it is the one that should go on, let it claim the session: claim_session.",
    )


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


def _number(claim: dict[str, object]) -> int:
    number = claim.get("number", 0)
    return number if isinstance(number, int) else 0
