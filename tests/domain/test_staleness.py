from typing import Any

from haytham.documents import workflow_file
from haytham.domain import staleness

PHASES = workflow_file.built_in()["idea_validation"].phases_in("mvp")
OLD, NEW = "sha256:old", "sha256:new"


def _checkpoint(status: str = "completed", errors: list[str] | None = None, **read: str) -> dict[str, Any]:
    rows = [{"phase": int(number[1:]), "name": "x", "content": content} for number, content in read.items()]
    return {"metadata": {"status": status, "retry_count": 0}, "inputs": rows} | (
        {"errors": errors} if errors is not None else {}
    )


def test_what_read_the_present_content_is_fresh() -> None:
    """Nothing is stale while everything that was read is as it was."""
    assert staleness.reasons(PHASES, {1: _checkpoint(), 2: _checkpoint(p1=OLD)}, {1: OLD}) == {}


def test_stale_directly_and_through_another() -> None:
    """A phase is stale if what it read changed, or if a phase that it read has to run again."""
    checkpoints = {1: _checkpoint(), 2: _checkpoint(p1=OLD), 3: _checkpoint(p2=OLD), 6: _checkpoint(p3=OLD)}
    assert staleness.reasons(PHASES, checkpoints, {1: NEW, 2: OLD, 3: OLD}) == {
        2: "phase 1 Concept Expansion changed after it was read",
        3: "it read phase 2 Market Research, which has to run again",
        6: "it read phase 3 Niche Selection, which has to run again",
    }


def test_what_did_not_read_it_is_fresh() -> None:
    """Only those who read what changed are stale, and only those that are completed."""
    checkpoints = {1: _checkpoint(), 2: _checkpoint(), 3: _checkpoint("in_progress", p1=OLD)}
    assert staleness.reasons(PHASES, checkpoints, {1: NEW}) == {}


def test_plan_names_each_step_with_its_reason() -> None:
    """What is left is told in the order of the phases, each with the word for what to do and why."""
    checkpoints = {
        1: _checkpoint("requires_retry"),
        2: _checkpoint("failed", errors=["Boom: it broke\nhere"]),
        3: _checkpoint("in_progress"),
        6: _checkpoint(),
    }
    steps = staleness.plan(PHASES, checkpoints, {6: "it is stale"}, {6: "it needs an approval"}, {1: 1})
    assert [(step.phase.number, step.action, step.reason) for step in steps] == [
        (1, "retry", "1 change requested"),
        (2, "run_again", "it failed: Boom: it broke"),
        (3, "run_again", "it was started and has not ended"),
        (6, "run_again", "it is stale"),
        (7, "run", "it has not run yet"),
    ]


def test_plan_of_what_is_done_is_empty() -> None:
    """Skipped and completed phases need nothing; a review that is missing is a step; no error given is told so."""
    done = {phase.number: _checkpoint() for phase in PHASES} | {3: _checkpoint("skipped")}
    assert staleness.plan(PHASES, done, {}, {}, {}) == []
    (step,) = staleness.plan(PHASES, done, {}, {7: "it needs 1 more approval"}, {})
    assert (step.action, step.reason) == ("review", "it needs 1 more approval")
    (step,) = staleness.plan(PHASES, done | {1: _checkpoint("failed", errors=["  "])}, {}, {}, {})
    assert step.reason == "it failed: no error was given"
    (step,) = staleness.plan(PHASES, done | {1: _checkpoint("requires_retry")}, {}, {}, {})
    assert step.reason == "it was sent back"
