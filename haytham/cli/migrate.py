"""The command `haytham migrate`.

`--json` prints: form "haytham.migrate", version 1, project_id, format (the present one), documents (each: path, kind,
format), backup (null if nothing was written), dry_run.
"""

from pathlib import Path

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection
from haytham.domain.exchange_records import MigrationReport

_HELP = f"""{COMMANDS["migrate"][1]}

Old documents are understood as they are; this rewrites them, as one commit for
each session and one for the project, after exporting the project to a file.
Outputs of agents stay as they are, because approvals are bound to their bytes."""
_EPILOG = """\b
Examples:
  haytham migrate --dry-run
  haytham migrate --project project-123 --backup before.haytham.zip"""


@click.command("migrate", help=_HELP, epilog=_EPILOG)
@options.base_dir_option
@options.project_option("the only one")
@click.option(
    "--backup",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="PATH",
    help="New file, or folder, for the project as it was [default: the current folder]",
)
@click.option("--dry-run", is_flag=True, help="Only list what would be rewritten")
@options.json_option
@options.help_option
def command(base_dir: Path, project: str | None, backup: Path, *, dry_run: bool, as_json: bool) -> None:
    """Brings documents up to the present format."""
    selection = Selection(base_dir=base_dir, project=project, session=None)
    report = selection.manager.sessions.migrate_project(selection.one_project(), backup, dry_run=dry_run)
    if as_json:
        json_output.emit("migrate", {**report})
    else:
        _show(report)


def _show(report: MigrationReport) -> None:
    console = terminal.screen()
    if not report["documents"]:
        terminal.plain(console, f"Every document is of format {report['format']}.", "green")
        return
    verb = "would be rewritten" if report["dry_run"] else "rewritten"
    for each in report["documents"]:
        terminal.plain(console, f"{each['path']}: format {each['format']} to {report['format']}, {verb}")
    if report["backup"]:
        terminal.plain(console, f"Backup: {report['backup']}")
