"""The history of a project with those of its sessions, told as one."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

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
    merged = heapq.merge(*events, key=lambda event: event.entry.time, reverse=True)
    runs = groupby(merged, key=lambda event: event.entry.time)  # git tells times in whole seconds
    return [event for _, run in runs for event in _by_cause(list(run))]


def _by_cause(run: Sequence[Event]) -> Iterator[Event]:
    """Yields events of one instant, newest first: what the project notes of a session comes after what it notes."""
    own = [event for event in run if event.session_id is None]
    others = [event for event in run if event.session_id is not None]
    places = {event.entry.id: place for place, event in enumerate(others)}
    told = 0
    for event in own:
        noted = event.entry.trailers.get("Haytham-Head")
        place = len(others) if noted is None else places.get(noted, 0)
        yield from others[told:place]
        yield event
        told = max(told, place)
    yield from others[told:]
