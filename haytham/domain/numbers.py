"""Checks of the figures that callers hand in."""

from haytham.domain.errors import InvalidInput

LARGEST = 10**15  # a larger figure is a slip, and would lose digits on its way through sums and readers
_HINT = f"use a number from 0 to {LARGEST:,}, or None where it is not known."


def check_count(value: object, what: str) -> int:
    """Returns a whole number that is not negative; raises InvalidInput otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise InvalidInput(f"{what} is {_shown(value)}; a whole number is needed.", hint=_HINT)
    return int(value)


def check_amount(value: object, what: str) -> float:
    """Returns a finite number that is not negative, of a plain type; raises InvalidInput otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST:
        raise InvalidInput(f"{what} is {_shown(value)}; a finite number is needed.", hint=_HINT)
    return int(value) if isinstance(value, int) else float(value)


def optional_count(value: object, what: str) -> int | None:
    """Returns None for None, else what `check_count` returns."""
    return None if value is None else check_count(value, what)


def optional_amount(value: object, what: str) -> float | None:
    """Returns None for None, else what `check_amount` returns."""
    return None if value is None else check_amount(value, what)


def _shown(value: object) -> str:
    return "a number of more than 30 digits" if isinstance(value, int) and abs(value) > LARGEST**2 else repr(value)
