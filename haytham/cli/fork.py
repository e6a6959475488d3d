"""The command `haytham fork`.

`--json` prints: form "haytham.fork", version 1, and what `fork` returns: project_id, session_id (the new one), path,
origin, commit, phase, kept_phases, pending_phases, reopened.
"""

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.operation_records import ForkRecord

_HELP = f"""{COMMANDS["fork"][1]}

ID is the new session's; without it, one is made up. It has the history of the
session that it comes from, and goes on behind the phase or the commit that is
named, or else behind the newest commit. Approvals hold, because what was
approved is the same; one that was withdrawn later does not come back."""
_EPILOG = """\b
Examples:
  haytham fork --phase 3
  haytham fork other-niche --session session-456 --phase 2
  haytham fork --commit 1a2b3c4 --json"""


@click.command("fork", help=_HELP, epilog=_EPILOG)
@click.argument("new_id", required=False, metavar="[ID]")
@options.point_phase_option
@options.point_commit_option
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(new_id: str | None, phase: int | None, commit: str | None, selection: Selection, *, as_json: bool) -> None:
    """Makes a session from a point of another one."""
    target = newest_session(selection)
    record = target.manager.fork(*target.ids, new_id, phase=phase, commit=commit)
    if as_json:
        json_output.emit("fork", {**record})
    else:
        _show(record)


def _show(record: ForkRecord) -> None:
    console = terminal.screen()
    terminal.plain(console, f"Session {record['session_id']} forked from {record['origin']}", "green")
    terminal.plain(console, record["path"])
    rows = [("Commit", record["commit"]), ("Kept", options.numbers(record["kept_phases"], "no phase"))]
    rows.append(("Pending", options.numbers(record["pending_phases"], "nothing")))
    if record["reopened"]:
        rows.append(("Review", f"{options.numbers(record['reopened'], '')}: the decision was withdrawn later"))
    terminal.facts(console, rows)
    terminal.show(console)
    terminal.plain(console, hints.runnable("What to do: haytham next", session=record["session_id"]))
