"""Gathers what an agent does, cycle by cycle, for the detectors of drift to judge."""

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from haytham.domain import drift
from haytham.domain.drift import Detector, History, Observation, Reason, Remedy
from haytham.domain.errors import InvalidInput
from haytham.domain.json_data import copy_of
from haytham.domain.numbers import check_amount, check_count

_MEMORY = 200  # observations that detectors can look at; the figures go back to the start
_FIGURES = 5  # of progress: one of these again is none; more would take the percentages of the next task for old ones


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftReport:
    """What the detectors found at one time; without reasons, all is well."""

    cycles: int
    time: datetime
    reasons: tuple[Reason, ...] = ()

    @property
    def is_drifting(self) -> bool:
        """Whether any detector found a reason."""
        return bool(self.reasons)

    def needing(self, remedy: Remedy) -> tuple[Reason, ...]:
        """Returns the reasons that one remedy helps against."""
        return tuple(reason for reason in self.reasons if reason.remedy is remedy)

    def __str__(self) -> str:
        return " ".join(reason.sentence for reason in self.reasons)


class DriftMonitor:
    """Is told of every cycle, reports what the detectors see.

    Memory is bounded: it keeps the newest observations, and for all others figures only.
    """

    def __init__(
        self, started: datetime, detectors: Iterable[Detector] = drift.DEFAULT, *, memory: int = _MEMORY
    ) -> None:
        self._detectors = tuple(detectors)
        self._memory = check_count(memory, "memory")
        self.restart(started)

    def restart(self, started: datetime) -> None:
        """Forgets everything, as for an agent that goes on from a fresh state."""
        self._started = started
        self._recent: deque[Observation] = deque(maxlen=self._memory)
        self._cycles = 0
        self._stalled_cycles = 0
        self._stalled_since: datetime | None = None
        self._figures: deque[float] = deque(maxlen=_FIGURES)

    def observe(
        self,
        action: str,
        arguments: object = None,
        *,
        time: datetime,
        ok: bool = True,
        progress: bool | float | None = None,
    ) -> Observation:
        """Takes one cycle in; raises InvalidInput for arguments that are no JSON data.

        `progress` says whether the cycle brought the work forward, or how far the work is now, in any unit: a figure
        that is none of the last five different ones is progress. None says that nobody knows.
        """
        if not isinstance(action, str) or not action:
            raise InvalidInput(f"action is {action!r}; a name is needed.", hint="pass the name of the tool or task.")
        data = copy_of(arguments, "arguments")
        seen = Observation(
            action=action,
            arguments=data,
            call=_call(action, data),
            ok=ok,
            advanced=self._has_advanced(progress),
            time=time,
        )
        self._cycles += 1
        self._recent.append(seen)
        self._count_progress(seen)
        return seen

    def history(self, now: datetime) -> History:
        """Returns what the detectors look at."""
        return History(
            recent=self._recent,
            started=self._started,
            now=now,
            cycles=self._cycles,
            stalled_cycles=self._stalled_cycles,
            stalled_since=self._stalled_since,
        )

    def report(self, now: datetime) -> DriftReport:
        """Asks every detector; changes nothing."""
        history = self.history(now)
        reasons = tuple(reason for detector in self._detectors for reason in detector(history))
        return DriftReport(cycles=self._cycles, time=now, reasons=reasons)

    def _has_advanced(self, progress: bool | float | None) -> bool | None:
        """Tells whether this is progress: going back and forth between the same figures is none."""
        if progress is None or isinstance(progress, bool):
            return progress
        figure = check_amount(progress, "progress")
        is_new = figure not in self._figures
        if not is_new:
            self._figures.remove(figure)
        self._figures.append(figure)
        return is_new

    def _count_progress(self, seen: Observation) -> None:
        if seen.advanced is None:
            return
        if seen.advanced or self._stalled_since is None:
            self._stalled_since = seen.time
            self._stalled_cycles = 0
        if not seen.advanced:
            self._stalled_cycles += 1


def _call(action: str, arguments: Any) -> str:
    text = json.dumps([action, arguments], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode("utf-8")).hexdigest()
