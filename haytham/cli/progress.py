"""A bar for people who wait: how far work is that lasts longer than a moment."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from haytham.domain.headway import OnProgress

_MOMENT = 0.5  # seconds
_PAUSE = 0.1


@contextmanager
def shown(text: str, *, as_json: bool) -> Iterator[OnProgress]:
    """Shows how far the work is that is done meanwhile, and takes the bar away again; hands out what to tell it.

    It is on standard error, and only if that is a terminal; never with `--json`.
    """
    if as_json or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    bar = _Bar(text)
    thread = threading.Thread(target=bar.run, daemon=True)
    thread.start()
    try:
        yield bar.tell
    finally:
        bar.is_over.set()
        thread.join()


class _Bar:
    """The bar, drawn by a thread of its own, so that it moves while a step takes long."""

    def __init__(self, text: str) -> None:
        self.is_over = threading.Event()
        self._text = text
        self._told: tuple[int, int | None] = (0, None)

    def tell(self, done: int, total: int) -> None:
        """Notes how far the work is."""
        self._told = (done, total)

    def run(self) -> None:
        """Waits a moment, then draws until the work is over."""
        if self.is_over.wait(_MOMENT):
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as drawn:
            task = drawn.add_task(self._text, total=None)
            while True:
                done, total = self._told
                drawn.update(task, completed=done, total=total or None, refresh=True)
                if self.is_over.wait(_PAUSE):
                    return
