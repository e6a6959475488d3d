"""The command `haytham repair`.

`--json` prints: form "haytham.repair", version 1, and what `repair` returns: project_id, session_id, finished, removed,
edited_files, journals, rescued_files.
"""

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, newest, selecting
from haytham.domain.errors import Location, NotFound
from haytham.domain.operation_records import RepairRecord

_HELP = f"""{COMMANDS["repair"][1]}

Opening a session does most of it by itself. Beyond that, a journal that is
damaged goes on from its last whole entry, and the rest is put into a file
beside it. What people wrote is left alone, and listed."""
_EPILOG = """\b
Examples:
  haytham repair
  haytham repair --session session-456 --json"""


@click.command("repair", help=_HELP, epilog=_EPILOG)
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(selection: Selection, *, as_json: bool) -> None:
    """Repairs a session."""
    project, manager = selection.one_project(), selection.manager.sessions
    session = selection.session or newest(manager.list_sessions(project))  # not opened: that would repair in silence
    if session is None:
        raise NotFound("the project has no sessions yet.", location=Location(path=str(selection.base_dir / project)))
    record = manager.repair(project, session)
    if as_json:
        json_output.emit("repair", {**record})
    else:
        _show(record)


def _show(record: RepairRecord) -> None:
    console = terminal.screen()
    rows = [("finished", each) for each in record["finished"]]
    rows += [("removed", each) for each in record["removed"]]
    rows += [("journal", each) for each in record["journals"]]
    for word, line in rows:
        terminal.plain(console, f"{word.ljust(8)}  {line}")
    for word, names in (("edited", record["edited_files"]), ("rescued", record["rescued_files"])):
        for name in names:
            terminal.plain(console, f"{word.ljust(8)}  {name} (left alone)")
    text = f"Session {record['session_id']}: " + (f"{len(rows)} repaired." if rows else "nothing to repair.")
    terminal.plain(console, text, "green")
