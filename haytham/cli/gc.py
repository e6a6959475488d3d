"""The command `haytham gc`.

`--json` prints: form "haytham.gc", version 1, folders (each: folder, bytes_before, bytes_after, removed, torn).
"""

import click

from haytham.cli import json_output, options, progress, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.domain.operation_records import CleanupRecord

_HELP = f"""{COMMANDS["gc"][1]}

Files that dead processes left are removed, and git puts the objects of each
history into one pack. Nothing that anybody wrote is removed: of journals, the
pieces that a crash had torn off are listed if they are old."""
_EPILOG = """\b
Examples:
  haytham gc
  haytham gc --session session-456
  haytham gc --torn-after 7 --json"""


@click.command("gc", help=_HELP, epilog=_EPILOG)
@click.option("--torn-after", type=float, default=30, metavar="DAYS", help="List torn pieces so old [default: 30]")
@selecting(project="the only one", session="all, with the project's own")
@options.json_option
@options.help_option
def command(torn_after: float, selection: Selection, *, as_json: bool) -> None:
    """Cleans up."""
    project, manager = selection.one_project(), selection.manager.sessions
    with progress.shown("Cleaning up", as_json=as_json) as told:
        folders = manager.gc(project, selection.session, torn_after_days=torn_after, on_progress=told)
    if as_json:
        json_output.emit("gc", {"folders": folders})
    else:
        _show(folders)


def _show(folders: list[CleanupRecord]) -> None:
    console = terminal.screen()
    rows = [("removed", name) for folder in folders for name in folder["removed"]]
    rows += [("torn", name) for folder in folders for name in folder["torn"]]
    for word, name in rows:
        terminal.plain(console, f"{word.ljust(7)}  {name}")
    before, after = sum(each["bytes_before"] for each in folders), sum(each["bytes_after"] for each in folders)
    places = f"{len(folders)} folder{'' if len(folders) == 1 else 's'}"
    terminal.plain(console, f"{places}: {before:,} bytes before, {after:,} after.", "green")
