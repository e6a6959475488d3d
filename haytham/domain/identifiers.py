"""Decides which ids and names may become folders, files and branches.

One allow-list, checked once at the border: what passes is safe on every file system and in a git ref.
This module does not look at the disk: whether an id is taken, `storage.layout` knows.
"""

import re

from haytham.domain.errors import InvalidInput

LONGEST_ID = 100
LONGEST_TEXT = 500
SHORTEST_COMMIT = 4  # fewer digits are the number of an attempt

_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_COMMIT = re.compile(rf"[0-9a-f]{{{SHORTEST_COMMIT},40}}\Z")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "clock$"}
    | {f"com{number}" for number in range(10)}
    | {f"lpt{number}" for number in range(10)}
)
_HINT = f"use letters, digits, '-', '_' and '.', starting with a letter or digit, at most {LONGEST_ID} characters."
_LINE_HINT = f"use at most {LONGEST_TEXT} visible characters, without spaces at the ends."
RESERVED_AGENTS = frozenset({"checkpoint", "user_feedback", "session_manifest", "journal", "workflow"})


def check_commit(value: object) -> str:
    """Returns the id of a commit, or its beginning, in small letters; raises InvalidInput if it cannot be one."""
    wanted = value.lower() if isinstance(value, str) else ""
    if not _COMMIT.match(wanted):
        hint = f"use at least {SHORTEST_COMMIT} digits of an id that the log shows."
        raise InvalidInput(f"commit is {_shown(value)}.", hint=hint)
    return wanted


def check_id(value: object, what: str) -> str:
    """Returns the id unchanged if it may name a folder or a branch; raises InvalidInput otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} is {_shown(value)}, which is not text.", hint=_HINT)
    if fault := _fault(value):
        raise InvalidInput(f"{what} {_shown(value)} {fault}.", hint=_HINT)
    return value


def check_agent_name(value: object) -> str:
    """Returns an agent's name if it may name the file of its output; raises InvalidInput otherwise."""
    name = check_id(value, "agent name")
    if name.casefold().removesuffix(".md") in RESERVED_AGENTS:
        raise InvalidInput(
            f"agent name {name!r} is reserved for a document of Haytham's own.",
            hint=f"choose another name. Reserved: {', '.join(sorted(RESERVED_AGENTS))}.",
        )
    return name


def check_line(value: object, what: str) -> str:
    """Returns a text of one visible line, such as a user id or a phase's name; raises InvalidInput otherwise."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{what} is {_shown(value)}; a text of one line is needed.", hint=_LINE_HINT)
    if not value.isprintable() or len(value) > LONGEST_TEXT or value != value.strip():
        raise InvalidInput(
            f"{what} {_shown(value)} is not one plain line.",
            hint=_LINE_HINT,
        )
    return value


def check_text(value: object, what: str) -> str:
    """Returns a text that can be written as UTF-8; raises InvalidInput otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{what} is {_shown(value)}, which is not text.", hint="pass a str; decode bytes first.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} cannot be written as UTF-8: character {error.start} is {value[error.start]!r}.",
            hint="decode the text with errors='replace' where it comes from.",
        ) from error
    return value


def _fault(value: str) -> str:
    stem = value.split(".", 1)[0].casefold()
    checks = {
        "is empty": not value,
        f"is longer than {LONGEST_ID} characters": len(value) > LONGEST_ID,
        "contains a character that is not allowed": not _SHAPE.match(value),
        "contains two dots in a row": ".." in value,
        "ends with a dot": value.endswith("."),
        "ends with .lock, which git reserves": value.casefold().endswith(".lock"),
        "is a reserved device name": stem in _DEVICES,
    }
    return next((fault for fault, is_so in checks.items() if is_so), "")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_ID else f"{text[:LONGEST_ID]}…"
