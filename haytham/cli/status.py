"""The command `haytham status`.

`--json` prints: form "haytham.status", version 1, projects (each as `get_project_status` returns it) and session: null
when more than one project is shown, else what `overview` returns.
"""

import click

from haytham.cli import hints, json_output, options, status_display
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, newest, selecting
from haytham.domain.errors import InvalidDocument, Problem
from haytham.domain.records import ProjectStatusRecord, SessionOverview

_EPILOG = """\b
Examples:
  haytham status
  haytham status --project project-123
  haytham status --session session-456 --json

\b
Review: open (nobody decided yet), partly (more approvals are needed),
approved, changes (another attempt is asked for), skip, exhausted.
Void: an approval of content that has changed since. Stale: made from
content that has changed since. Own: somebody's own file beside the
outputs. Rescued: what somebody saved just when Haytham wrote the same
file; both versions are there."""


@click.command("status", help=COMMANDS["status"][1], epilog=_EPILOG)
@selecting(project="the only one, else a list of all", session="the newest")
@options.json_option
@options.help_option
def command(selection: Selection, *, as_json: bool) -> None:
    """Shows projects, or one session."""
    projects, session = _look(selection)
    if as_json:
        json_output.emit("status", {"projects": projects, "session": session})
    elif len(projects) == 1 and "problem" not in projects[0]:
        status_display.show_project(projects[0], session)
    else:
        status_display.show_projects(projects, selection.base_dir)
    if session and session["problems"]:
        raise InvalidDocument([Problem.of(each) for each in session["problems"]])


def _look(selection: Selection) -> tuple[list[ProjectStatusRecord], SessionOverview | None]:
    """Returns all projects or, where one is meant, that one with its session, by default the newest."""
    ids, manager = selection.projects(), selection.manager
    if len(ids) != 1:
        return manager.list_projects(), None
    project = manager.get_project_status(ids[0])
    session_id = selection.session or newest(project["sessions"])
    if session_id is not None and len(project["sessions"]) > 1:
        hints.need_session(session_id)
    return [project], manager.sessions.overview(ids[0], session_id) if session_id is not None else None
