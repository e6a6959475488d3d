"""A session as one page of HTML that can be opened and mailed: what is on it, and in which words."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from haytham import __version__
from haytham.checkpoint import overview
from haytham.checkpoint.session_view import SessionView
from haytham.documents import pages
from haytham.documents.reader import read
from haytham.domain import messages
from haytham.domain.choices import PhaseStatus, SessionStatus
from haytham.domain.errors import HaythamError
from haytham.domain.records import PhaseOverview, SessionOverview, SessionState
from haytham.domain.workflow import Phase
from haytham.exchange import charts
from haytham.storage import layout
from haytham.storage.history import Entry
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import name_in

_SHORT = 7
_GOOD, _BAD, _OPEN = "good", "bad", "open"
_TONES = {
    "completed": _GOOD,
    "approved": _GOOD,
    "in_progress": _OPEN,
    "requires_retry": _OPEN,
    "retry_with_changes": _OPEN,
    "changes": _OPEN,
    "partly": _OPEN,
    "failed": _BAD,
    "unreadable": _BAD,
    "exhausted": _BAD,
    "max_retries_exceeded": _BAD,
}


def of(view: SessionView, state: SessionState, commits: list[Entry], project: ProjectStore) -> str:
    """Returns the page of a session, given what `load_session` tells and its commits, newest first."""
    found = overview.of(view, state)
    name, idea = _about(project)
    is_over, rows = found["status"] == SessionStatus.COMPLETED, zip(view.phases, found["phases"], strict=True)
    value = {
        "session": found,
        "title": view.workflow.title,
        "name": name if name and name != found["project_id"] else idea or found["session_id"],
        "idea": idea,
        "result": _result(project, found["session_id"]),
        "tiles": _tiles(found),
        "charts": _charts(found["phases"]),
        "phases": [_phase(view, phase, row, is_over=is_over) for phase, row in rows],
        "events": [_event(view, entry) for entry in reversed(commits)],
        "head": commits[0].id[:12] if commits else "",
        "version": __version__,
        "tone": tone,
        "words": words,
    }
    return pages.rendered("session_page", value)


def _about(project: ProjectStore) -> tuple[str, str]:
    """Returns the name of a project and its idea, as far as they can be told."""
    with suppress(HaythamError):
        value = project.project().value
        return value["metadata"]["name"], value["startup_idea"].strip()
    return "", ""


def _result(project: ProjectStore, session_id: str) -> tuple[str, str] | None:
    """Returns the file of the result that was kept last, and its text, as history has it."""
    with suppress(HaythamError):
        for name in project.results(session_id)[-1:]:
            return name, (project.history.read(name) or b"").decode(errors="replace")
    return None


def tone(word: str | None) -> str:
    """Returns how a status or a decision looks."""
    return _TONES.get(word or "", "plain")


def words(status: str | None) -> str:
    """Returns a status or a decision as words."""
    return (status or "").replace("_", " ")


def _tiles(found: SessionOverview) -> list[tuple[str, str]]:
    metrics, done = found["metrics"], len(found["completed_phases"])
    return [
        ("Phases completed", f"{done} of {len(found['phases'])}"),
        ("Time", messages.duration(metrics["total_duration"])),
        ("Tokens", f"{metrics['total_tokens']:,}" if _is_known(found, "tokens") else "-"),
        ("Cost", _cost(metrics["total_cost"]) if _is_known(found, "cost") else "-"),
    ]


def _is_known(found: SessionOverview, figure: Literal["tokens", "cost"]) -> bool:
    return any(row[figure] is not None for row in found["phases"])


def _charts(rows: list[PhaseOverview]) -> list[charts.Chart]:
    named = [(f"{row['number']} {row['name']}", row) for row in rows]
    made = [
        charts.chart("Tokens", [(name, row["tokens"]) for name, row in named], lambda value: f"{value:,.0f}"),
        charts.chart("Cost", [(name, row["cost"]) for name, row in named], _cost),
        charts.chart("Time", [(name, row["duration"]) for name, row in named], messages.duration),
    ]
    return [each for each in made if each is not None]


def _phase(view: SessionView, phase: Phase, row: PhaseOverview, *, is_over: bool) -> dict[str, Any]:
    checkpoint = view.store.checkpoint(phase)
    return {
        **row,
        "status": "not run" if is_over and row["status"] == PhaseStatus.PENDING else row["status"],
        "figures": _figures(row),
        "errors": list(checkpoint.value.get("errors", ())) if checkpoint else [],
        "outputs": [_output(name, each.value) for name, each in view.store.outputs(phase).items()],
    }


def _figures(row: PhaseOverview) -> str:
    parts = [
        f"attempt {row['attempt']}" if (row["attempt"] or 1) > 1 else "",
        messages.duration(row["duration"]) if row["duration"] is not None else "",
        f"{row['tokens']:,} tokens" if row["tokens"] is not None else "",
        _cost(row["cost"]) if row["cost"] is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _output(agent: str, value: Mapping[str, Any]) -> dict[str, Any]:
    execution, error = value["execution"], value.get("error")
    tokens = [execution["input_tokens"], execution["output_tokens"]]
    parts = [
        str(execution["model"] or ""),
        f"{sum(each or 0 for each in tokens):,} tokens" if any(each is not None for each in tokens) else "",
    ]
    return {
        "agent": agent,
        "about": ", ".join(part for part in parts if part),
        "error": f"{error['type']}: {error['message']}" if error else "",
        "text": value["output"],
    }


def _event(view: SessionView, entry: Entry) -> dict[str, Any]:
    trailers = entry.trailers
    decision = trailers.get("Haytham-Decision", "")
    said = _said(view, entry) if decision else None
    return {
        "day": f"{entry.time:%Y-%m-%d}",
        "time": f"{entry.time:%H:%M:%S}",
        "id": entry.id[:_SHORT],
        "subject": entry.subject,
        "body": entry.body if said is None else "",
        "author": entry.author.name,
        "result": decision or trailers.get("Haytham-Status", ""),
        "is_decision": bool(decision),
        "comments": said["comments"] if said else "",
        "changes": list(said["requested_changes"]) if said else [],
    }


def _said(view: SessionView, entry: Entry) -> Mapping[str, Any] | None:
    """Returns the form that a decision was made in, as its commit has it; None if it cannot be told."""
    number = entry.trailers.get("Haytham-Phase", "")
    folders = {str(phase.number): phase for phase in view.phases}
    with suppress(HaythamError, UnicodeDecodeError):
        if number in folders:
            data = view.store.history.read(name_in(folders[number], layout.FEEDBACK_FILE), entry.id)
            if data is not None:
                return read("user_feedback", data.decode(), words=folders[number].approvals.roles).value
    return None


def _cost(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 else f"${dollars:.4f}"
