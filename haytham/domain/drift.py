"""Signs that an agent drifts: detectors that look at what it did, each reason with its figures.

A detector is any callable over a `History`, so a caller's own is used like those of this module.
Whether a reason halts the agent is the guard's decision: `remedy` says what helps.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any

from haytham.domain.due import REFRESH_SECONDS


class Remedy(StrEnum):
    """What helps an agent that drifts: a fresh context, or a look by somebody else."""

    REFRESH = "refresh"
    HALT = "halt"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """One sign of drift: who saw it, the figure, the threshold that it passed, and a sentence."""

    detector: str
    figure: float
    threshold: float
    sentence: str
    remedy: Remedy = Remedy.HALT


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One cycle of an agent; `call` is equal for the same action with the same arguments.

    `advanced` is None if nobody knows whether the cycle brought the work forward.
    """

    action: str
    arguments: Any
    call: str
    ok: bool
    advanced: bool | None
    time: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What is known of an agent since its start: the newest observations, and figures about all of them.

    The figures about progress count from the last cycle that made some, or from the first that could have.
    """

    recent: Sequence[Observation]
    started: datetime
    now: datetime
    cycles: int = 0
    stalled_cycles: int = 0
    stalled_since: datetime | None = None

    def newest_first(self) -> Iterator[Observation]:
        """Goes through the observations from the newest on."""
        return reversed(self.recent)


Detector = Callable[[History], Iterable[Reason]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CycleCount:
    """Notices that an agent went through more cycles than its context bears."""

    above: int = 300

    def __call__(self, history: History) -> Iterator[Reason]:
        """Yields a reason if there were too many cycles."""
        if history.cycles > self.above:
            words = f"{history.cycles} cycles since the start, more than {self.above}."
            yield Reason(
                detector="cycle_count",
                figure=history.cycles,
                threshold=self.above,
                sentence=words,
                remedy=Remedy.REFRESH,
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionAge:
    """Notices that an agent has been at work for too long."""

    seconds: float = REFRESH_SECONDS

    def __call__(self, history: History) -> Iterator[Reason]:
        """Yields a reason if the start is too long ago."""
        age = (history.now - history.started).total_seconds()
        if age > self.seconds:
            words = f"{age:g} seconds since the start, more than {self.seconds:g}."
            yield Reason(
                detector="session_age", figure=age, threshold=self.seconds, sentence=words, remedy=Remedy.REFRESH
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorRate:
    """Notices that too many of the last cycles failed; fewer cycles than the window tell nothing."""

    window: int = 20
    above: float = 0.5

    def __call__(self, history: History) -> Iterator[Reason]:
        """Yields a reason if the share of failures in a full window is too high."""
        newest = list(islice(history.newest_first(), self.window))
        errors = sum(not each.ok for each in newest)
        if newest and len(newest) == self.window and errors / self.window > self.above:
            words = f"{errors} of the last {self.window} cycles failed, more than {self.above:.0%}."
            yield Reason(detector="error_rate", figure=errors / self.window, threshold=self.above, sentence=words)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedActions:
    """Notices a loop: the same calls again and again, alone or taking turns, without known progress."""

    times: int = 5
    longest: int = 3

    def __call__(self, history: History) -> Iterator[Reason]:
        """Yields a reason for the shortest loop that the last cycles are in."""
        for length in range(1, self.longest + 1):
            rounds = _rounds(history, length)
            if rounds >= self.times:
                newest = list(islice(history.newest_first(), length))
                names = ", ".join(each.action for each in reversed(newest))
                words = f"{names} with the same arguments {rounds} times in a row, {self.times} are a loop."
                yield Reason(detector="repeated_actions", figure=rounds, threshold=self.times, sentence=words)
                return


@dataclass(frozen=True, kw_only=True, slots=True)
class StalledActions:
    """Notices that the work does not move; needs cycles that tell their progress."""

    cycles: int | None = 50
    seconds: float | None = 3600

    def __call__(self, history: History) -> Iterator[Reason]:
        """Yields a reason for too many cycles without progress, and one for too long a time."""
        if history.stalled_since is None:
            return
        if self.cycles is not None and history.stalled_cycles > self.cycles:
            words = f"{history.stalled_cycles} cycles without progress, more than {self.cycles}."
            yield Reason(
                detector="stalled_cycles", figure=history.stalled_cycles, threshold=self.cycles, sentence=words
            )
        age = (history.now - history.stalled_since).total_seconds()
        if self.seconds is not None and age > self.seconds:
            words = f"{age:g} seconds without progress, more than {self.seconds:g}."
            yield Reason(detector="stalled_time", figure=age, threshold=self.seconds, sentence=words)


DEFAULT: tuple[Detector, ...] = (CycleCount(), SessionAge(), ErrorRate(), RepeatedActions(), StalledActions())


def _rounds(history: History, length: int) -> int:
    """Counts how often the last calls have gone round; a cycle that made progress is in no loop."""
    newest = list(islice(history.newest_first(), length))
    same = 0
    for place, each in enumerate(history.newest_first()):
        if each.advanced or each.call != newest[place % length].call:
            break
        same += 1
    return same // length
