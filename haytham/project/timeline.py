"""The history of a project with those of its sessions, told as one."""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from haytham.storage.history import Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One commit, and the session whose history it is in; None for the project's own."""

    entry: Entry
    session_id: str | None


def interleaved(sessions: Mapping[str, Iterable[Entry]], own: Iterable[Entry]) -> list[Event]:
    """Merges the histories of sessions and the project's own by time; each keeps its order, whatever a clock did.

    All of them are newest first, and so is what is returned.
    """
    events = [[Event(entry=each, session_id=name) for each in entries] for name, entries in sessions.items()]
    events.append([Event(entry=each, session_id=None) for each in own])
    return list(heapq.merge(*events, key=lambda event: event.entry.time, reverse=True))
