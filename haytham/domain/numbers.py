"""Checks of the figures that callers hand in."""

import math

from haytham.domain.errors import InvalidInput


def check_count(value: object, what: str) -> int:
    """Returns a whole number that is not negative; raises InvalidInput otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} is {value!r}; a whole number that is not negative is needed.")
    return value


def check_amount(value: object, what: str) -> float:
    """Returns a finite number that is not negative; raises InvalidInput otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise InvalidInput(f"{what} is {value!r}; a finite number that is not negative is needed.")
    return value


def optional_count(value: object, what: str) -> int | None:
    """Returns None for None, else what `check_count` returns."""
    return None if value is None else check_count(value, what)


def optional_amount(value: object, what: str) -> float | None:
    """Returns None for None, else what `check_amount` returns."""
    return None if value is None else check_amount(value, what)
