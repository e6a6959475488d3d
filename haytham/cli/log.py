"""The command `haytham log`.

`--json` prints: form "haytham.log", version 1, project_id, session_id (null for a project's log), entries, newest
first, where an entry has id, time, author (name, email), subject, body, trailers and session_id (null for an entry of
the project's own history).
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import inspection, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.options import base_dir_option, help_option, json_option, project_option, session_option
from haytham.cli.selection import Selection
from haytham.domain import instants
from haytham.storage.history import Entry

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One commit, and the session whose history it is in; None for the project's own."""

    entry: Entry
    session: str | None


@click.command("log", help=f"{COMMANDS['log'][1]}, newest first", epilog=_EPILOG)
@base_dir_option
@project_option("the only one")
@session_option("all, with the project's own")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Show only the newest N")
@json_option
@help_option
def command(base_dir: Path, project: str | None, session: str | None, limit: int | None, *, as_json: bool) -> None:
    """Shows the history of a session or a project."""
    project_id = Selection(base_dir=base_dir, project=project, session=session).one_project()
    lines = _lines(base_dir, project_id, session)[:limit]
    if as_json:
        entries = [_form(line) for line in lines]
        terminal.emit_json("haytham.log", {"project_id": project_id, "session_id": session, "entries": entries})
    else:
        _show(lines, with_session=session is None)


def _lines(base_dir: Path, project_id: str, session: str | None) -> list[Line]:
    manager = CheckpointManager(base_dir)
    sessions = inspection.session_ids(base_dir, project_id) if session is None else [session]
    histories = [[Line(entry=each, session=s) for each in manager.history(project_id, s)] for s in sessions]
    if session is None:
        own = inspection.project_history(base_dir, project_id)
        histories.append([Line(entry=each, session=None) for each in own])
    return _interleaved(histories)


def _interleaved(histories: Iterable[list[Line]]) -> list[Line]:
    """Merges histories by time; each keeps its own order, whatever a clock did."""
    return list(heapq.merge(*histories, key=lambda line: line.entry.time, reverse=True))


def _show(lines: list[Line], *, with_session: bool) -> None:
    console = terminal.screen()
    for day, of_day in groupby(lines, key=lambda line: f"{line.entry.time:%Y-%m-%d}"):
        terminal.plain(console, f"{day} (UTC)", "bold")
        for line in of_day:
            _show_line(console, line, with_session=with_session)


def _show_line(console: "Console", line: Line, *, with_session: bool) -> None:
    entry, result = line.entry, result_of(line.entry.trailers)
    head = terminal.styled(f"{entry.time:%H:%M:%S}  ")
    head.append_text(terminal.styled(entry.id[:_SHORT_ID], "yellow")).append("  ")
    head.append_text(terminal.styled(entry.subject, "bold"))
    parts = [terminal.styled(entry.author.name), *([terminal.word(result)] if result else [])]
    if with_session and line.session is not None:
        parts.insert(0, terminal.styled(line.session, "cyan"))
    terminal.show(console, head)
    terminal.show(console, terminal.indented(terminal.joined(parts), 19))


def result_of(trailers: Mapping[str, str]) -> str:
    """Returns the decision or the status that a commit tells, by its trailers."""
    return trailers.get(f"{_PREFIX}Decision") or trailers.get(f"{_PREFIX}Status") or ""


def _form(line: Line) -> dict[str, Any]:
    entry = line.entry
    return {
        "id": entry.id,
        "time": instants.text_of(entry.time),
        "author": {"name": entry.author.name, "email": entry.author.email},
        "subject": entry.subject,
        "body": entry.body,
        "trailers": dict(entry.trailers),
        "session_id": line.session,
    }
