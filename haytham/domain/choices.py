"""The closed lists of words: statuses, modes, actions, policies."""

from enum import StrEnum
from typing import TypeVar

from haytham.domain import suggestions
from haytham.domain.errors import InvalidInput


class PhaseStatus(StrEnum):
    """Where a phase, or an agent in it, stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    REQUIRES_RETRY = "requires_retry"

    @property
    def is_done(self) -> bool:
        """Whether the workflow goes on behind this phase."""
        return self in {PhaseStatus.COMPLETED, PhaseStatus.SKIPPED}

    @property
    def is_recorded(self) -> bool:
        """Whether reaching this status is an event of the audit trail: a commit of its own."""
        return self not in {PhaseStatus.PENDING, PhaseStatus.IN_PROGRESS}


class SessionStatus(StrEnum):
    """Where a session stands."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class ProjectStatus(StrEnum):
    """Where a project stands."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class ExecutionMode(StrEnum):
    """How the agents of a phase were run."""

    SINGLE = "single"
    PARALLEL = "parallel"
    SEQUENTIAL_INTERACTIVE = "sequential_interactive"


class Action(StrEnum):
    """What a review decided."""

    APPROVED = "approved"
    RETRY_WITH_CHANGES = "retry_with_changes"
    SKIP_PHASE = "skip_phase"
    MAX_RETRIES_EXCEEDED = "max_retries_exceeded"


class ReviewPolicy(StrEnum):
    """Whether a phase waits for a person."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    NONE = "none"


Choice = TypeVar("Choice", bound=StrEnum)


def choose(kind: type[Choice], value: object, what: str) -> Choice:
    """Returns the member that the value names; raises InvalidInput with the allowed ones."""
    try:
        return kind(value)  # type: ignore[arg-type]  # any object may be asked for; only members are found
    except ValueError:
        names = [member.value for member in kind]
        raise InvalidInput(f"{what} is {value!r}.", hint=suggestions.allowed(str(value), names)) from None


def check_transition(before: PhaseStatus, after: PhaseStatus, phase: int) -> None:
    """Raises InvalidInput if a phase may not go from one status to the other.

    The reference lets orchestrators report a phase in one call, so only what would deny the past is refused.
    """
    if after is PhaseStatus.PENDING and before is not PhaseStatus.PENDING:
        raise InvalidInput(
            f"phase {phase} is {before} and cannot become pending again.",
            hint="start it anew with in_progress, or mark it requires_retry.",
        )
