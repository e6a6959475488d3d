"""Changes of an agent's state: made, found between two states, applied.

A state is a dict of JSON data. Applying the same changes to the same state gives the same state, bit for bit.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from haytham.domain.json_data import same

State = dict[str, Any]
Path = tuple[str | int, ...]


class Verb(StrEnum):
    """What a change does."""

    CLEAR = "clear"  # the state is empty: what follows is the whole of it
    PUT = "put"  # the value stands at the path
    ADD = "add"  # the value is the last one of the list at the path, which is made if it is missing
    DROP = "drop"  # nothing stands at the path any more
    CUT = "cut"  # the list at the path keeps its first `value` items
    SKIP = "skip"  # the list at the path loses its first `value` items


class Change(NamedTuple):
    """One change."""

    verb: Verb
    path: Path
    value: Any


def applied(state: State, changes: Iterable[Change]) -> State:
    """Returns the state after some changes, which may alter it; raises LookupError or TypeError where one does not fit.

    The values of the changes become parts of the state.
    """
    for verb, path, value in changes:
        if verb is Verb.CLEAR:
            state = {}
            continue
        place: Any = state
        for key in path[:-1]:
            place = place[key]
        last = path[-1]
        if isinstance(place, dict) and not isinstance(last, str):
            raise TypeError("a dict has no indexes")
        if verb is Verb.PUT:
            place[last] = value
        elif verb is Verb.ADD:
            (place.setdefault(last, []) if isinstance(place, dict) else place[last]).append(value)
        elif verb is Verb.DROP:
            del place[last]
        elif verb is Verb.CUT:
            del place[last][value:]
        else:
            del place[last][:value]
    return state


def between(old: State, new: State) -> list[Change]:
    """Returns changes that turn one state into another; they share their values with the new one."""
    if not _keeps_order(old, new):
        return whole(new)
    return list(_in_dict(old, new, ()))


def whole(state: State) -> list[Change]:
    """Returns changes that lead to a state from any other; they share their values with it."""
    changes = [Change(Verb.CLEAR, (), None)]
    for key, value in state.items():
        if isinstance(value, list) and value:
            changes += [Change(Verb.ADD, (key,), each) for each in value]
        else:
            changes.append(Change(Verb.PUT, (key,), value))
    return changes


def _between(old: Any, new: Any, path: Path) -> Iterator[Change]:
    if same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict) and _keeps_order(old, new):
        yield from _in_dict(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _in_list(old, new, path)
    else:
        yield Change(Verb.PUT, path, new)


def _in_dict(old: State, new: State, path: Path) -> Iterator[Change]:
    for key in old:
        if key not in new:
            yield Change(Verb.DROP, (*path, key), None)
    for key, value in new.items():
        if key in old:
            yield from _between(old[key], value, (*path, key))
        else:
            yield Change(Verb.PUT, (*path, key), value)


def _in_list(old: list[Any], new: list[Any], path: Path) -> Iterator[Change]:
    if skipped := _skipped(old, new):
        yield Change(Verb.SKIP, path, skipped)
        old = old[skipped:]
    if len(new) < len(old):
        yield Change(Verb.CUT, path, len(new))
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        yield from _between(before, after, (*path, index))
    for value in new[len(old) :]:
        yield Change(Verb.ADD, path, value)


def _skipped(old: list[Any], new: list[Any]) -> int:
    """Returns how many items went away in front while the others only moved up, as in a window that slides."""
    if not old or not new or same(old[0], new[0]):
        return 0
    for count in range(1, len(old)):
        if same(old[count], new[0]) and len(old) - count <= len(new) and all(map(same, old[count:], new)):
            return count
    return 0


def _keeps_order(old: State, new: State) -> bool:
    """Tells whether dropping and adding keys, one by one, leads to the new order of keys."""
    kept = [key for key in old if key in new]
    return list(new)[: len(kept)] == kept
