"""The command `haytham log`.

`--json` prints: form "haytham.log", version 1, project_id, session_id (null for a project's log), entries, newest
first, where an entry has id, time, author (name, email), subject, body, trailers and session_id (null for an entry of
the project's own history).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.domain import instants
from haytham.project.timeline import Event

if TYPE_CHECKING:
    from rich.console import Console

_EPILOG = """\b
Examples:
  haytham log
  haytham log --project project-123
  haytham log --session session-456 --limit 5

\b
JSON: project_id, session_id, entries; each entry: id, time, author,
subject, body, trailers, session_id."""

_PREFIX = "Haytham-"
_SHORT_ID = 7


@click.command("log", help=f"{COMMANDS['log'][1]}, newest first", epilog=_EPILOG)
@selecting(project="the only one", session="all, with the project's own")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show only the newest N")
@options.json_option
@options.help_option
def command(selection: Selection, limit: int | None, *, as_json: bool) -> None:
    """Shows the history of a session or a project."""
    project_id = selection.one_project()
    events = _events(selection, project_id)[:limit]
    if as_json:
        entries = [_form(event) for event in events]
        json_output.emit("log", {"project_id": project_id, "session_id": selection.session, "entries": entries})
    else:
        _show(events, with_session=selection.session is None)


def _events(selection: Selection, project_id: str) -> list[Event]:
    manager, session = selection.manager, selection.session
    if session is None:
        return manager.history(project_id)
    return [Event(entry=each, session_id=session) for each in manager.sessions.history(project_id, session)]


def _show(events: list[Event], *, with_session: bool) -> None:
    console = terminal.screen()
    for day, of_day in groupby(events, key=lambda event: f"{event.entry.time:%Y-%m-%d}"):
        terminal.plain(console, f"{day} (UTC)", "bold")
        for event in of_day:
            _show_event(console, event, with_session=with_session)


def _show_event(console: "Console", event: Event, *, with_session: bool) -> None:
    entry, result = event.entry, result_of(event.entry.trailers)
    head = terminal.styled(f"{entry.time:%H:%M:%S}  ")
    head.append_text(terminal.styled(entry.id[:_SHORT_ID], "yellow")).append("  ")
    head.append_text(terminal.styled(entry.subject, "bold"))
    parts = [terminal.styled(entry.author.name), *([terminal.word(result)] if result else [])]
    if with_session and event.session_id is not None:
        parts.insert(0, terminal.styled(event.session_id, "cyan"))
    terminal.show(console, head)
    terminal.show(console, terminal.indented(terminal.joined(parts), 19))


def result_of(trailers: Mapping[str, str]) -> str:
    """Returns the decision or the status that a commit tells, by its trailers."""
    return trailers.get(f"{_PREFIX}Decision") or trailers.get(f"{_PREFIX}Status") or ""


def _form(event: Event) -> dict[str, Any]:
    entry = event.entry
    return {
        "id": entry.id,
        "time": instants.text_of(entry.time),
        "author": {"name": entry.author.name, "email": entry.author.email},
        "subject": entry.subject,
        "body": entry.body,
        "trailers": dict(entry.trailers),
        "session_id": event.session_id,
    }
