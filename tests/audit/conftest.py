"""A desk to audit."""

from pathlib import Path

import pytest

from tests.review.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A session with every kind of gate."""
    return Desk(tmp_path / "projects")
