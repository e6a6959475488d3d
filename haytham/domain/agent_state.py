"""The state of an agent at work: what it holds, and what changed in it since it was last saved.

What is handed in is copied, and what is read out cannot be changed: a change that nobody noted cannot happen.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from haytham.domain import state_changes
from haytham.domain.errors import InvalidInput
from haytham.domain.json_data import copy_of, read_only, same
from haytham.domain.numbers import check_amount, check_count
from haytham.domain.state_changes import Change, Path, State, Verb

_LISTS = {"messages": ("role", "content"), "tool_calls": ("tool_name", "arguments", "result", "success")}
_DICTS = ("current_task", "mailbox", "operational_context", "memory", "budget")
_MANY = 200
_JSON = json.JSONEncoder(ensure_ascii=False).encode


class AgentState:
    """A dict of JSON data with names for what agents usually have.

    `messages`, `tool_calls` and `partial_results` are lists, `current_task`, `mailbox`, `operational_context`,
    `memory` and `budget` are dicts; any further key is the caller's own. A path is one key, or a tuple of keys and
    list indexes: `state["memory", "session"] = …`.
    """

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        self._data: State = {}
        self._noted: tuple[int, list[Change]] = (0, [])  # how many were let go of, and the changes since
        self._saved = 0
        self._size: int | None = 2
        if data is not None:
            self.replace(data)

    # Reading

    def __getitem__(self, path: str | Path) -> Any:
        """Returns what stands at a path, which cannot be changed through it; raises KeyError or IndexError."""
        return read_only(self._at(_path(path)))

    def __contains__(self, key: object) -> bool:
        """Tells whether there is such a key."""
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        """Goes through the keys."""
        return iter(self._data)

    def __len__(self) -> int:
        """Returns the number of keys."""
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        """Tells whether two states hold the same data, as JSON: 1, 1.0 and True differ, and so do orders of keys."""
        return same(self._data, other._data) if isinstance(other, AgentState) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def get(self, path: str | Path, default: Any = None) -> Any:
        """Returns what stands at a path, or the default."""
        try:
            return self[path]
        except LookupError:
            return default

    def to_dict(self) -> State:
        """Returns a copy of all data, which the caller may change."""
        return {key: _copy(value) for key, value in self._data.items()}

    # Changing

    def __setitem__(self, path: str | Path, value: Any) -> None:
        """Puts a value at a path; raises InvalidInput if it is no JSON data or does not fit there."""
        keys = _path(path)
        self._checked_change(Change(Verb.PUT, keys, copy_of(value, _shown(keys), len(keys))))

    def __delitem__(self, path: str | Path) -> None:
        """Removes what stands at a path; raises KeyError if there is nothing."""
        self._checked_change(Change(Verb.DROP, _path(path), None))

    def append(self, path: str | Path, value: Any) -> None:
        """Adds a value to the list at a path, which is made if it is missing."""
        keys = _path(path)
        self._checked_change(Change(Verb.ADD, keys, copy_of(value, _shown(keys), len(keys) + 1)))

    def keep_last(self, path: str | Path, count: int) -> None:
        """Shortens the list at a path to its last items."""
        surplus = len(self._list(_path(path))) - check_count(count, "count")
        if surplus > 0:
            self._change(Change(Verb.SKIP, _path(path), surplus))

    def replace(self, data: Mapping[str, Any]) -> None:
        """Takes over a whole state, noting only what differs from the present one."""
        new = checked_state(data)
        for change in state_changes.between(self._data, new):
            self._change(change._replace(value=_copy(change.value)))

    def add_message(self, role: str, content: Any, **further: Any) -> None:
        """Adds a message of the conversation."""
        self.append("messages", {"role": role, "content": content, **further})

    def add_tool_call(self, tool_name: str, arguments: Any, result: Any = None, *, success: bool = True) -> None:
        """Adds a call of a tool with what came of it."""
        call = {"tool_name": tool_name, "arguments": arguments, "result": result, "success": success}
        self.append("tool_calls", call)

    def add_partial_result(self, result: Any) -> None:
        """Adds a part of what the agent is to deliver."""
        self.append("partial_results", result)

    def spend(self, *, tokens: int = 0, cost: float = 0.0) -> None:
        """Adds to the budget that was used."""
        used = self.get("budget", {})
        total = check_count(used.get("tokens", 0), "budget.tokens") + check_count(tokens, "tokens")
        price = check_amount(used.get("cost", 0), "budget.cost") + check_amount(cost, "cost")
        self["budget"] = {**used, "tokens": total, "cost": price}

    # For the journal

    @property
    def changes(self) -> tuple[Change, ...]:
        """What changed since the state was last saved."""
        return self.since(self._saved)

    @property
    def mark(self) -> int:
        """How many changes were made so far."""
        first, changes = self._noted
        return first + len(changes)

    def since(self, mark: int) -> tuple[Change, ...]:
        """Returns the changes that were made after a mark, which must not be older than that of the last save."""
        first, changes = self._noted
        return tuple(changes[mark - first :])

    @property
    def size(self) -> int:
        """About how many bytes the data takes as JSON."""
        if self._size is None:
            self._size = _weight(self._data)
        return self._size

    def apply(self, changes: Iterable[Change]) -> None:
        """Makes changes that a journal holds."""
        for change in changes:
            self._change(change)

    def saved(self, mark: int | None = None) -> None:
        """Notes that the journal holds this state, as it was at a mark; changes may be made meanwhile."""
        self._saved = self.mark if mark is None else mark

    @classmethod
    def restored(cls, data: State) -> "AgentState":
        """Returns a state that the journal holds; the data becomes part of it."""
        state = cls()
        state._data, state._size = data, None
        return state

    # Steps

    def _checked_change(self, change: Change) -> None:
        check_change(self._data, change)
        self._change(change)

    def _change(self, change: Change) -> None:
        before = self._replaced(change)
        noted = change._replace(value=_copy(change.value))
        try:
            self._data = state_changes.applied(self._data, [change])
            self._noted[1].append(noted)  # at once: an interruption must not come between
        except (LookupError, TypeError, AttributeError) as error:
            if isinstance(error, LookupError):
                raise
            raise InvalidInput(
                f"{_shown(change.path)} cannot be changed so: what stands there is no {_needed(change.verb)}.",
                hint="look at the state with to_dict().",
            ) from error
        if self._size is not None:
            self._size += (_weight(change.value) if change.verb in {Verb.PUT, Verb.ADD} else 0) - before
        if change.verb is Verb.CLEAR:
            self._size = 2
        self._let_go()

    def _let_go(self) -> None:
        """Forgets changes that were saved, now and then; only who makes changes does so, in one step."""
        first, changes = self._noted
        if self._saved - first > _MANY:
            self._noted = (self._saved, changes[self._saved - first :])

    def _replaced(self, change: Change) -> int:
        """Returns about how many bytes go away with a change; they were paid for when they came."""
        if self._size is None or change.verb in {Verb.ADD, Verb.CLEAR}:
            return 0
        try:
            there = self._at(change.path)
        except LookupError:
            return 0
        if change.verb is Verb.CUT:
            there = there[change.value :]
        elif change.verb is Verb.SKIP:
            there = there[: change.value]
        return _weight(there)

    def _at(self, path: Path) -> Any:
        place: Any = self._data
        for key in path:
            place = _inside(place, key, path)
        return place

    def _list(self, path: Path) -> list[Any]:
        found = self._at(path)
        if not isinstance(found, list):
            raise InvalidInput(f"{_shown(path)} is no list.", hint="look at the state with to_dict().")
        return found


def checked_state(data: object) -> State:
    """Returns a copy of a state that a caller handed in; raises InvalidInput."""
    copied = copy_of(data, "state")
    if not isinstance(copied, dict):
        raise InvalidInput(f"the state is a {type(data).__name__}.", hint="pass a dict of JSON data, or an AgentState.")
    for key, value in copied.items():
        check_field(key, value)
    return copied


def check_field(key: str | int, value: Any) -> None:
    """Raises InvalidInput if one of the usual fields does not have the shape that it should have."""
    if key in _DICTS and not isinstance(value, dict):
        raise InvalidInput(f"{key} is a {type(value).__name__}.", hint=f"{key} is a dict.")
    if key in _LISTS or key == "partial_results":
        if not isinstance(value, list):
            raise InvalidInput(f"{key} is a {type(value).__name__}.", hint=f"{key} is a list.")
        for item in value:
            _check_item(str(key), item)


def check_change(state: State, change: Change) -> None:
    """Raises InvalidInput if a change would leave one of the usual fields in a shape that it should not have."""
    first, *inner = change.path
    if not inner and change.verb in {Verb.PUT, Verb.ADD}:
        check_field(first, change.value if change.verb is Verb.PUT else [change.value])
    if not inner or first not in _LISTS or not isinstance(inner[0], int):
        return
    place = {"item": _copy(found[inner[0]])} if (found := state.get(str(first))) and len(inner) > 1 else {}
    with suppress(LookupError, TypeError, AttributeError):  # whoever makes the change says so
        after = state_changes.applied(place, [change._replace(path=("item", *inner[1:]), value=_copy(change.value))])
        if "item" in after:
            _check_item(str(first), after["item"])


def _check_item(key: str, item: Any) -> None:
    wanted = _LISTS.get(key, ())
    if wanted and not isinstance(item, dict):
        raise InvalidInput(f"an item of {key} is {item!r}.", hint=f"each is a dict with {', '.join(wanted)}.")
    missing = [name for name in wanted if name not in item]
    if missing:
        raise InvalidInput(f"an item of {key} has no {missing[0]}.", hint=f"each has {', '.join(wanted)}.")
    if wanted and not isinstance(item[wanted[0]], str):
        raise InvalidInput(f"{wanted[0]} is {item[wanted[0]]!r}, which is not text.", hint="pass a str.")
    if key == "tool_calls" and not isinstance(item["success"], bool):
        raise InvalidInput(f"success is {item['success']!r}.", hint="pass True or False.")


def _path(path: object) -> Path:
    keys = path if isinstance(path, tuple) else (path,)
    if not keys or not isinstance(keys[0], str) or not all(type(key) in {str, int} for key in keys):
        raise InvalidInput(f"the path is {path!r}.", hint='pass a key, or a tuple such as ("memory", "notes", 0).')
    return tuple(copy_of(key, "a key") for key in keys)


def _inside(place: Any, key: str | int, path: Path) -> Any:
    wanted: type[Any] = list if isinstance(key, int) else dict
    if not isinstance(place, wanted):
        raise KeyError(_shown(path))
    return place[key]


def _shown(path: Path) -> str:
    return ".".join(str(key) for key in path)


def _needed(verb: Verb) -> str:
    return "dict or list" if verb in {Verb.PUT, Verb.DROP} else "list"


def _weight(value: Any) -> int:
    return len(_JSON(value))


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value
