"""The command `haytham watch`.

`--json` prints one object per line, at once and whenever something changed: form "haytham.watch", version 1, session
(as `overview` returns it).
"""

import sys
from collections.abc import Iterator

import click

from haytham.cli import json_output, options, status_display, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.choices import PhaseStatus, SessionStatus
from haytham.domain.records import PhaseOverview, SessionOverview

_HELP = f"""{COMMANDS["watch"][1]}

Goes on until the session is completed, or until Ctrl-C. Decisions that people
write into forms are taken in while it runs. Where the output is no terminal,
each change is a line."""
_EPILOG = """\b
Examples:
  haytham watch
  haytham watch --session session-456
  haytham watch --json | jq -c '.session.phase_statuses'"""


@click.command("watch", help=_HELP, epilog=_EPILOG)
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(selection: Selection, *, as_json: bool) -> None:
    """Shows a session while it goes on."""
    target = newest_session(selection)
    views = target.manager.watch(*target.ids)
    if as_json:
        for session in views:
            json_output.emit("watch", {"session": session}, in_one_line=True)
            sys.stdout.flush()
    elif terminal.is_terminal():
        _show_live(views)
    else:
        _show_lines(views)


def _show_live(views: Iterator[SessionOverview]) -> None:
    with terminal.live(terminal.screen()) as place:
        for session in views:
            view = status_display.session_view(session)
            if session["status"] != SessionStatus.COMPLETED:
                note = terminal.styled("Ctrl-C ends this; the session goes on.", "dim")
                view = terminal.stacked(view, "", note)
            place.update(view, refresh=True)


def _show_lines(views: Iterator[SessionOverview]) -> None:
    console, before = terminal.screen(), dict[str, str]()
    for session in views:
        told = {f"{phase['number']} {phase['name']}": _told(phase) for phase in session["phases"]}
        told[session["session_id"]] = session["status"]
        for name, text in told.items():
            if before.get(name, PhaseStatus.PENDING) != text:
                terminal.plain(console, f"{session['last_updated'][11:19]}  {name}: {text}")
        sys.stdout.flush()
        before = told


def _told(phase: PhaseOverview) -> str:
    attempt = f", attempt {phase['attempt']}" if (phase["attempt"] or 1) > 1 else ""
    review = f", review {phase['review']}" if phase["review"] else ""
    return f"{phase['status']}{attempt}{review}"
