"""A desk for every test of reviews."""

from pathlib import Path

import pytest

from tests.review.desk import Desk


@pytest.fixture
def desk(base: Path) -> Desk:
    """A fresh session whose first two phases require a review, the second by two people, one of them legal."""
    return Desk(base)
