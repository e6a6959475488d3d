"""Which sessions go when a project is tidied up."""

from datetime import UTC, datetime

import pytest

from haytham import InvalidInput
from haytham.domain.session_retention import Candidate, chosen, rule

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def _made(name: str, day: int, status: str = "completed", size: int = 10) -> Candidate:
    return Candidate(session_id=name, status=status, last_updated=f"2026-01-{day:02d}T00:00:00Z", bytes=size)


SESSIONS = [_made("a", 1), _made("b", 11, "failed", 99), _made("c", 21, size=99), _made("d", 30, "in_progress")]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((["completed"], None, None, None), ["a", "c"]),
        ((["failed", "in_progress"], None, None, None), ["b", "d"]),
        ((None, 5, None, None), ["a", "c"]),
        ((None, 10, None, None), ["a"]),
        ((["completed", "failed"], None, 50, None), ["b", "c"]),
        ((["completed", "failed", "in_progress"], None, None, 2), ["a", "b"]),
        ((None, None, None, 9), []),
        ((None, 0, 50, 1), ["c"]),
    ],
)
def test_all_of_a_rule_applies(given: tuple[object, ...], expected: list[str]) -> None:
    """A session goes if every part of the rule applies; those changed last stay, in progress only goes if named."""
    assert list(chosen(SESSIONS, rule(*given), NOW)) == expected


def test_reasons() -> None:
    """Why a session goes is said with its figures."""
    told = chosen(SESSIONS, rule(["failed"], 7, 50, 1), NOW)
    assert told == {"b": "failed, unchanged for 20.0 days, 99 bytes, not one of the newest 1"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, None, None), "nothing says which sessions go."),
        (("completed", None, None, None), "statuses is 'completed'; a list is needed."),
        ((["done"], None, None, None), "status is 'done'."),
        ((None, -1, None, None), "older_than_days is -1"),
        ((None, None, None, True), "keep is True"),
    ],
)
def test_refused(given: tuple[object, ...], message: str) -> None:
    """A rule that says nothing, or something else, is refused."""
    with pytest.raises(InvalidInput) as caught:
        rule(*given)
    assert caught.value.message.startswith(message)
