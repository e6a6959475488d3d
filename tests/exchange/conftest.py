"""A session with everything that can be in one: reviews, a retry, journals, edits that nobody committed."""

from pathlib import Path

import pytest

from haytham import CheckpointManager
from tests.evidence import PROJECT, SESSION, USER, Clock

AT = (PROJECT, SESSION)


def fill(manager: CheckpointManager) -> Path:
    """Makes the session; returns its folder."""
    folder = manager.create_session(*AT, USER)
    _complete(manager, 1, "concept_expansion", "# Concept\n\nA *night desk*.\n", cost=0.0375)
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True, comments="good")
    _complete(manager, 2, "market_intelligence", "First attempt")
    manager.save_user_feedback(
        *AT, 2, reviewed=True, approved=False, action="retry_with_changes", requested_changes=["name your sources"]
    )
    journal = manager.journal(*AT, 2, "market_intelligence")
    journal.save({"messages": [{"role": "user", "content": "hello"}]})
    journal.save({"messages": [{"role": "user", "content": "hello again"}]}, name="landmark")
    _complete(manager, 2, "market_intelligence", "Second attempt, with sources")
    manager.save_checkpoint(*AT, 3, "in_progress", [])
    manager.journal(*AT, 3, "decision_agent").save({"partial_results": ["night shifts"]})
    return folder


def _complete(manager: CheckpointManager, number: int, agent: str, text: str, cost: float | None = None) -> None:
    output = {"agent_name": agent, "output_content": text, "input_tokens": 1200, "output_tokens": 300, "cost": cost}
    manager.complete_phase(*AT, number, [output], duration=120.5)


@pytest.fixture
def session(manager: CheckpointManager) -> Path:
    """The folder of the session."""
    return fill(manager)


@pytest.fixture
def other(tmp_path: Path, clock: Clock) -> CheckpointManager:
    """A manager of another base folder, which is empty."""
    return CheckpointManager(tmp_path / "elsewhere", clock=clock, lock_timeout=5)
