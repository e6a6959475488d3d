"""The way to a part of a state, written as a person would: `memory.notes[3]."an odd key"`."""

import json
import re

_PLAIN = re.compile(r"[A-Za-z0-9_-]+\Z")
_STEP = re.compile(r'\[(-?\d+)\]|\.?(?:([A-Za-z0-9_-]+)|("(?:[^"\\]|\\.)*"))')


def path_text(path: tuple[str | int, ...]) -> str:
    """Writes a path."""
    steps = [f"[{key}]" if isinstance(key, int) else f".{_key_text(key)}" for key in path]
    return "".join(steps).removeprefix(".")


def path_of(text: str) -> tuple[str | int, ...]:
    """Reads a path; raises ValueError if it is none."""
    if _PLAIN.match(text):
        return (text,)
    path: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise ValueError(f"{text!r} is no path")
        at = found.end()
        index, plain, quoted = found.groups()
        path.append(int(index) if index else plain or json.loads(quoted))
    if not path:
        raise ValueError("there is no path")
    return tuple(path)


def _key_text(key: str) -> str:
    return key if _PLAIN.match(key) else json.dumps(key)
