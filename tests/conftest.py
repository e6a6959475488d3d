"""Shared by all tests: managers on an empty base folder, with a clock and ids of their own."""

from pathlib import Path

import pytest

from haytham import CheckpointManager, ProjectManager
from haytham.storage.history import Person
from tests.evidence import PROJECT, SESSION, USER, Clock, Ids

REVIEWER = Person(name="Rea Viewer", email="rea@example.org")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base folder that does not exist yet."""
    return tmp_path / "projects"


@pytest.fixture
def clock() -> Clock:
    """A clock that goes on by one second with each question."""
    return Clock()


@pytest.fixture
def manager(base: Path, clock: Clock) -> CheckpointManager:
    """A checkpoint manager whose reviewer is known."""
    return CheckpointManager(base, clock=clock, lock_timeout=5, identity=lambda: REVIEWER)


@pytest.fixture
def folder(manager: CheckpointManager) -> Path:
    """The folder of a fresh session."""
    return manager.create_session(PROJECT, SESSION, USER)


@pytest.fixture
def projects(base: Path, clock: Clock) -> ProjectManager:
    """A project manager with ids that count."""
    return ProjectManager(base, clock=clock, new_id=Ids(), lock_timeout=5)
