"""The command `haytham log`.

`--json` prints: form "haytham.log", version 1, project_id, session_id (null for a project's log), entries, newest
first, where an entry has id, time, author (name, email), subject, body, trailers, session_id (null for an entry of the
project's own history) and signature (null, or state, signer and identity).
"""

from typing import Any

import click

from haytham.cli import json_output, log_lines, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.pager import paged
from haytham.cli.selection import Selection, selecting
from haytham.domain.audit_records import LogRecord
from haytham.domain.choices import Action

_EPILOG = """\b
Examples:
  haytham log
  haytham log --project project-123
  haytham log --session session-456 --limit 5
  haytham log --phase 2 --decision approved --since 2026-01-31
  haytham log --actor rita@example.org"""


@click.command("log", help=f"{COMMANDS['log'][1]}, newest first", epilog=_EPILOG)
@selecting(project="the only one", session="all, with the project's own")
@click.option("--phase", type=int, metavar="N", help="Only about phase N")
@click.option("--actor", metavar="WHO", help="Only by people with this in their name or address")
@click.option(
    "--decision",
    type=click.Choice([each.value for each in Action]),
    metavar="ACTION",
    help="Only with this decision, for example approved",
)
@click.option("--since", metavar="TIME", help="Only from this day or instant on, for example 2026-01-31")
@click.option("--until", metavar="TIME", help="Only up to this day or instant, for example 2026-01-31T10:00:00Z")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show only the newest N")
@options.json_option
@paged
@options.help_option
def command(selection: Selection, limit: int | None, *, as_json: bool, **wanted: Any) -> None:
    """Shows the history of a session or a project."""
    project_id = selection.one_project()
    entries = _entries(selection, project_id, wanted)[:limit]
    if as_json:
        json_output.emit("log", {"project_id": project_id, "session_id": selection.session, "entries": entries})
    else:
        _show(entries, with_session=selection.session is None)


def _entries(selection: Selection, project_id: str, wanted: dict[str, Any]) -> list[LogRecord]:
    manager, session = selection.manager, selection.session
    return manager.log(project_id, **wanted) if session is None else manager.sessions.log(project_id, session, **wanted)


def _show(entries: list[LogRecord], *, with_session: bool) -> None:
    console = terminal.screen()
    for indent, pieces in log_lines.lines(entries, with_session=with_session):
        terminal.line(console, pieces, indent)
