"""Shows projects and sessions as `haytham status` does: tables, and what needs attention below them."""

from pathlib import Path
from typing import TYPE_CHECKING

from haytham.cli import hints, terminal
from haytham.domain import messages
from haytham.domain.choices import PhaseStatus, ReviewPolicy
from haytham.domain.records import PhaseOverview, ProjectStatusRecord, SessionOverview, SessionSummary

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

_SESSIONS_SHOWN = 10


def show_projects(projects: list[ProjectStatusRecord], base_dir: Path) -> None:
    """Prints a list of projects."""
    console = terminal.screen()
    if not projects:
        terminal.plain(console, hints.runnable(f"There are no projects in {base_dir} yet. haytham init makes one."))
        return
    table = terminal.table("Project", "Name", "Status", "Sessions", right=("Sessions",), flexible=("Name", "Project"))
    for each in projects:
        count = "" if "problem" in each else str(len(each["sessions"]))
        name = terminal.styled(each["project_name"])
        table.add_row(terminal.styled(each["project_id"]), name, terminal.word(each["status"]), count)
    terminal.show(console, table)
    terminal.show(console)
    terminal.plain(console, hints.runnable("One of them: haytham status", project="ID"))


def show_project(record: ProjectStatusRecord, session: SessionOverview | None) -> None:
    """Prints one project and, if it has any, one of its sessions."""
    console = terminal.screen()
    _show_project(console, record)
    if session:
        _show_session(console, session)


def _show_project(console: "Console", record: ProjectStatusRecord) -> None:
    rows: list[tuple[str, str | Text]] = [("Project", record["project_id"])]
    if record["project_name"] != record["project_id"]:
        rows.append(("Name", record["project_name"]))
    rows.append(("Status", terminal.word(record["status"])))
    terminal.facts(console, rows)
    terminal.show(console)
    if len(record["sessions"]) > 1:
        _show_sessions(console, record["sessions"])
    elif not record["sessions"]:
        terminal.plain(console, "It has no sessions yet.")


def _show_sessions(console: "Console", sessions: list[SessionSummary]) -> None:
    table = terminal.table(
        "Session", "Status", "Mode", "Phase", "Created (UTC)", right=("Phase",), flexible=("Session",)
    )
    for each in sessions[:_SESSIONS_SHOWN]:
        created = each["created"][:19].replace("T", " ")
        phase = str(each["current_phase"]) if each["created"] else ""
        table.add_row(
            terminal.styled(each["session_id"]),
            terminal.word("archived" if each["archived"] else each["status"]),
            terminal.styled(each["execution_mode"]),
            phase,
            terminal.styled(created),
        )
    terminal.show(console, table)
    if len(sessions) > _SESSIONS_SHOWN:
        terminal.plain(console, f"and {len(sessions) - _SESSIONS_SHOWN} older ones")
    terminal.show(console)


def _show_session(console: "Console", session: SessionOverview) -> None:
    terminal.show(console, session_view(session))
    if (gate := _gate(session)) is not None:
        terminal.show(console)
        terminal.plain(console, hints.runnable(f"Decide: haytham review {gate}"))
    if session["problems"]:
        terminal.show(console)  # they are told next


def session_view(session: SessionOverview) -> "RenderableType":
    """Returns how a session stands: what it is, its phases, what is next."""
    rows: list[tuple[str, str | Text]] = [
        ("Session", session["session_id"]),
        ("Workflow", f"{session['workflow_type']}, mode {session['execution_mode']}, for {session['user_id']}"),
        ("Reviews", _policies(session["phases"])),
        ("Status", terminal.word(session["status"])),
    ]
    if origin := session["origin"]:
        rows.insert(1, ("Origin", f"{origin['session_id']}, commit {origin['commit'][:7]}"))
    if session["archived"]:
        rows.append(("Archived", session["archived"]))
    outlook = terminal.fact_table(_outlook(session))
    return terminal.stacked(terminal.fact_table(rows), "", _phase_table(session), "", outlook)


def _policies(phases: list[PhaseOverview]) -> str:
    """Says which reviews are required, optional or none, in few words."""
    found: dict[str, list[str]] = {}
    for row in phases:
        found.setdefault(row["policy"], []).append(str(row["number"]))
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{policy}: {', '.join(found[policy])}" for policy in ReviewPolicy if policy in found)


def _phase_table(session: SessionOverview) -> "Table":
    figures = ("Duration", "Tokens", "Cost")
    table = terminal.table(
        "#", "Phase", "Status", *figures, "Review", right=("#", *figures), flexible=("Phase", "Status")
    )
    for row in session["phases"]:
        table.add_row(
            str(row["number"]),
            terminal.styled(_named(row)),
            terminal.word(row["status"]),
            messages.duration(row["duration"]),
            _grouped(row["tokens"]),
            _dollars(row["cost"]),
            terminal.word(row["review"] or "-"),
        )
    metrics = session["metrics"]
    table.add_section()
    table.add_row(
        "",
        terminal.styled("total", "bold"),
        "",
        messages.duration(metrics["total_duration"]),
        _grouped(metrics["total_tokens"] if any(row["tokens"] is not None for row in session["phases"]) else None),
        _dollars(metrics["total_cost"] if any(row["cost"] is not None for row in session["phases"]) else None),
        "",
    )
    return table


def _named(row: PhaseOverview) -> str:
    return f"{row['name']}, attempt {row['attempt']}" if (row["attempt"] or 1) > 1 else row["name"]


def _outlook(session: SessionOverview) -> list[tuple[str, "str | Text"]]:
    phases = session["phases"]
    voids = [f"phase {row['number']} {row['name']}: {row['void']}" for row in phases if row["void"]]
    stale = [f"phase {row['number']} {row['name']}: {row['stale']}" for row in phases if row["stale"]]
    waiting = [f"phase {row['number']} {row['name']} needs {row['missing']}" for row in phases if _waits(row)]
    return [
        ("Next", _next(session)),
        *_labelled("Missing", waiting),
        *_labelled("Void", voids),
        *_labelled("Stale", stale),
        *_labelled("Edited", [f"{name} (not committed)" for name in session["edited_files"]]),
        *_labelled("Own", [f"{name} (no output, not reviewed)" for name in session["own_files"]]),
        *_labelled("Rescued", session["rescued_files"]),
        *_labelled("Recovered", session["recovered"]),
    ]


def _labelled(label: str, texts: list[str]) -> list[tuple[str, "str | Text"]]:
    return [(label if not i else "", text) for i, text in enumerate(texts)]


def _waits(row: PhaseOverview) -> bool:
    """Tells whether the session cannot go on behind a phase without a review."""
    return row["policy"] == ReviewPolicy.REQUIRED and row["status"] == PhaseStatus.COMPLETED and bool(row["missing"])


def _next(session: SessionOverview) -> str:
    names = {row["number"]: row["name"] for row in session["phases"]}
    following, gate = session["next_phase"], _gate(session)
    if gate is not None:
        return f"the review of phase {gate} {names[gate]}"
    return f"phase {following} {names.get(following, '')}" if following is not None else "nothing, it is completed"


def _gate(session: SessionOverview) -> int | None:
    """Returns the phase whose review comes next, if one does."""
    following = session["next_phase"]
    gate = next((row["number"] for row in session["phases"] if _waits(row)), None)
    return gate if gate is not None and (following is None or gate < following) else None


def _grouped(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"${cost:,.4f}"
