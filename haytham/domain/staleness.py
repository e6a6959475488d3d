"""Which phases have to run again, and why: what each consumed against what is there now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from haytham.domain import progress
from haytham.domain.checkpoints import is_exhausted
from haytham.domain.choices import PhaseStatus
from haytham.domain.workflow import Phase

Value = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to do next: run, run again, retry, or review a phase."""

    phase: Phase
    action: str
    reason: str


RUN, RUN_AGAIN, RETRY, REVIEW = "run", "run_again", "retry", "review"


def reasons(
    phases: tuple[Phase, ...], checkpoints: Mapping[int, Value | None], contents: Mapping[int, str]
) -> dict[int, str]:
    """Returns why each stale phase is stale, by its number; a phase that is not named is fresh."""
    found: dict[int, str] = {}
    names = {phase.number: phase.name for phase in phases}
    for phase in phases:
        checkpoint = checkpoints.get(phase.number)
        if not checkpoint or progress.status_of(checkpoint) is not PhaseStatus.COMPLETED:
            continue
        for row in checkpoint["inputs"]:
            number = row["phase"]
            if number in found:
                found[phase.number] = f"it read phase {number} {names[number]}, which has to run again"
            elif number in contents and contents[number] != row["content"]:
                found[phase.number] = f"phase {number} {names[number]} changed after it was read"
            if phase.number in found:
                break
    return found


def plan(
    phases: tuple[Phase, ...],
    checkpoints: Mapping[int, Value | None],
    stale: Mapping[int, str],
    waiting: Mapping[int, str],
    requested: Mapping[int, int],
) -> list[Step]:
    """Lists what is left to do, in order; `waiting` says whose review is missing, `requested` how many changes."""
    steps = []
    for phase in phases:
        checkpoint = checkpoints.get(phase.number)
        status = progress.status_of(checkpoint)
        if status is PhaseStatus.REQUIRES_RETRY:
            count = requested.get(phase.number, 0)
            words = f"{count} change{'s' if count != 1 else ''} requested" if count else "it was sent back"
            steps.append(Step(phase=phase, action=RETRY, reason=words))
        elif status is PhaseStatus.PENDING:
            steps.append(Step(phase=phase, action=RUN, reason="it has not run yet"))
        elif status is PhaseStatus.IN_PROGRESS:
            steps.append(Step(phase=phase, action=RUN_AGAIN, reason="it was started and has not ended"))
        elif checkpoint and is_exhausted(checkpoint):
            steps.append(Step(phase=phase, action=REVIEW, reason=_failure(checkpoint)))
        elif status is PhaseStatus.FAILED:
            steps.append(Step(phase=phase, action=RUN_AGAIN, reason=_failure(checkpoint or {})))
        elif phase.number in stale:
            steps.append(Step(phase=phase, action=RUN_AGAIN, reason=stale[phase.number]))
        elif phase.number in waiting:
            steps.append(Step(phase=phase, action=REVIEW, reason=waiting[phase.number]))
    return steps


def _failure(checkpoint: Value) -> str:
    errors = checkpoint.get("errors") or ["no error was given"]
    return f"it failed: {errors[0].strip().splitlines()[0] if errors[0].strip() else 'no error was given'}"
