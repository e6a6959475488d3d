import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.domain.state_changes import Change, Verb, applied, between, whole
from tests.journal.states import exact, keys, states, values

State = dict[str, Any]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[State, State]:
    """Draws a state and another one that has much in common with it."""
    old: State = draw(states())
    new: State = copy.deepcopy(old)
    for _ in range(draw(st.integers(0, 3))):
        what = draw(st.sampled_from(["replace", "touch", "drop", "move"]))
        if new and what in {"replace", "touch"}:
            key = draw(st.sampled_from(list(new)))
            new[key] = draw(values) if what == "replace" else _touched(new[key])
        elif new and what == "drop":
            del new[draw(st.sampled_from(list(new)))]
        else:
            new = dict(draw(st.permutations([*new.items(), (draw(keys), draw(values))])))
    return old, new


def _touched(value: Any) -> Any:
    if isinstance(value, list):
        return [*value[1:], "more"]
    return {**value, "more": 1} if isinstance(value, dict) else [value]


@given(pairs())
def test_the_changes_between_two_states_lead_from_one_to_the_other(pair: tuple[State, State]) -> None:
    """They lead there bit for bit, leave the states as they were, and are none if there is no difference."""
    old, new = pair
    before = exact(old), exact(new)
    changes = between(old, new)
    assert exact(new) == exact(applied(copy.deepcopy(old), copy.deepcopy(changes)))
    assert before == (exact(old), exact(new))
    assert (not changes) == (before[0] == before[1])


@given(states(), states())
def test_a_whole_state_is_reached_from_any_other(old: State, new: State) -> None:
    """The changes of a whole state lead to it, whatever was before."""
    assert exact(new) == exact(applied(copy.deepcopy(old), copy.deepcopy(whole(new))))


@given(states(), states())
def test_values_may_be_compared_with_any_others(old: State, new: State) -> None:
    """Two states that have nothing in common are no trouble."""
    assert exact(new) == exact(applied(copy.deepcopy(old), copy.deepcopy(between(old, new))))


def test_a_growing_list_costs_what_is_new() -> None:
    """An item more is one change, a window that slides are two."""
    items = [{"n": number} for number in range(100)]
    assert [Change(Verb.ADD, ("l",), {"n": 99})] == between({"l": items[:99]}, {"l": items})
    slid = [Change(Verb.SKIP, ("l",), 1), Change(Verb.ADD, ("l",), {"n": 99})]
    assert slid == between({"l": items[:99]}, {"l": items[1:]})
    assert [Change(Verb.CUT, ("l",), 3)] == between({"l": items}, {"l": items[:3]})


def test_a_change_deep_inside_is_one_change() -> None:
    """Only what differs is told, at its place."""
    old = {"a": {"b": [1, {"c": 2, "d": 3}], "e": "same"}}
    new = {"a": {"b": [1, {"c": 2, "d": 4}], "e": "same"}}
    assert [Change(Verb.PUT, ("a", "b", 1, "d"), 4)] == between(old, new)
    assert [Change(Verb.DROP, ("a", "e"), None)] == between(old, {"a": {"b": old["a"]["b"]}})


def test_another_order_of_keys_is_a_change() -> None:
    """Keys in another order are written anew, here as a whole, further inside as the part that differs."""
    assert [Verb.CLEAR, Verb.PUT, Verb.PUT] == [each.verb for each in between({"a": 1, "b": 2}, {"b": 2, "a": 1})]
    found = between({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}})
    assert '{"b": 2, "a": 1}' == json.dumps(found[0].value)


@pytest.mark.parametrize(
    "change",
    [
        Change(Verb.PUT, ("a", "b", "c"), 1),
        Change(Verb.PUT, ("l", 9), 1),
        Change(Verb.PUT, ("l", "x"), 1),
        Change(Verb.PUT, ("d", 0), 1),
        Change(Verb.ADD, ("d", 0), 1),
        Change(Verb.DROP, ("d", 0), None),
        Change(Verb.ADD, ("d",), 1),
        Change(Verb.ADD, ("t",), 1),
        Change(Verb.DROP, ("no",), None),
        Change(Verb.DROP, ("l", 9), None),
        Change(Verb.CUT, ("d",), 1),
        Change(Verb.SKIP, ("no",), 1),
        Change(Verb.PUT, (), 1),
    ],
    ids=str,
)
def test_a_change_that_does_not_fit_is_refused(change: Change) -> None:
    """A change of something that is not there, or is something else, raises; a dict never gets an index for a key."""
    state = {"l": [1], "d": {"k": 1}, "t": "text"}
    with pytest.raises((LookupError, TypeError, AttributeError)):
        applied(state, [change])
    assert {"l": [1], "d": {"k": 1}, "t": "text"} == state
