"""The command `haytham doctor`.

`--json` prints: form "haytham.doctor", version 1, healthy, checks (each: name, status, found, hint), where status is
ok, warning or problem.
"""

from pathlib import Path

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.reporting import FAULT
from haytham.domain.records import CheckRecord
from haytham.project import doctor

_HELP = f"""{COMMANDS["doctor"][1]}

Versions, your name in git, and the folder of the projects: its file system, room
and permissions, whether files are replaced and locks held as a save needs it.
What it tries out, it removes."""
_EPILOG = """\b
Examples:
  haytham doctor
  haytham doctor --base-dir /mnt/shared/projects

\b
Exit code 1 if there is any problem; a warning is none."""

_STYLES = {doctor.OK: "green", doctor.WARNING: "yellow", doctor.PROBLEM: "red"}


@click.command("doctor", help=_HELP, epilog=_EPILOG)
@options.base_dir_option
@options.json_option
@options.help_option
@click.pass_context
def command(context: click.Context, base_dir: Path, *, as_json: bool) -> None:
    """Checks this machine."""
    checks = doctor.examine(base_dir)
    healthy = all(check["status"] != doctor.PROBLEM for check in checks)
    if as_json:
        json_output.emit("doctor", {"healthy": healthy, "checks": checks})
    else:
        _show(checks)
    if not healthy:
        context.exit(FAULT)


def _show(checks: list[CheckRecord]) -> None:
    console = terminal.screen()
    table = terminal.table("Check", "Status", "Found", flexible=("Found",))
    for check in checks:
        status = terminal.styled(check["status"], _STYLES[check["status"]])
        table.add_row(terminal.styled(check["name"]), status, terminal.styled(check["found"]))
    terminal.show(console, table)
    for check in checks:
        if check["hint"]:
            terminal.show(console)
            terminal.show(console, terminal.paragraph(f"{check['name']}: {check['hint']}"))
