from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.domain.errors import InvalidInput
from haytham.domain.journal_entry import Entry, EntryKind
from haytham.domain.retention import DEFAULT, Retention, Verdict, retention_of, verdicts

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROUTINE, OPERATION, RECOVERY = EntryKind.ROUTINE, EntryKind.PRE_OPERATION, EntryKind.RECOVERY


def _entry(number: int, kind: EntryKind = ROUTINE, *, age: timedelta = timedelta(), **more: Any) -> Entry:
    return Entry(id=_id(number), number=number, agent="writer", timestamp=NOW - age, step=number, kind=kind, **more)


def _id(number: int) -> str:
    return f"{number:08x}"


def _landmarks(count: int, names: int) -> list[Entry]:
    return [_entry(number, name=f"n{number % names}") for number in range(count)]


def _kept(judged: Sequence[Verdict]) -> list[int]:
    return [verdict.entry.number for verdict in judged if verdict.stays]


def _reasons(judged: Sequence[Verdict]) -> list[str]:
    return [verdict.reason for verdict in judged]


def test_nothing_is_judged_of_an_empty_journal() -> None:
    """An empty journal has no verdicts."""
    assert verdicts([], DEFAULT, NOW) == ()


def test_default() -> None:
    """By default: 3 routine entries, 7 days of recoveries, thinning above 50 to the last 20, never more than 100."""
    assert Retention(routine=3, until_success=True, recovery_days=7, thin_above=50, recent=20, limit=100) == DEFAULT


def test_routine_keeps_the_last_three() -> None:
    """Of routine entries without a name the newest three stay, and each verdict says why."""
    judged = verdicts([_entry(number) for number in range(5)], DEFAULT, NOW)
    assert _reasons(judged) == [
        "it is not of the last 3 routine entries",
        "it is not of the last 3 routine entries",
        "it is of the last 3 routine entries",
        "it is of the last 3 routine entries",
        "it is the newest of all",
    ]
    assert _kept(judged) == [2, 3, 4]


def test_name_makes_a_landmark() -> None:
    """An entry with a name does not count as one of the last three, and outlives them."""
    entries = [_entry(0, name="day1"), *(_entry(number) for number in range(1, 6))]
    judged = verdicts(entries, DEFAULT, NOW)
    assert _kept(judged) == [0, 3, 4, 5]
    assert judged[0].reason == "there are not too many"


def test_pre_operation_stays_until_its_operation_has_succeeded() -> None:
    """An operation that went well frees its own rollback point, and no other."""
    entries = [_entry(0, OPERATION, name="deploy"), _entry(1, OPERATION, name="deploy")]
    assert _kept(verdicts([*entries, _entry(2)], DEFAULT, NOW)) == [0, 1, 2]
    judged = verdicts([*entries, _entry(2, succeeded=_id(0))], DEFAULT, NOW)
    assert _kept(judged) == [1, 2]
    assert _reasons(judged)[:2] == [
        "its operation has succeeded",
        "its operation has not succeeded yet",
    ]


def test_succeeded_operations_may_stay() -> None:
    """Who wants to keep the rollback points of what went well, may."""
    entries = [_entry(0, OPERATION), _entry(1), _entry(2, succeeded=_id(0))]
    assert _kept(verdicts(entries, DEFAULT, NOW)) == [1, 2]
    assert _kept(verdicts(entries, Retention(until_success=False), NOW)) == [0, 1, 2]


def test_recovery_stays_seven_days() -> None:
    """Seven days to the second; then it goes."""
    second = timedelta(seconds=1)
    entries = [_entry(0, RECOVERY, age=timedelta(days=7) + second), _entry(1, RECOVERY, age=timedelta(days=7))]
    judged = verdicts([*entries, _entry(2)], DEFAULT, NOW)
    assert _kept(judged) == [1, 2]
    assert _reasons(judged)[:2] == ["a recovery stays for 7 days"] * 2
    assert _kept(verdicts([*entries, _entry(2)], Retention(recovery_days=None), NOW)) == [0, 1, 2]


def test_recovery_from_the_future_stays() -> None:
    """A clock that was set back removes nothing."""
    assert _kept(verdicts([_entry(0, RECOVERY, age=timedelta(days=-30)), _entry(1)], DEFAULT, NOW)) == [0, 1]


def test_thinning_begins_above_the_threshold() -> None:
    """Fifty landmarks all stay; of fifty-one the first, the newest of each name and the last twenty stay."""
    assert _kept(verdicts(_landmarks(50, names=1), DEFAULT, NOW)) == list(range(50))
    entries = [_entry(0, name="start"), *(_entry(n, name="a" if n < 10 else "b") for n in range(1, 51))]
    judged = verdicts(entries, DEFAULT, NOW)
    assert _kept(judged) == [0, 9, *range(31, 51)]
    assert [judged[place].reason for place in (0, 8, 9, 31, 50)] == [
        "it is the first",
        "51 are more than 50, and a newer one of its name stays",
        "it is the newest of its name",
        "it is of the last 20",
        "it is the newest of all",
    ]


