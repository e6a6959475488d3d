from datetime import UTC, datetime, timedelta, timezone

import pytest

from haytham.domain import instants
from haytham.domain.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("2024-11-24T10:00:00Z", "2024-11-24T10:00:00Z"),
        ("2024-11-24T10:00:00+00:00", "2024-11-24T10:00:00Z"),
        ("2024-11-24T12:00:00+02:00", "2024-11-24T10:00:00Z"),
        ("2024-11-24T10:00:00.123456Z", "2024-11-24T10:00:00.123456Z"),
        ("20241124T100000Z", "2024-11-24T10:00:00Z"),
        (datetime(2024, 11, 24, 12, tzinfo=timezone(timedelta(hours=2))), "2024-11-24T10:00:00Z"),
    ],
)
def test_one_instant_is_written_one_way(given: object, canonical: str) -> None:
    """Whatever form a time comes in, it is written in UTC with Z."""
    assert canonical == instants.canonical(given, "started")


def test_none_is_no_time() -> None:
    """A time that is not known stays unknown."""
    assert instants.canonical(None, "started") is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2024-11-24",
        "2024-11-24T10:00:00",
        "2024-11-24T25:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        datetime(2024, 11, 24),  # noqa: DTZ001 - a time without zone is what is refused
        1732442400,
        b"2024-11-24T10:00:00Z",
        True,
    ],
)
def test_what_is_no_instant_is_refused(value: object) -> None:
    """Dates that are none, and times without a zone, are refused with an example."""
    with pytest.raises(InvalidInput, match="started is ") as caught:
        instants.canonical(value, "started")
    assert "2026-01-31T10:00:00Z" in caught.value.hint


def test_present_is_aware() -> None:
    """The clock that managers use by default tells UTC."""
    before = datetime.now(UTC)
    now = instants.utc_now()
    assert before <= now <= datetime.now(UTC)
    assert UTC is now.tzinfo
