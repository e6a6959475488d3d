from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import progress
from haytham.domain.choices import PhaseStatus, SessionStatus

WORKFLOW = workflow_file.built_in()["idea_validation"]
IDENTITY: dict[str, Any] = {
    "session_id": "s",
    "project_id": "p",
    "user_id": "u",
    "workflow_type": "idea_validation",
    "execution_mode": "mvp",
    "created": "2026-01-31T10:00:00Z",
    "last_updated": "2026-01-31T10:00:00Z",
    "status": "in_progress",
    "closed": None,
}


def _checkpoint(status: str, **figures: Any) -> dict[str, Any]:
    return {
        "metadata": {"status": status, "started": None, "completed": None, "duration": figures.get("duration")},
        "metrics": {"total_tokens": figures.get("tokens"), "cost": figures.get("cost")},
    }


def _manifest(statuses: dict[int, str], **identity: Any) -> dict[str, Any]:
    checkpoints = {number: _checkpoint(status) for number, status in statuses.items()}
    return progress.manifest({**IDENTITY, **identity}, WORKFLOW, checkpoints, "2026-01-31T11:00:00Z")


@pytest.mark.parametrize(
    ("statuses", "session", "current"),
    [
        ({}, "in_progress", 1),
        ({1: "in_progress"}, "in_progress", 1),
        ({1: "completed"}, "in_progress", 2),
        ({1: "completed", 2: "skipped"}, "in_progress", 3),
        ({1: "completed", 2: "failed"}, "failed", 2),
        ({1: "failed", 2: "completed"}, "failed", 1),
        ({1: "completed", 2: "requires_retry"}, "in_progress", 2),
        ({1: "completed", 2: "completed", 3: "completed"}, "in_progress", 6),
        (dict.fromkeys((1, 2, 3, 6, 7), "completed"), "completed", 7),
        (dict.fromkeys((1, 2, 3, 6, 7), "skipped"), "completed", 7),
    ],
)
def test_status_of_a_session_follows_from_its_phases(statuses: dict[int, str], session: str, current: int) -> None:
    """A session is completed when all is done, failed when a phase failed, and goes on with the first not done."""
    value = _manifest(statuses)
    assert session == value["metadata"]["status"]
    assert current == value["current_phase"]["phase"]
    assert (session != "completed") == value["current_phase"]["can_resume"]


def test_closed_session_is_completed_whatever_its_phases_say() -> None:
    """Whoever closes a session has decided."""
    value = _manifest({1: "failed"}, closed="2026-01-31T10:30:00Z")
    assert value["metadata"]["status"] == "completed"
    assert not value["current_phase"]["can_resume"]


def test_metrics_add_up_and_zero_is_zero() -> None:
    """The session's figures are the sums of its phases'; what nobody reported counts nothing."""
    checkpoints = {
        1: _checkpoint("completed", duration=120.5, tokens=15000, cost=0.0375),
        2: _checkpoint("completed", duration=0, tokens=0, cost=0),
        3: _checkpoint("completed"),
        6: None,
    }
    assert progress.totals(checkpoints) == {"total_duration": 120.5, "total_tokens": 15000, "total_cost": 0.0375}
    assert progress.totals({}) == {"total_duration": 0, "total_tokens": 0, "total_cost": 0}


@pytest.mark.parametrize(
    ("figures", "total"),
    [([], None), ([None], None), ([0], 0), ([None, 0.0], 0), ([0.1, 0.2], 0.3), ([1, 2.5], 3.5), ([0.1] * 10, 1.0)],
)
def test_totals_are_exact(figures: list[float | None], total: float | None) -> None:
    """Sums are made in decimals, so that no digit appears from nowhere."""
    assert total == progress.total(figures)


def test_manifests_are_compared_without_their_date() -> None:
    """When a manifest was written does not make it stale; anything else does."""
    one = _manifest({1: "completed"})
    other = {**one, "metadata": {**one["metadata"], "last_updated": "2027-01-01T00:00:00Z"}}
    assert progress.same(one, other)
    assert not progress.same(one, _manifest({1: "failed"}))


def test_rounded_seconds_are_a_view() -> None:
    """The manifest's table shows whole seconds, as the reference does; nothing is shown for nothing."""
    assert [progress.rounded_seconds(each) for each in (120.5, 0, None)] == ["120s", "0s", None]


def test_state_tells_what_the_manifest_says() -> None:
    """`load_session` hands out plain values with numbers as keys."""
    state = progress.state(
        _manifest({1: "completed", 2: "failed"}), edited_files=["x.md"], recovered=[], stale={2: "why"}
    )
    assert state["phase_statuses"] == {1: "completed", 2: "failed", 3: "pending", 6: "pending", 7: "pending"}
    assert (
        state["completed_phases"],
        state["current_phase"],
        state["next_phase"],
        state["can_resume"],
    ) == ([1], 2, 2, True)
    assert (state["edited_files"], state["stale_phases"]) == (["x.md"], {2: "why"})


def test_sessions_are_sorted_by_instant_and_not_by_text() -> None:
    """Half a second past the full second comes after the full second, although its text sorts before."""
    whole = progress.summary("a", _manifest({}, created="2026-01-31T10:00:00Z"))
    half = progress.summary("b", _manifest({}, created="2026-01-31T10:00:00.500000Z"))
    unreadable = progress.unreadable("c", "broken")
    assert [row["session_id"] for row in sorted([half, unreadable, whole], key=progress.age)] == ["c", "a", "b"]


def test_statuses_without_checkpoint_are_pending() -> None:
    """A phase that was never reported is pending."""
    assert PhaseStatus.PENDING is progress.status_of(None)
    assert SessionStatus.IN_PROGRESS is progress.session_status({1: PhaseStatus.PENDING}, closed=False)
