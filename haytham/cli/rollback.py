"""The command `haytham rollback`.

`--json` prints: form "haytham.rollback", version 1, and what `rollback` returns: project_id, session_id, to, phase,
commit (null if nothing changed), restored, removed, reopened, kept_edits, dry_run.
"""

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.operation_records import RollbackRecord

_HELP = f"""{COMMANDS["rollback"][1]}

PHASE is the number of the last phase to keep: those behind it are pending
again. With --commit, every phase becomes what it was then. Nothing is lost:
going back is a new commit, and what people wrote and nobody committed is
committed first."""
_EPILOG = """\b
Examples:
  haytham rollback 3 --dry-run
  haytham rollback 3 -m "The market changed."
  haytham rollback --commit 1a2b3c4"""


@click.command("rollback", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@options.point_commit_option
@click.option("-m", "--reason", metavar="TEXT", default="", help="Why, for the history")
@options.dry_run_option
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(
    phase: int | None, commit: str | None, reason: str, selection: Selection, *, dry_run: bool, as_json: bool
) -> None:
    """Takes a session back."""
    if phase is None and commit is None:
        raise click.UsageError("name a phase, or a commit with --commit.")
    target = newest_session(selection)
    record = target.manager.rollback(*target.ids, phase=phase, commit=commit, reason=reason, dry_run=dry_run)
    if as_json:
        json_output.emit("rollback", {**record})
    else:
        _show(record)


def _show(record: RollbackRecord) -> None:
    console = terminal.screen()
    changed = record["restored"] or record["removed"]
    what = f"phase {record['phase']}" if record["phase"] is not None else f"commit {record['to'][:7]}"
    if not changed:
        terminal.plain(console, f"Session {record['session_id']} is at {what} already.")
        return
    verb = "would go back" if record["dry_run"] else "went back"
    terminal.plain(console, f"Session {record['session_id']} {verb} to {what}", "green")
    for word, names in (("restore", record["restored"]), ("remove", record["removed"]), ("keep", record["kept_edits"])):
        for name in names:
            terminal.plain(console, f"  {word.ljust(7)}  {name}")
    if record["reopened"]:
        numbers = options.numbers(record["reopened"], "")
        terminal.plain(console, f"To be reviewed again, because the decision was withdrawn later: phase {numbers}")
    if record["commit"]:
        terminal.plain(console, f"Commit {record['commit']}")
