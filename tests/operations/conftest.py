"""A desk with three phases done, beside which operations are tried."""

import pytest

from tests.review.conftest import base, desk, in_memory
from tests.review.desk import Desk

__all__ = ["base", "desk", "done", "in_memory"]


@pytest.fixture
def done(desk: Desk) -> Desk:
    """A session whose three phases are completed and, where that is required, approved."""
    for number in (1, 2, 3):
        desk.run(number, f"text {number}")
        desk.approve_all(number)
    return desk
