"""The command `haytham status`.

`--json` prints: form "haytham.status", version 1, projects (each as `get_project_status` returns it, or project_id and
problem if it cannot be read) and session: null when more than one project is shown, else what `load_session` returns,
with rescued_files and phases (each: number, name, status, duration, tokens, cost, attempt, policy, review, missing,
void, stale, agents).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import click

from haytham.cli import inspection, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.options import base_dir_option, help_option, json_option, project_option, session_option
from haytham.cli.reporting import problems_of
from haytham.cli.selection import Selection, newest
from haytham.domain import messages
from haytham.domain.choices import PhaseStatus, ReviewPolicy
from haytham.domain.errors import HaythamError, InvalidDocument, NotFound, Problem
from haytham.domain.records import ProjectStatusRecord, ReviewRecord, SessionState, SessionSummary
from haytham.domain.workflow import Phase
from haytham.project.project_manager import ProjectManager

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_EPILOG = """\b
Examples:
  haytham status
  haytham status --project project-123
  haytham status --session session-456 --json

\b
Review: open (nobody decided yet), partly (more approvals are needed),
approved, changes (another attempt is asked for), skip, exhausted.
Void: an approval of content that has changed since. Stale: made from
content that has changed since. Rescued: what somebody saved just when
Haytham wrote the same file; both versions are there.

