import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from haytham.domain import state_changes
from haytham.domain.agent_state import AgentState
from haytham.domain.errors import InvalidInput
from haytham.domain.json_data import DEEPEST
from haytham.domain.state_changes import Change, Verb
from tests.journal.states import exact, states

CALL: dict[str, Any] = {"tool_name": "search", "arguments": {}, "result": None, "success": True}


@given(states(), states())
def test_what_is_noted_leads_from_the_saved_state_to_the_present_one(old: Any, new: Any) -> None:
    """Applied to the state that was saved, the changes give the present one, bit for bit."""
    state = AgentState(old)
    state.saved()
    state.replace(new)
    state.append("further", 1)
    assert exact({**new, "further": [1]}) == exact(state.to_dict()) or "further" in new
    applied = state_changes.applied(copy.deepcopy(old), copy.deepcopy(list(state.changes)))
    assert exact(state.to_dict()) == exact(applied)


@given(states(), states())
def test_the_size_is_about_that_of_the_json(old: Any, new: Any) -> None:
    """The size that is kept up with each change stays near the real one, and is exact when restored."""
    state = AgentState(old)
    state.replace(new)
    real = len(json.dumps(new, ensure_ascii=False))
    assert real == AgentState.restored(copy.deepcopy(new)).size
    assert abs(state.size - real) <= real + 40 * (len(old) + len(new) + 1) + len(json.dumps(old, ensure_ascii=False))


def test_the_usual_fields_have_words_of_their_own() -> None:
    """Messages, calls, results and the budget are added by name."""
    state = AgentState()
    state.add_message("user", "hello", tokens=3)
    state.add_tool_call("search", {"q": 1}, ["r"], success=False)
    state.add_partial_result("a part")
    state.spend(tokens=5, cost=0.5)
    state.spend(tokens=2)
    expected = {
        "messages": [{"role": "user", "content": "hello", "tokens": 3}],
        "tool_calls": [{"tool_name": "search", "arguments": {"q": 1}, "result": ["r"], "success": False}],
        "partial_results": ["a part"],
        "budget": {"tokens": 7, "cost": 0.5},
    }
    assert expected == state.to_dict()
    assert [Verb.ADD] * 3 + [Verb.PUT] * 2 == [each.verb for each in state.changes]


def test_paths_lead_inside() -> None:
    """A path of keys and indexes reads, puts, adds and removes."""
    state = AgentState({"memory": {"notes": [{"n": 1}]}})
    state["memory", "notes", 0, "n"] = 2
    state.append(("memory", "notes"), "more")
    state.append(("memory", "fresh"), 1)
    del state["memory", "notes", 0]
    assert {"memory": {"notes": ["more"], "fresh": [1]}} == state.to_dict()
    assert "more" == state["memory", "notes", 0]
    assert "no" == state.get(("memory", "nowhere"), "no")
    assert state.get(("memory", "notes", 9)) is None


def test_a_state_is_like_a_dict_of_what_cannot_be_changed() -> None:
    """It can be looked through; what is read cannot be changed, what is copied out can."""
    state = AgentState({"a": [{"b": 1}], "c": {}})
    assert (["a", "c"], 2, True, False) == (list(state), len(state), "a" in state, "b" in state)
    with pytest.raises(TypeError):
        state["a"][0]["b"] = 2
    assert ({"b": 1},) == state["a"]
    state.to_dict()["a"][0]["b"] = 2
    assert [{"b": 1}] == state.to_dict()["a"]
    assert AgentState({"a": [{"b": 1}], "c": {}}) == state
    assert state != AgentState()
    assert AgentState({"c": {}, "a": [{"b": 1}]}) != state
    assert AgentState({"a": [{"b": True}], "c": {}}) != state
    assert AgentState({"a": [{"b": 1.0}], "c": {}}) != state
    assert state != {"a": [{"b": 1}], "c": {}}
    with pytest.raises(TypeError):
        hash(state)


@pytest.mark.parametrize("path", [("none", "a"), ("none", 0), ("text", 0), ("text", "a"), ("list", "a"), ("dict", 0)])
def test_a_path_that_leads_nowhere_is_a_key_error(path: tuple[str | int, ...]) -> None:
    """What is no dict has no keys, what is no list has no indexes, and neither is a fault of the caller's types."""
    state = AgentState({"none": None, "text": "abc", "list": [1], "dict": {"a": 1}})
    with pytest.raises(KeyError):
        state[path]
    assert "default" == state.get(path, "default")


