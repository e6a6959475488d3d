"""The command `haytham export`.

`--json` prints: form "haytham.export", version 1, kind (session, project or page), project_id, session_id (null for a
project), path, size, sha256, sessions, files, uncommitted.
"""

from pathlib import Path

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.exchange_records import ExportRecord

_HELP = f"""{COMMANDS["export"][1]}

The file holds every document as it is, also what nobody committed yet, the
journals, and the whole history as a git bundle. It is a zip that any program
opens; haytham import makes the same session of it, byte for byte. PATH is the
new file or the folder for it; without it, the current folder. Nothing is ever
overwritten."""
_EPILOG = """\b
Examples:
  haytham export
  haytham export --session session-456 handover.haytham.zip
  haytham export --project project-123 --whole-project backups/

\b
JSON: kind, project_id, session_id, path, size, sha256, sessions, files,
uncommitted."""


@click.command("export", help=_HELP, epilog=_EPILOG)
@click.argument("path", type=click.Path(path_type=Path), required=False, metavar="[PATH]")
@selecting(project="the only one", session="the newest")
@click.option("--whole-project", is_flag=True, help="Export the project with all its sessions")
@options.json_option
@options.help_option
def command(selection: Selection, path: Path | None, *, whole_project: bool, as_json: bool) -> None:
    """Writes a session or a project into one file."""
    if whole_project and selection.session is not None:
        raise click.UsageError("--whole-project and --session exclude each other.")
    record = _exported(selection, path or Path(), whole_project=whole_project)
    if as_json:
        json_output.emit("export", {**record})
    else:
        _show(record)


def _exported(selection: Selection, path: Path, *, whole_project: bool) -> ExportRecord:
    if whole_project:
        return selection.manager.sessions.export_project(selection.one_project(), path)
    target = newest_session(selection)
    return target.manager.export_session(*target.ids, path)


def _show(record: ExportRecord) -> None:
    console = terminal.screen()
    what = record["session_id"] or record["project_id"]
    counts = [_count(record["files"], "file")]
    if record["kind"] == "project":
        counts.append(_count(len(record["sessions"]), "session"))
    terminal.plain(console, f"{record['kind'].capitalize()} {what}: {', '.join(counts)}", "green")
    terminal.plain(console, record["path"])
    rows = [("Size", f"{record['size']:,} bytes"), ("SHA-256", record["sha256"])]
    if record["uncommitted"]:
        rows.append(("Edited", f"{', '.join(record['uncommitted'])} (not committed, included as it is)"))
    terminal.facts(console, rows)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
