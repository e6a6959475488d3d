"""The command `haytham finish`.

`--json` prints: form "haytham.finish", version 1, and what `complete_session` of a project returns: project_id,
session_id, status, completed, requirements_version, requirements_file, unfinished_phases, metrics.
"""

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import open_session
from haytham.cli.text_file import TextFile

_HELP = f"""{COMMANDS["finish"][1]}

FILE is the result, kept as the project's outputs/requirements_vN.md; the file -
is standard input. Phases that have not run are left out, and named; a required
review that is missing is not."""
_EPILOG = """\b
Examples:
  haytham finish requirements.md
  haytham finish - --session session-456 < requirements.md

\b
JSON: project_id, session_id, status, completed, requirements_version,
requirements_file, unfinished_phases, metrics."""


@click.command("finish", help=_HELP, epilog=_EPILOG)
@click.argument("result", type=TextFile(), metavar="FILE")
@selecting(project="the only one", session="the only one that is not completed")
@options.json_option
@options.help_option
def command(result: str, selection: Selection, *, as_json: bool) -> None:
    """Ends a session."""
    target = open_session(selection)
    ended = selection.manager.complete_session(*target.ids, result)
    if as_json:
        json_output.emit("finish", ended)
        return
    left_out = ", ".join(str(number) for number in ended["unfinished_phases"])
    console = terminal.screen()
    terminal.facts(
        console,
        [
            ("Session", f"{ended['session_id']}: {ended['status']}"),
            *([("Not run", f"phases {left_out}")] if left_out else []),
        ],
    )
    terminal.plain(console, ended["requirements_file"])