def test_thinning_spares_what_its_kind_keeps() -> None:
    """An open operation and a young recovery are no landmarks: thinning leaves them."""
    entries = [_entry(0, name="a"), _entry(1, OPERATION, name="a"), _entry(2, RECOVERY, name="a")]
    entries += [_entry(number, name="a") for number in range(3, 60)]
    assert _kept(verdicts(entries, DEFAULT, NOW)) == [0, 1, 2, *range(40, 60)]


def test_limit_is_enforced_whatever_the_names() -> None:
    """A hundred names cannot be thinned away, and yet no more than the limit stay: the newest."""
    judged = verdicts(_landmarks(130, names=130), DEFAULT, NOW)
    assert _kept(judged) == list(range(30, 130))
    assert judged[0].reason == "130 are more than the limit of 100"


def test_limit_goes_before_every_other_promise() -> None:
    """Open operations without end do not break the limit either."""
    assert _kept(verdicts([_entry(n, OPERATION) for n in range(200)], Retention(limit=5), NOW)) == [*range(195, 200)]


@pytest.mark.parametrize("kind", EntryKind)
def test_newest_of_all_stays(kind: EntryKind) -> None:
    """What one resumes from stays, whatever the rules say."""
    retention = Retention(routine=0, recovery_days=0, thin_above=0, recent=0, limit=1)
    entries = [_entry(0, kind), _entry(1, kind, age=timedelta(days=99))]
    judged = verdicts(entries, retention, NOW)
    assert _kept(judged) == [1]
    assert judged[1].reason == "it is the newest of all"


def test_order_counts_and_not_the_clock() -> None:
    """With a clock that stands still or runs backwards the same entries stay."""
    still = [_entry(number) for number in range(6)]
    backwards = [_entry(number, age=timedelta(hours=number)) for number in range(6)]
    assert _kept(verdicts(still, DEFAULT, NOW)) == _kept(verdicts(backwards, DEFAULT, NOW)) == [3, 4, 5]


KINDS = st.sampled_from(EntryKind)
BOUNDS = st.none() | st.integers(0, 8)


@given(
    rows=st.lists(st.tuples(KINDS, st.sampled_from(["", "a", "b", "c"]), st.integers(0, 20), BOUNDS), max_size=30),
    retention=st.builds(
        Retention,
        routine=BOUNDS,
        until_success=st.booleans(),
        recovery_days=BOUNDS,
        thin_above=BOUNDS,
        recent=st.integers(0, 8),
        limit=st.none() | st.integers(1, 8),
    ),
)
def test_laws(rows: list[tuple[EntryKind, str, int, int | None]], retention: Retention) -> None:
    """Every entry is judged once, in order; the newest stays, the limit holds, and a second cleanup removes nothing."""
    entries = [
        _entry(number, kind, name=name, age=timedelta(days=age), succeeded=None if done is None else _id(done))
        for number, (kind, name, age, done) in enumerate(rows)
    ]
    judged = verdicts(entries, retention, NOW)
    assert [verdict.entry for verdict in judged] == entries
    assert all(verdict.reason for verdict in judged)
    left = [verdict.entry for verdict in judged if verdict.stays]
    assert left[-1:] == entries[-1:]
    assert retention.limit is None or len(left) <= retention.limit
    again = [verdict.entry for verdict in verdicts(left, retention, NOW) if verdict.stays]
    assert again == left


def test_retention_of() -> None:
    """Plain data becomes a retention; what is not named keeps its default."""
    assert retention_of({"routine": 5, "recovery_days": 1.5}) == Retention(routine=5, recovery_days=1.5)
    assert retention_of({}) == DEFAULT


def test_retention_of_an_unknown_field() -> None:
    """A slip of the fingers is named, with what was probably meant."""
    with pytest.raises(InvalidInput, match="retention has no 'routin'") as caught:
        retention_of({"routin": 5})
    assert caught.value.hint.startswith('did you mean "routine"?')


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"routine": -1}, "routine is -1"),
        ({"routine": True}, "routine is True"),
        ({"routine": 1.5}, "routine is 1.5"),
        ({"recovery_days": float("nan")}, "recovery_days is nan"),
        ({"recent": None}, "recent is None"),
        ({"thin_above": "50"}, "thin_above is '50'"),
        ({"until_success": 1}, "until_success is 1"),
        ({"limit": 0}, "limit is 0; the newest entry always stays"),
    ],
)
def test_bad_figures_are_refused(changes: dict[str, Any], message: str) -> None:
    """A retention that makes no sense is refused when it is made."""
    with pytest.raises(InvalidInput, match=message):
        Retention(**changes)
