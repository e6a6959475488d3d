from fractions import Fraction
from typing import Any

import pytest

from haytham.domain import numbers
from haytham.domain.errors import InvalidInput
from tests.evidence import label


class Tokens(int):
    """A number of another library's type."""

    def __repr__(self) -> str:
        return "Tokens(…)"


class Seconds(float):
    """A number of another library's type."""

    def __repr__(self) -> str:
        return "Seconds(…)"


@pytest.mark.parametrize("value", [0, 1, numbers.LARGEST])
def test_count_is_returned(value: int) -> None:
    """A whole number from zero on is a count; zero is zero."""
    assert value == numbers.check_count(value, "tokens")


@pytest.mark.parametrize("value", [0, 0.0, 0.0375, 120.5, 1e-300, numbers.LARGEST])
def test_amount_is_returned_with_all_its_digits(value: float) -> None:
    """A finite number from zero on is an amount, not rounded."""
    assert value == numbers.check_amount(value, "cost")


@pytest.mark.parametrize(
    "value", [-1, 1.0, "1", True, None, float("nan"), numbers.LARGEST + 1, 10**5000, -(10**5000)], ids=label
)
def test_what_is_no_count_is_refused(value: object) -> None:
    """A count is a whole number that is not negative, and no truth value."""
    with pytest.raises(InvalidInput, match=r"tokens is .*; a whole number is needed") as caught:
        numbers.check_count(value, "tokens")
    assert "from 0 to" in caught.value.hint


@pytest.mark.parametrize(
    "value",
    [-0.01, float("nan"), float("inf"), -float("inf"), "1.0", True, None, Fraction(1, 2), 1e16, 10**400],
    ids=label,
)
def test_what_is_no_amount_is_refused(value: object) -> None:
    """An amount is finite and not negative."""
    with pytest.raises(InvalidInput, match=r"cost is .*; a finite number is needed") as caught:
        numbers.check_amount(value, "cost")
    assert "from 0 to" in caught.value.hint


@pytest.mark.parametrize(("given", "kind"), [(Tokens(7), int), (Seconds(7.5), float)])
def test_numbers_of_other_libraries_become_plain(given: Any, kind: type) -> None:
    """A subclass of a number, as numerical libraries have them, is taken by its value."""
    assert kind is type(numbers.check_amount(given, "duration"))
    assert given == numbers.check_amount(given, "duration")


def test_unknown_is_none() -> None:
    """Where a figure is optional, None stays None and zero stays zero."""
    assert (numbers.optional_count(None, "tokens"), numbers.optional_amount(None, "cost")) == (None, None)
    assert (numbers.optional_count(0, "tokens"), numbers.optional_amount(0, "cost")) == (0, 0)
