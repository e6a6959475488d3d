import json
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.domain.errors import InvalidInput
from haytham.domain.json_data import DEEPEST, copy_of, same
from tests.journal.states import values


class Word(StrEnum):
    """A text by another type."""

    ONE = "one"


class Number(IntEnum):
    """A number by another type."""

    ONE = 1


def nested(levels: int) -> Any:
    """Returns lists inside each other."""
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@given(values)
def test_a_copy_is_the_same_json_and_shares_nothing(value: Any) -> None:
    """A copy has the same JSON text, is the same, and can be read back as such."""
    copied = copy_of(value, "it")
    assert json.dumps(value) == json.dumps(copied)
    assert same(value, copied)
    assert same(copied, json.loads(json.dumps(copied)))


@given(values, values)
def test_the_same_is_what_has_the_same_json(left: Any, right: Any) -> None:
    """Two values are the same exactly if their JSON texts are."""
    assert same(left, right) == (json.dumps(left) == json.dumps(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (0, None), ("1", 1), ([], {}), ([1], [1, 1])],
)
def test_alike_is_not_the_same(left: object, right: object) -> None:
    """What Python takes for equal, or nearly, differs."""
    assert not same(left, right)
    assert not same([left], [right])
    assert not same({"a": left}, {"a": right})


def test_the_order_of_keys_counts() -> None:
    """Two orders of the same keys differ."""
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})


def test_a_copy_shares_nothing_mutable() -> None:
    """Changing the original leaves the copy as it was."""
    original: dict[str, Any] = {"a": [{"b": 1}]}
    copied = copy_of(original, "it")
    original["a"][0]["b"] = 2
    original["a"].append(3)
    assert {"a": [{"b": 1}]} == copied


def test_other_kinds_of_containers_and_words_become_plain() -> None:
    """A tuple becomes a list, a view a dict, a member of an enum what it stands for, keys as well."""
    copied = copy_of(MappingProxyType({Word.ONE: (Word.ONE, Number.ONE)}), "it")
    assert '{"one": ["one", 1]}' == json.dumps(copied)
    assert [str, str, int] == [type(each) for each in (*copied, *copied["one"])]


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        {1, 2},
        b"bytes",
        object(),
        {1: 2},
        {None: 2},
        "\ud800",
        {"\udfff": 1},
        2**4097,
        -(10**5000),
        [2**5000],
        complex(1, 2),
        lambda: None,
        nested(DEEPEST + 1),
        Number,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_does_not_know_is_refused(value: object) -> None:
    """Anything else is refused by name, wherever it stands."""
    with pytest.raises(InvalidInput, match="it"):
        copy_of(value, "it")
    with pytest.raises(InvalidInput, match=r"it\.a"):
        copy_of({"a": value}, "it")


def test_the_deepest_data_pass() -> None:
    """What is just not too deep passes, wherever it is put."""
    assert nested(DEEPEST) == copy_of(nested(DEEPEST), "it")
    assert nested(DEEPEST - 3) == copy_of(nested(DEEPEST - 3), "it", 3)
    with pytest.raises(InvalidInput, match="nested"):
        copy_of(nested(DEEPEST - 3), "it", 4)


@given(st.integers(-(2**4096) + 1, 2**4096 - 1))
def test_numbers_that_pass_can_be_written(number: int) -> None:
    """Every number that passes can be written as text and read back."""
    assert number == json.loads(json.dumps(copy_of(number, "it")))
