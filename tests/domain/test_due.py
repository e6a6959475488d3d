from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from haytham.domain.due import DEFAULT, Due, Mark
from haytham.domain.errors import InvalidInput

START = datetime(2026, 3, 1, tzinfo=UTC)
NEVER = Due(every_steps=None, every_seconds=None, refresh_seconds=None)


def _mark(step: int = 0, seconds: float = 0) -> Mark:
    return Mark(step=step, time=START + timedelta(seconds=seconds))


def test_default() -> None:
    """By default a snapshot is due after half an hour, whatever the steps, and a refresh after two hours."""
    assert Due(every_steps=None, every_seconds=1800, refresh_seconds=7200) == DEFAULT
    assert DEFAULT.snapshot(_mark(), _mark(10_000, 1799.9)) == ""
    expected = "1800 seconds since the last one, at most 1800 are wanted"
    assert expected == DEFAULT.snapshot(_mark(), _mark(0, 1800))


def test_every_steps() -> None:
    """A snapshot is due as soon as so many steps were made since the last one."""
    due = Due(every_steps=5, every_seconds=None)
    assert due.snapshot(_mark(2), _mark(6)) == ""
    assert due.snapshot(_mark(2), _mark(7)) == "5 steps since the last one, at most 5 are wanted"
    assert due.snapshot(_mark(2), _mark(40)) == "38 steps since the last one, at most 5 are wanted"


def test_either_rule_is_enough() -> None:
    """Steps and seconds do not wait for each other."""
    due = Due(every_steps=5, every_seconds=60)
    assert due.snapshot(_mark(), _mark(5, 1)).startswith("5 steps")
    assert due.snapshot(_mark(), _mark(1, 60)).startswith("60 seconds")
    assert due.snapshot(_mark(), _mark(4, 59)) == ""


def test_first_snapshot_is_due() -> None:
    """While there is nothing to resume from, a snapshot is due."""
    assert DEFAULT.snapshot(None, _mark()) == "there is none yet"


@pytest.mark.parametrize("due", [DEFAULT, NEVER, Due(every_steps=10**6)])
def test_forced_means_forced(due: Due) -> None:
    """A snapshot that was asked for is due, right after the last one and with every rule switched off."""
    assert due.snapshot(_mark(), _mark()) == ""
    assert due.snapshot(_mark(), _mark(), forced=True) == "it was asked for"


def test_switched_off() -> None:
    """Without rules nothing is ever due by itself."""
    assert NEVER.snapshot(_mark(), _mark(10**6, 10**6)) == ""
    assert NEVER.refresh(START, START + timedelta(days=365)) == ""


def test_clock_that_stands_still() -> None:
    """With a clock that does not move, steps still count."""
    assert Due(every_steps=2).snapshot(_mark(1), _mark(3)) != ""


def test_clock_that_was_set_back() -> None:
    """A clock that was set back by a day does not suppress snapshots for a day."""
    assert DEFAULT.snapshot(_mark(0, 100), _mark(1, 40)) == "the clock was set back by 60 seconds"


def test_refresh() -> None:
    """After two hours an agent should go on from a fresh state."""
    assert DEFAULT.refresh(START, START + timedelta(seconds=7199)) == ""
    expected = "7200 seconds since the start, at most 7200 are wanted"
    assert expected == DEFAULT.refresh(START, START + timedelta(seconds=7200))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"every_steps": 0}, "every_steps is 0"),
        ({"every_steps": 1.5}, "every_steps is 1.5"),
        ({"every_seconds": -1}, "every_seconds is -1"),
        ({"refresh_seconds": float("inf")}, "refresh_seconds is inf"),
    ],
)
def test_bad_figures_are_refused(changes: dict[str, Any], message: str) -> None:
    """A policy that makes no sense is refused when it is made."""
    with pytest.raises(InvalidInput, match=message):
        Due(**changes)
