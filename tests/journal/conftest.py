from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haytham.journal.journal import Journal
from haytham.journal.journals import Journals


class Watch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Tells the time."""
        return self.now

    def move(self, seconds: float) -> datetime:
        """Lets time pass, and tells the time then."""
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture
def watch() -> Watch:
    """The clock of the journals and of their guards."""
    return Watch()


@pytest.fixture
def reopen(tmp_path: Path, watch: Watch) -> Callable[..., Journals]:
    """Opens the journals as another process would: from the disk."""
    return lambda: Journals(tmp_path / "journal", tmp_path / "notes", "s-1", clock=watch)


@pytest.fixture
def journals(reopen: Callable[[], Journals]) -> Journals:
    """The journals of a phase."""
    return reopen()


@pytest.fixture
def journal(journals: Journals) -> Journal:
    """An empty journal."""
    return journals.journal("writer")
