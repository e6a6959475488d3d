"""The command `haytham export`.

`--json` prints: form "haytham.export", version 1, kind (session, project or page), project_id, session_id (null for a
project), path, size, sha256, sessions, files, uncommitted.
"""

from pathlib import Path

import click

from haytham.cli import json_output, options, progress, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.exchange_records import ExportRecord
from haytham.domain.headway import OnProgress

_HELP = f"""{COMMANDS["export"][1]}

The file holds every document as it is, also what nobody committed yet, the
journals, and the whole history as a git bundle. It is a zip that any program
opens; haytham import makes the same session of it, byte for byte. PATH is the
new file or the folder for it; without it, the current folder. Nothing is ever
overwritten.

With --html, the file is one page for people: phases, outputs, decisions,
figures and the timeline. It loads nothing and runs nothing, so it can be
mailed; it cannot be imported."""
_EPILOG = """\b
Examples:
  haytham export
  haytham export --session session-456 handover.haytham.zip
  haytham export --project project-123 --whole-project backups/
  haytham export --html report.html"""


@click.command("export", help=_HELP, epilog=_EPILOG)
@click.argument("path", type=click.Path(path_type=Path), required=False, metavar="[PATH]")
@selecting(project="the only one", session="the newest")
@click.option("--whole-project", is_flag=True, help="Export the project with all its sessions")
@click.option("--html", "as_page", is_flag=True, help="Write a page to be read instead")
@options.json_option
@options.help_option
def command(selection: Selection, path: Path | None, *, whole_project: bool, as_page: bool, as_json: bool) -> None:
    """Writes a session or a project into one file."""
    if whole_project and (as_page or selection.session is not None):
        other = "--html" if as_page else "--session"
        raise click.UsageError(f"--whole-project and {other} exclude each other.")
    with progress.shown("Exporting", as_json=as_json) as told:
        record = _exported(selection, path or Path(), told, whole_project=whole_project, as_page=as_page)
    if as_json:
        json_output.emit("export", {**record})
    else:
        _show(record)


def _exported(
    selection: Selection, path: Path, told: OnProgress, *, whole_project: bool, as_page: bool
) -> ExportRecord:
    if whole_project:
        return selection.manager.sessions.export_project(selection.one_project(), path, on_progress=told)
    target = newest_session(selection)
    if as_page:
        return target.manager.export_page(*target.ids, path)
    return target.manager.export_session(*target.ids, path, on_progress=told)


def _show(record: ExportRecord) -> None:
    console = terminal.screen()
    what = record["session_id"] or record["project_id"]
    counts = [_count(record["files"], "output" if record["kind"] == "page" else "file")]
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
