"""How far a session got: what its manifest says, derived from its checkpoints."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from haytham.domain import instants
from haytham.domain.choices import PhaseStatus, SessionStatus
from haytham.domain.records import Metrics, OriginRecord, SessionState, SessionSummary
from haytham.domain.workflow import Phase, Workflow

Value = Mapping[str, Any]

OWN_PARTS = ("review_policy", "origin", "archive")  # what a manifest may say that no checkpoint does

_DERIVED_LATER = "last_updated"


def manifest(
    identity: Value,
    workflow: Workflow,
    checkpoints: Mapping[int, Value | None],
    now: str,
    *,
    is_waiting: bool = False,
) -> dict[str, Any]:
    """Builds the value of a session's manifest; `identity` is the metadata of an earlier one.

    A session that is waiting for a required review is not completed, even if all its phases are.
    """
    phases = workflow.phases_in(identity["execution_mode"])
    statuses = {phase.number: status_of(checkpoints.get(phase.number)) for phase in phases}
    current = current_phase(phases, statuses)
    status = session_status(statuses, closed=identity["closed"] is not None, is_waiting=is_waiting)
    return {
        "metadata": {**identity, "last_updated": now, "status": status.value},
        "phases": [_row(phase, checkpoints.get(phase.number)) for phase in phases],
        "current_phase": {
            "phase": current.number,
            "name": current.name,
            "status": statuses[current.number].value,
            "can_resume": status is not SessionStatus.COMPLETED,
        },
        "metrics": totals(checkpoints),
    }


def state(value: Value, *, edited_files: list[str], recovered: list[str], stale: Mapping[int, str]) -> SessionState:
    """Returns what `load_session` tells, given the manifest."""
    metadata = value["metadata"]
    statuses = {row["phase"]: row["status"] for row in value["phases"]}
    is_over = metadata["status"] == SessionStatus.COMPLETED
    current = value["current_phase"]["phase"]
    return SessionState(
        session_id=metadata["session_id"],
        project_id=metadata["project_id"],
        user_id=metadata["user_id"],
        workflow_type=metadata["workflow_type"],
        execution_mode=metadata["execution_mode"],
        created=metadata["created"],
        last_updated=metadata["last_updated"],
        status=metadata["status"],
        current_phase=current,
        completed_phases=[number for number, status in statuses.items() if status == PhaseStatus.COMPLETED],
        phase_statuses=statuses,
        next_phase=None if is_over or PhaseStatus(statuses[current]).is_done else current,
        can_resume=not is_over,
        metrics=Metrics(**dict(value["metrics"])),  # type: ignore[typeddict-item]  # the schema has them
        edited_files=edited_files,
        recovered=list(recovered),
        stale_phases=dict(stale),
        archived=archived(value),
        origin=origin(value),
    )


def archived(value: Value) -> str | None:
    """Returns since when a session is archived, given its manifest, or None."""
    return str(value["archive"]["archived"]) if "archive" in value else None


def origin(value: Value) -> OriginRecord | None:
    """Returns what a session was forked from, given its manifest, or None."""
    return OriginRecord(**dict(value["origin"])) if "origin" in value else None  # type: ignore[typeddict-item]  # the schema has them


def summary(session_id: str, value: Value) -> SessionSummary:
    """Returns a row of `list_sessions`, given the manifest."""
    metadata = value["metadata"]
    return SessionSummary(
        session_id=session_id,
        status=metadata["status"],
        execution_mode=metadata["execution_mode"],
        workflow_type=metadata["workflow_type"],
        created=metadata["created"],
        last_updated=metadata["last_updated"],
        current_phase=value["current_phase"]["phase"],
        archived=archived(value),
    )


def unreadable(session_id: str, problem: str) -> SessionSummary:
    """Returns the row of a session whose manifest cannot be read."""
    return SessionSummary(
        session_id=session_id,
        status="unreadable",
        execution_mode="",
        workflow_type="",
        created="",
        last_updated="",
        current_phase=0,
        archived=None,
        problem=problem,
    )


def age(row: SessionSummary) -> tuple[float, str]:
    """Returns what sessions are sorted by: the instant they were made at, then their id."""
    made = instants.parse(row["created"], "created").timestamp() if row["created"] else 0.0
    return made, row["session_id"]


def same(one: Value, other: Value) -> bool:
    """Tells whether two manifests say the same, apart from when they were written."""
    return _undated(one) == _undated(other)


def status_of(checkpoint: Value | None) -> PhaseStatus:
    """Returns the status of a phase, given its checkpoint."""
    return PhaseStatus(checkpoint["metadata"]["status"]) if checkpoint else PhaseStatus.PENDING


def current_phase(phases: tuple[Phase, ...], statuses: Mapping[int, PhaseStatus]) -> Phase:
    """Returns the first phase that is not done, or the last one when all are."""
    return next((phase for phase in phases if not statuses[phase.number].is_done), phases[-1])


def session_status(statuses: Mapping[int, PhaseStatus], *, closed: bool, is_waiting: bool = False) -> SessionStatus:
    """Returns the status of a session, given those of its phases."""
    if closed or (all(status.is_done for status in statuses.values()) and not is_waiting):
        return SessionStatus.COMPLETED
    if PhaseStatus.FAILED in statuses.values():
        return SessionStatus.FAILED
    return SessionStatus.IN_PROGRESS


def totals(checkpoints: Mapping[int, Value | None]) -> dict[str, float]:
    """Adds up what the phases took; in decimals, so that cents stay cents."""
    known = [checkpoint for checkpoint in checkpoints.values() if checkpoint]
    return {
        "total_duration": total(each["metadata"]["duration"] for each in known) or 0,
        "total_tokens": int(total(each["metrics"]["total_tokens"] for each in known) or 0),
        "total_cost": total(each["metrics"]["cost"] for each in known) or 0,
    }


def total(figures: Any) -> float | None:
    """Adds the figures that are known; None if none is."""
    known = [Decimal(repr(figure)) for figure in figures if figure is not None]
    if not known:
        return None
    result = sum(known, Decimal(0))
    return int(result) if result == int(result) and all(each == int(each) for each in known) else float(result)


def rounded_seconds(duration: float | None) -> str | None:
    """Writes a duration as people like to read it in a table."""
    return None if duration is None else f"{int(duration)}s"


def _row(phase: Phase, checkpoint: Value | None) -> dict[str, Any]:
    metadata = checkpoint["metadata"] if checkpoint else {}
    return {
        "phase": phase.number,
        "name": phase.name,
        "status": status_of(checkpoint).value,
        "started": metadata.get("started"),
        "completed": metadata.get("completed"),
        "duration": rounded_seconds(metadata.get("duration")),
    }


def _undated(value: Value) -> dict[str, Any]:
    metadata = {key: each for key, each in value["metadata"].items() if key != _DERIVED_LATER}
    return {**value, "metadata": metadata}
