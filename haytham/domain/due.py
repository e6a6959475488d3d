"""When a snapshot of an agent's state is due: after so many steps, after so long, or because it was asked for."""

from dataclasses import dataclass
from datetime import datetime

from haytham.domain.errors import InvalidInput
from haytham.domain.numbers import optional_amount, optional_count

ROUTINE_SECONDS = 1800
REFRESH_SECONDS = 7200


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A point of an agent's work: its step, and the time."""

    step: int
    time: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """How often a snapshot is taken, and after how many seconds an agent goes on from a fresh state.

    None switches a rule off. Raises InvalidInput for what is no number, and for 0 steps.
    """

    every_steps: int | None = None
    every_seconds: float | None = ROUTINE_SECONDS
    refresh_seconds: float | None = REFRESH_SECONDS

    def __post_init__(self) -> None:
        if optional_count(self.every_steps, "every_steps") == 0:
            raise InvalidInput("every_steps is 0.", hint="use 1 for every step, or None for no such rule.")
        optional_amount(self.every_seconds, "every_seconds")
        optional_amount(self.refresh_seconds, "refresh_seconds")

    def snapshot(self, last: Mark | None, present: Mark, *, forced: bool = False) -> str:
        """Returns why a snapshot is due now, or an empty text; `last` is the mark of the newest one, if there is one.

        Forced means forced: nothing else is asked. A clock that was set back makes one due, because nobody can tell
        how long the last one is ago.
        """
        if forced:
            return "it was asked for"
        if last is None:
            return "there is none yet"
        if self.every_steps is not None and present.step - last.step >= self.every_steps:
            return f"{present.step - last.step} steps since the last one, at most {self.every_steps} are wanted"
        if self.every_seconds is None:
            return ""
        return _elapsed((present.time - last.time).total_seconds(), self.every_seconds)

    def refresh(self, started: datetime, now: datetime) -> str:
        """Returns why an agent that started then should go on from a fresh state, or an empty text."""
        age = (now - started).total_seconds()
        if self.refresh_seconds is None or age < self.refresh_seconds:
            return ""
        return f"{age:g} seconds since the start, at most {self.refresh_seconds:g} are wanted"


DEFAULT = Due()


def _elapsed(seconds: float, allowed: float) -> str:
    if seconds < 0:
        return f"the clock was set back by {-seconds:g} seconds"
    if seconds < allowed:
        return ""
    return f"{seconds:g} seconds since the last one, at most {allowed:g} are wanted"
