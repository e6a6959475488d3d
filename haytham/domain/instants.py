"""Points in time: aware UTC inside, ISO 8601 with Z in text."""

from collections.abc import Callable
from datetime import UTC, datetime

from haytham.domain.errors import InvalidInput

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Returns the present: the clock that a manager uses unless it is given another."""
    return datetime.now(UTC)


def text_of(instant: datetime) -> str:
    """Writes an instant so that it parses everywhere and loses nothing; compare instants, not their texts."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse(value: object, what: str) -> datetime:
    """Reads an ISO 8601 text or takes a datetime; raises InvalidInput if it is none or has no time zone."""
    hint = "use ISO 8601 with a time zone, for example 2026-01-31T10:00:00Z."
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(f"{what} is {value!r}, which is no date and time.", hint=hint) from None
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} is {value!r}, which is no date and time.", hint=hint)
    if value.tzinfo is None:
        raise InvalidInput(f"{what} is {value.isoformat()}, which has no time zone.", hint=hint)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{what} is {value.isoformat()}, which has no counterpart in UTC.", hint=hint) from None


def canonical(value: object, what: str) -> str | None:
    """Returns the one way in which we write this time, or None for None."""
    return None if value is None else text_of(parse(value, what))