\b
JSON: projects, session; session as in load_session, with rescued_files
and phases; each phase: number, name, status, duration, tokens, cost,
attempt, policy, review, missing, void, stale, agents."""

_SESSIONS_SHOWN = 10
_REVIEW_WORDS = {
    "approved": "approved",
    "retry_with_changes": "changes",
    "skip_phase": "skip",
    "max_retries_exceeded": "exhausted",
}


class PhaseRow(TypedDict):
    """One phase, as shown."""

    number: int
    name: str
    status: str
    duration: float | None
    tokens: int | None
    cost: float | None
    attempt: int | None
    policy: str
    review: str | None
    missing: str | None
    void: str | None
    stale: str | None
    agents: list[str]


class Project(TypedDict):
    """One project, as shown."""

    project_id: str
    problem: NotRequired[str]
    record: NotRequired[ProjectStatusRecord]


@click.command("status", help=COMMANDS["status"][1], epilog=_EPILOG)
@base_dir_option
@project_option("the only one, else a list of all")
@session_option("the newest")
@json_option
@help_option
def command(base_dir: Path, project: str | None, session: str | None, *, as_json: bool) -> None:
    """Shows projects, or one session."""
    selection = Selection(base_dir=base_dir, project=project, session=session)
    ids = selection.projects()
    view = View(base_dir)
    if len(ids) == 1:
        view.load(ids[0], session)
    else:
        view.projects = [_project(view.manager, each) for each in ids]
    if as_json:
        terminal.emit_json("haytham.status", view.form())
    else:
        view.show()
    if view.fault is not None:
        raise view.fault


class View:
    """What the command shows: projects and, if it is about one, its session."""

    def __init__(self, base_dir: Path) -> None:
        self.base_dir = base_dir
        self.manager = ProjectManager(base_dir)
        self.projects: list[Project] = []
        self.session: SessionState | None = None
        self.phases: list[PhaseRow] = []
        self.rescued: list[str] = []
        self.fault: HaythamError | None = None

    def load(self, project_id: str, session: str | None) -> None:
        """Looks at one project and one of its sessions, by default the newest."""
        record = self.manager.get_project_status(project_id)
        self.projects = [Project(project_id=project_id, record=record)]
        session_id = session or newest(record["sessions"])
        if session_id is not None:
            self.session = self.manager.sessions.load_session(project_id, session_id)
            phases = inspection.session_phases(self.base_dir, project_id, session_id)
            self.phases = [self._row(self.session, phase) for phase in phases]
            self.rescued = inspection.rescued_files(self.base_dir, project_id, session_id)

    def form(self) -> dict[str, Any]:
        """Returns the JSON form."""
        projects = [
            each["record"] if "record" in each else {"project_id": each["project_id"], "problem": each["problem"]}
            for each in self.projects
        ]
        more = {"rescued_files": self.rescued, "phases": self.phases}
        session = {**self.session, **more} if self.session else None
        return {"projects": projects, "session": session}

    def show(self) -> None:
        """Prints tables."""
        console = terminal.screen()
        if len(self.projects) == 1 and "record" in self.projects[0]:
            _show_project(console, self.projects[0]["record"])
            if self.session:
                _show_session(console, self.session, self.phases, self.rescued)
        else:
            _show_projects(console, self.projects, self.base_dir)

    def _row(self, state: SessionState, phase: Phase) -> PhaseRow:
        sessions, ids = self.manager.sessions, (state["project_id"], state["session_id"])
        try:
            checkpoint = sessions.load_checkpoint(*ids, phase.number)
        except NotFound:
            checkpoint = None
        word, missing, void = self._review(ids, phase)
        return PhaseRow(
            number=phase.number,
            name=phase.name,
            status=state["phase_statuses"][phase.number],
            duration=checkpoint["duration"] if checkpoint else None,
            tokens=checkpoint["total_tokens"] if checkpoint else None,
            cost=checkpoint["cost"] if checkpoint else None,
            attempt=checkpoint["retry_count"] + 1 if checkpoint else None,
            policy=phase.review.value,
            review=word,
            missing=missing,
            void=void,
            stale=state["stale_phases"].get(phase.number),
            agents=list(phase.agents_in(state["execution_mode"])),
        )

    def _review(self, ids: tuple[str, str], phase: Phase) -> tuple[str | None, str | None, str | None]:
        """Returns a word for the review of a phase, what it lacks, and which decision is void.

        A form that cannot be read is shown and then reported.
        """
        try:
            record = self.manager.sessions.review(*ids, phase.number)
            return review_word(record), record["missing"], inspection.void_decision(self.base_dir, *ids, phase)
        except NotFound:
            return None, None, None
        except HaythamError as error:
            self._add_fault(error)
            return "unreadable", "a form that can be understood", None

    def _add_fault(self, error: HaythamError) -> None:
        before: list[Problem] = problems_of(self.fault) if self.fault else []
        self.fault = InvalidDocument([*before, *problems_of(error)])


def review_word(record: ReviewRecord) -> str:
    """Words how a review stands in one word."""
    if record["decision"] is not None:
        return _REVIEW_WORDS[record["decision"]]
    return "partly" if record["decisions"] else "open"


def _project(manager: ProjectManager, project_id: str) -> Project:
    try:
        return Project(project_id=project_id, record=manager.get_project_status(project_id))
    except HaythamError as error:
        return Project(project_id=project_id, problem=str(error))


def _show_projects(console: "Console", projects: list[Project], base_dir: Path) -> None:
    if not projects:
        terminal.plain(console, f"There are no projects in {base_dir} yet. haytham demo makes one.")
        return
    table = terminal.table("Project", "Name", "Status", "Sessions", right=("Sessions",), flexible=("Name", "Project"))
    for each in projects:
        record = each.get("record")
        name, status = (record["project_name"], record["status"]) if record else ("", "unreadable")
        count = str(len(record["sessions"])) if record else ""
        table.add_row(terminal.styled(each["project_id"]), terminal.styled(name), terminal.word(status), count)
    terminal.show(console, table)
    terminal.show(console)
    terminal.plain(console, "One of them: haytham status --project ID")


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
            terminal.word(each["status"]),
            terminal.styled(each["execution_mode"]),
            phase,
            terminal.styled(created),
        )
    terminal.show(console, table)
    if len(sessions) > _SESSIONS_SHOWN:
        terminal.plain(console, f"and {len(sessions) - _SESSIONS_SHOWN} older ones")
    terminal.show(console)


def _show_session(console: "Console", state: SessionState, phases: list[PhaseRow], rescued: list[str]) -> None:
    rows: list[tuple[str, str | Text]] = [
        ("Session", state["session_id"]),
        ("Workflow", f"{state['workflow_type']}, mode {state['execution_mode']}, for {state['user_id']}"),
        ("Reviews", _policies(phases)),
        ("Status", terminal.word(state["status"])),
    ]
    terminal.facts(console, rows)
    terminal.show(console)
    _show_phases(console, state, phases)
    terminal.show(console)
    terminal.facts(console, _outlook(state, phases, rescued))


def _policies(phases: list[PhaseRow]) -> str:
    """Says which reviews are required, optional or none, in few words."""
    found: dict[str, list[str]] = {}
    for row in phases:
        found.setdefault(row["policy"], []).append(str(row["number"]))
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{policy}: {', '.join(found[policy])}" for policy in ReviewPolicy if policy in found)


def _show_phases(console: "Console", state: SessionState, phases: list[PhaseRow]) -> None:
    figures = ("Duration", "Tokens", "Cost")
    table = terminal.table(
        "#", "Phase", "Status", *figures, "Review", right=("#", *figures), flexible=("Phase", "Status")
    )
    for row in phases:
        table.add_row(
            str(row["number"]),
            terminal.styled(row["name"]),
            terminal.word(row["status"]),
            _seconds(row["duration"]),
            _grouped(row["tokens"]),
            _dollars(row["cost"]),
            terminal.word(row["review"] or "-"),
        )
    metrics = state["metrics"]
    table.add_section()
    table.add_row(
        "",
        terminal.styled("total", "bold"),
        "",
        _seconds(metrics["total_duration"]),
        _grouped(metrics["total_tokens"]),
        _dollars(metrics["total_cost"]),
        "",
    )
    terminal.show(console, table)


def _outlook(state: SessionState, phases: list[PhaseRow], rescued: list[str]) -> list[tuple[str, "str | Text"]]:
    voids = [f"phase {row['number']} {row['name']}: {row['void']}" for row in phases if row["void"]]
    stale = [f"phase {row['number']} {row['name']}: {row['stale']}" for row in phases if row["stale"]]
    waiting = [f"phase {row['number']} {row['name']} needs {row['missing']}" for row in phases if _waits(row)]
    return [
        ("Next", _next(state, phases)),
        *_labelled("Missing", waiting),
        *_labelled("Void", voids),
        *_labelled("Stale", stale),
        *_labelled("Edited", [f"{name} (not committed)" for name in state["edited_files"]]),
        *_labelled("Rescued", rescued),
        *_labelled("Recovered", state["recovered"]),
    ]


def _labelled(label: str, texts: list[str]) -> list[tuple[str, "str | Text"]]:
    return [(label if not i else "", text) for i, text in enumerate(texts)]


def _waits(row: PhaseRow) -> bool:
    """Tells whether the session cannot go on behind a phase without a review."""
    return row["policy"] == ReviewPolicy.REQUIRED and row["status"] == PhaseStatus.COMPLETED and bool(row["missing"])


def _next(state: SessionState, phases: list[PhaseRow]) -> str:
    names = {row["number"]: row["name"] for row in phases}
    following = state["next_phase"]
    gate = next((row["number"] for row in phases if _waits(row)), None)
    if gate is not None and (following is None or gate < following):
        return f"the review of phase {gate} {names[gate]}: haytham review {gate}"
    return f"phase {following} {names.get(following, '')}" if following is not None else "nothing, it is completed"


def _seconds(duration: float | None) -> str:
    if duration is None:
        return "-"
    return messages.figures(duration) if duration >= 60 else f"{duration:.1f}s"  # noqa: PLR2004 - a minute


def _grouped(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"${cost:,.4f}"
