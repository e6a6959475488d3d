"""A desk for every test of reviews, on a disk that does not hold them up: what a power cut does is tested elsewhere."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.review.desk import FAST, Desk


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        yield Path(folder)


@pytest.fixture
def base(in_memory: Path) -> Path:
    """A base folder that does not exist yet."""
    return in_memory / "projects"


@pytest.fixture
def desk(base: Path) -> Desk:
    """A fresh session whose first two phases require a review, the second by two people, one of them legal."""
    return Desk(base)
