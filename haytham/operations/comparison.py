"""Compares two sessions: phases, outputs, tokens, cost, time, decisions."""

from collections.abc import Mapping, Sequence

from haytham.checkpoint.session_view import SessionView
from haytham.domain import text_diff
from haytham.domain.choices import PhaseStatus
from haytham.domain.operation_records import Comparison, PhaseComparison, PhaseFigures, SessionFigures
from haytham.domain.records import PhaseOverview, SessionOverview
from haytham.domain.workflow import Phase
from haytham.storage.session_store import name_in

Side = tuple[SessionView, SessionOverview]


def compare(one: Side, other: Side) -> Comparison:
    """Returns what two sessions have in common and what not, phase by phase."""
    phases = {phase.number: phase for view, _ in (other, one) for phase in view.phases}
    return Comparison(
        project_id=one[1]["project_id"],
        one=_session(one[1]),
        other=_session(other[1]),
        common=_common(one[0], other[0]),
        phases=[_phase(phases[number], one, other) for number in sorted(phases)],
    )


def _session(overview: SessionOverview) -> SessionFigures:
    done = [status for status in overview["phase_statuses"].values() if PhaseStatus(status).is_done]
    return SessionFigures(
        session_id=overview["session_id"],
        status=overview["status"],
        created=overview["created"],
        execution_mode=overview["execution_mode"],
        phases_done=len(done),
        metrics=overview["metrics"],
    )


def _common(one: SessionView, other: SessionView) -> str | None:
    known = {entry.id for entry in other.store.history.entries()}
    return next((entry.id for entry in one.store.history.entries() if entry.id in known), None)


def _phase(phase: Phase, one: Side, other: Side) -> PhaseComparison:
    before, after = _outputs(one[0], phase), _outputs(other[0], phase)
    return PhaseComparison(
        number=phase.number,
        name=phase.name,
        one=_figures(one[1]["phases"], phase),
        other=_figures(other[1]["phases"], phase),
        same_outputs=before == after,
        diff=_diff(phase, before, after, one[1]["session_id"], other[1]["session_id"]),
    )


def _figures(rows: Sequence[PhaseOverview], phase: Phase) -> PhaseFigures | None:
    for row in rows:
        if row["number"] == phase.number:
            return PhaseFigures(
                status=row["status"],
                attempt=row["attempt"],
                tokens=row["tokens"],
                cost=row["cost"],
                duration=row["duration"],
                decision=row["review"],
            )
    return None


def _outputs(view: SessionView, phase: Phase) -> dict[str, str]:
    """Returns the outputs of a phase by agent: their text, without the figures that each run has anew."""
    if phase.number not in {each.number for each in view.phases}:
        return {}
    return {agent: str(document.value["output"]) for agent, document in view.store.outputs(phase).items()}


def _diff(phase: Phase, before: Mapping[str, str], after: Mapping[str, str], one: str, other: str) -> str:
    return "".join(
        text_diff.unified(
            before.get(agent, ""),
            after.get(agent, ""),
            f"{one}/{name_in(phase, agent)}",
            f"{other}/{name_in(phase, agent)}",
        )
        for agent in sorted(before.keys() | after.keys())
    )
