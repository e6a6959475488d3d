"""The command `haytham archive`.

`--json` prints: form "haytham.archive", version 1, project_id, session_id, archived (since when, or null), and rule:
null for one session, else what `retain_sessions` returns.
"""

import click

from haytham.cli import json_output, options, retiring, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.retiring import Rule
from haytham.cli.selection import Selection, selecting
from haytham.domain.session_retention import ARCHIVE

_HELP = f"""{COMMANDS["archive"][1]}

An archived session is refused changes until --undo; everything can still be
read, and what people wrote and nobody committed is committed first. Name one
with --session. {retiring.RULE_HELP}"""
_EPILOG = """\b
Examples:
  haytham archive --session session-456
  haytham archive --session session-456 --undo
  haytham archive --older-than 30 --keep 5 --dry-run"""


@click.command("archive", help=_HELP, epilog=_EPILOG)
@click.option("--undo", is_flag=True, help="Open an archived session again")
@retiring.by_rule
@selecting(project="the only one", session="none")
@options.json_option
@options.help_option
def command(selection: Selection, rule: Rule, *, undo: bool, dry_run: bool, as_json: bool) -> None:
    """Archives sessions."""
    if (selection.session is None) != rule.is_given or (undo and rule.is_given):
        raise click.UsageError("name one session with --session, or give a rule that chooses several.")
    if dry_run and not rule.is_given:
        raise click.UsageError("--dry-run goes with a rule.")
    if rule.is_given:
        _by_rule(selection, rule, dry_run=dry_run, as_json=as_json)
    else:
        _one(selection, undo=undo, as_json=as_json)


def _one(selection: Selection, *, undo: bool, as_json: bool) -> None:
    manager, project, session = selection.manager.sessions, selection.one_project(), str(selection.session)
    change = manager.unarchive_session if undo else manager.archive_session
    since = change(project, session)["archived"]
    if as_json:
        found = {"project_id": project, "session_id": session, "archived": since, "rule": None}
        json_output.emit("archive", found)
    else:
        words = f"archived since {since}" if since else "open"
        terminal.plain(terminal.screen(), f"Session {session} is {words}.", "green")


def _by_rule(selection: Selection, rule: Rule, *, dry_run: bool, as_json: bool) -> None:
    project = selection.one_project()
    record = selection.manager.sessions.retain_sessions(project, action=ARCHIVE, dry_run=dry_run, **rule.arguments())
    if as_json:
        found = {"project_id": project, "session_id": None, "archived": None, "rule": record}
        json_output.emit("archive", found)
    else:
        retiring.show(record)
