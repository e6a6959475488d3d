"""The command `haytham delete`.

`--json` prints: form "haytham.delete", version 1, session: what `delete_session` returns, or null, and rule: what
`retain_sessions` returns, or null.
"""

from typing import Any

import click

from haytham.cli import json_output, options, retiring, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.retiring import Rule
from haytham.cli.selection import Selection, selecting
from haytham.domain.errors import InvalidInput
from haytham.domain.operation_records import DeletionRecord
from haytham.domain.session_retention import DELETE

_HELP = f"""{COMMANDS["delete"][1]}

Its documents and its history go, for good; the project's history notes it, and
its forks stay. Name one with --session. {retiring.RULE_HELP} One in which
people wrote what is in no history is spared by a rule."""
_EPILOG = """\b
Examples:
  haytham delete --session session-456 --dry-run
  haytham delete --status failed --older-than 30 --dry-run
  haytham delete --keep 20"""


@click.command("delete", help=_HELP, epilog=_EPILOG)
@retiring.by_rule
@click.option("--yes", is_flag=True, help="Do not ask")
@selecting(project="the only one", session="none")
@options.json_option
@options.help_option
def command(selection: Selection, rule: Rule, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Deletes sessions."""
    if (selection.session is None) != rule.is_given:
        raise click.UsageError("name one session with --session, or give a rule that chooses several.")
    delete = _by_rule if rule.is_given else _one
    delete(selection, rule, dry_run=dry_run, yes=yes, as_json=as_json)


def _one(selection: Selection, _rule: Rule, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    manager, project, session = selection.manager.sessions, selection.one_project(), str(selection.session)
    planned = manager.delete_session(project, session, dry_run=True)
    if dry_run:
        _tell({"session": planned, "rule": None}, as_json=as_json)
        return
    if not yes:
        _ask(_listed(planned), as_json=as_json)
    deleted = manager.delete_session(project, session, state=planned["state"])
    _tell({"session": deleted, "rule": None}, as_json=as_json)


def _by_rule(selection: Selection, rule: Rule, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    manager, project = selection.manager.sessions, selection.one_project()
    planned = manager.retain_sessions(project, action=DELETE, dry_run=True, **rule.arguments())
    going = [row["session_id"] for row in planned["chosen"] if row["spared"] is None]
    if dry_run or not going:
        _tell({"session": None, "rule": planned}, as_json=as_json)
        return
    if not yes:
        _ask([f"{len(going)} sessions, {planned['bytes']:,} bytes:", *(f"  {each}" for each in going)], as_json=as_json)
    done = manager.retain_sessions(project, action=DELETE, planned=planned)
    _tell({"session": None, "rule": done}, as_json=as_json)


def _listed(record: DeletionRecord) -> list[str]:
    lost = ["  what is in no history cannot be told"] if record["edited_files"] is None else []
    lost += [f"  in no history: {name}" for name in record["edited_files"] or []]
    lost += [f"  commits of its own: {name}" for name in record["refs"] or []]
    figures = f"{record['files']} files, {record['bytes']:,} bytes, {record['commits']} commits"
    return [f"Session {record['session_id']}: {figures}", f"  {record['path']}", *lost]


def _ask(lines: list[str], *, as_json: bool) -> None:
    """Asks a person; raises InvalidInput where nobody can be asked."""
    if as_json or not terminal.is_conversation():
        hint = "look with --dry-run first; see: haytham delete --help"
        raise InvalidInput("nothing was deleted: nobody can be asked here.", hint=hint)
    for line in lines:
        terminal.plain(terminal.screen(), line)
    click.confirm("Delete for good?", abort=True)


def _tell(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        json_output.emit("delete", found)
    elif found["rule"]:
        retiring.show(found["rule"])
    else:
        _show(found["session"])


def _show(record: DeletionRecord) -> None:
    console = terminal.screen()
    for line in _listed(record):
        terminal.plain(console, line)
    terminal.plain(console, "Would be deleted." if record["dry_run"] else "Deleted.", "yellow")
