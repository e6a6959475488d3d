"""The command `haytham log`.

`--json` prints: form "haytham.log", version 1, project_id, session_id (null for a project's log), entries, newest
first, where an entry has id, time, author (name, email), subject, body, trailers, session_id (null for an entry of the
project's own history) and signature (null, or state and signer).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.domain.audit_records import LogRecord
from haytham.domain.choices import Action

if TYPE_CHECKING:
    from rich.console import Console

_EPILOG = """\b
Examples:
  haytham log
  haytham log --project project-123
  haytham log --session session-456 --limit 5
  haytham log --phase 2 --decision approved --since 2026-01-31
  haytham log --actor rita@example.org

\b
JSON: project_id, session_id, entries; each entry: id, time, author,
subject, body, trailers, session_id, signature."""

_PREFIX = "Haytham-"
_SIGNATURES = {
    "good": ("signed", "green"),
    "bad": ("bad signature", "red"),
    "unchecked": ("signature not checked", "yellow"),
}
_SHORT_ID = 7
_DAY, _CLOCK = len("2026-01-31"), slice(11, 19)


@click.command("log", help=f"{COMMANDS['log'][1]}, newest first", epilog=_EPILOG)
@selecting(project="the only one", session="all, with the project's own")
@click.option("--phase", type=int, metavar="N", help="Only about phase N")
@click.option("--actor", metavar="WHO", help="Only by people with this in their name or address")
@click.option("--decision", type=click.Choice([each.value for each in Action]), help="Only with this decision")
@click.option("--since", metavar="TIME", help="Only from this day or instant on, for example 2026-01-31")
@click.option("--until", metavar="TIME", help="Only up to this day or instant, for example 2026-01-31T10:00:00Z")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show only the newest N")
@options.json_option
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
    if not entries:
        terminal.plain(console, "Nothing of that is in the history.")
    for day, of_day in groupby(entries, key=lambda entry: entry["time"][:_DAY]):
        terminal.plain(console, f"{day} (UTC)", "bold")
        for entry in of_day:
            _show_entry(console, entry, with_session=with_session)


def _show_entry(console: "Console", entry: LogRecord, *, with_session: bool) -> None:
    result = result_of(entry["trailers"])
    head = terminal.styled(f"{entry['time'][_CLOCK]}  ")
    head.append_text(terminal.styled(entry["id"][:_SHORT_ID], "yellow")).append("  ")
    head.append_text(terminal.styled(entry["subject"], "bold"))
    parts = [terminal.styled(entry["author"]["name"]), *([terminal.word(result)] if result else [])]
    if with_session and entry["session_id"] is not None:
        parts.insert(0, terminal.styled(entry["session_id"], "cyan"))
    if signature := entry["signature"]:
        parts.append(terminal.styled(*_SIGNATURES[signature["state"]]))
    terminal.show(console, head)
    terminal.show(console, terminal.indented(terminal.joined(parts), 19))


def result_of(trailers: Mapping[str, str]) -> str:
    """Returns the decision or the status that a commit tells, by its trailers."""
    return trailers.get(f"{_PREFIX}Decision") or trailers.get(f"{_PREFIX}Status") or ""
