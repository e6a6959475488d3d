"""The steps of work that may take long, told as they are done."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
OnProgress = Callable[[int, int], object]
"""Is called with how many steps are done, and how many there are: at first, and after each one."""


class Headway:
    """Counts steps, and tells each of them to whoever wants to know."""

    def __init__(self, total: int, on_progress: OnProgress | None = None) -> None:
        self._total = total
        self._done = 0
        self._on_progress = on_progress
        self._tell()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yields things to be done, one step each."""
        for each in items:
            yield each
            self._done += 1
            self._tell()

    def _tell(self) -> None:
        if self._on_progress is not None:
            self._on_progress(self._done, self._total)