def test_what_was_handed_in_is_the_callers() -> None:
    """Changing it later changes neither the state nor what was noted."""
    given: dict[str, Any] = {"list": [1]}
    state = AgentState()
    state["a"] = given
    given["list"].append(2)
    state.append(("a", "list"), 3)
    assert {"a": {"list": [1, 3]}} == state.to_dict()
    assert {"list": [1]} == state.changes[0].value


def test_a_list_keeps_its_last_items() -> None:
    """A list is shortened in front, and left alone if it is short enough."""
    state = AgentState({"l": [1, 2, 3]})
    state.saved()
    state.keep_last("l", 3)
    assert [] == list(state.changes)
    state.keep_last("l", 1)
    assert [3] == state.to_dict()["l"]
    assert [Change(Verb.SKIP, ("l",), 2)] == list(state.changes)
    with pytest.raises(InvalidInput, match="no list"):
        AgentState({"d": {}}).keep_last("d", 1)
    with pytest.raises(KeyError):
        state.keep_last("nowhere", 1)


def _put(path: Any, value: Any = 1) -> Callable[[AgentState], None]:
    return lambda state: state.__setitem__(path, value)


def _nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


REFUSED: dict[str, Callable[[AgentState], None]] = {
    "no text for a path": _put(5),
    "an empty path": _put(()),
    "an index first": _put((0, "a")),
    "a truth for an index": _put(("l", True)),
    "an index in a dict": _put(("memory", 0)),
    "a key in a list": _put(("l", "x")),
    "inside a text": _put(("t", "x")),
    "inside a number": _put(("n", "x")),
    "no json": _put("a", object()),
    "memory as a list": _put("memory", []),
    "messages as a dict": _put("messages", {}),
    "messages of text": _put("messages", ["x"]),
    "a message without content": _put("messages", [{"role": "user"}]),
    "a role that is no text": _put("messages", [{"role": 5, "content": ""}]),
    "a call without success": _put("tool_calls", [{**CALL, "success": 1}]),
    "results as text": _put("partial_results", "x"),
    "a message that is text": lambda state: state.append("messages", "x"),
    "an item of a dict": lambda state: state.append("memory", 1),
    "an item of a text": lambda state: state.append("t", 1),
    "a message replaced by text": _put(("messages", 0), "x"),
    "a role replaced": _put(("messages", 0, "role"), 5),
    "a role removed": lambda state: state.__delitem__(("messages", 0, "role")),
    "a call turned": _put(("tool_calls", 0, "success"), "yes"),
    "too deep by its path": _put(("memory", "a", "b"), _nested(DEEPEST - 1)),
    "too deep by being added": lambda state: state.append("l", _nested(DEEPEST - 1)),
    "a budget that is no number": lambda state: state.spend(tokens=1),
    "negative tokens": lambda state: state.spend(tokens=-1),
    "a whole state that is a list": lambda state: state.replace([]),  # type: ignore[arg-type]
    "a whole state out of shape": lambda state: state.replace({"mailbox": 1}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused(what: str) -> None:
    """A change that does not fit is refused, and the state and its notes are as before."""
    state = AgentState(
        {
            "memory": {"a": {}},
            "l": [],
            "t": "text",
            "n": 1,
            "messages": [{"role": "user", "content": ""}],
            "tool_calls": [CALL],
            "budget": {"tokens": "x"} if "budget" in what else {},
        }
    )
    state.saved()
    before = exact(state.to_dict())
    with pytest.raises(InvalidInput):
        REFUSED[what](state)
    assert before == exact(state.to_dict())


@pytest.mark.parametrize("path", ["nowhere", ("memory", "nowhere"), ("l", 3), ("messages", 4, "role")])
def test_nothing_can_be_removed_that_is_not_there(path: Any) -> None:
    """Removing, reading and going through what is missing says so, and notes nothing."""
    state = AgentState({"memory": {}, "l": [], "messages": [{"role": "user", "content": ""}]})
    state.saved()
    for call in (lambda: state[path], lambda: state.__delitem__(path)):
        with pytest.raises(LookupError):
            call()
    assert () == state.changes


def test_messages_can_be_changed_inside() -> None:
    """A message, and the content of one, can be replaced; one can go."""
    state = AgentState({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]})
    state["messages", 0, "content"] = "c"
    state["messages", 1] = {"role": "assistant", "content": None}
    state.append(("messages", 0, "tags"), 1)
    del state["messages", 1]
    assert [{"role": "user", "content": "c", "tags": [1]}] == state.to_dict()["messages"]
