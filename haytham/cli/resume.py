"""The command `haytham resume`.

`--json` prints: form "haytham.resume", version 1, project_id, session_id, steps (each: phase_num, phase_name, action,
reason), where action is run, run_again, retry or review.
"""

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.styles import STYLES
from haytham.cli.target import newest_session
from haytham.domain import staleness
from haytham.domain.records import ResumeStep

_HELP = f"""{COMMANDS["resume"][1]}

Runs nothing: your orchestrator does. Only what has to be done is listed; a phase
that is completed and still fits what it was made from is left alone."""
_EPILOG = """\b
Examples:
  haytham resume
  haytham resume --session session-456 --json"""

_WORDS = {staleness.RUN_AGAIN: "run again"}


@click.command("resume", help=_HELP, epilog=_EPILOG)
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(selection: Selection, *, as_json: bool) -> None:
    """Shows what to do next."""
    target = newest_session(selection)
    steps = target.manager.resume(*target.ids)
    if as_json:
        json_output.emit("resume", {**target.form_ids(), "steps": steps})
    else:
        _show(steps)


def _show(steps: list[ResumeStep]) -> None:
    console = terminal.screen()
    if not steps:
        terminal.plain(console, "Nothing is left to do.", "green")
        return
    table = terminal.table("#", "Phase", "Do", "Because", right=("#",), flexible=("Phase", "Because"))
    for step in steps:
        action = step["action"]
        table.add_row(
            str(step["phase_num"]),
            terminal.styled(step["phase_name"]),
            terminal.styled(_WORDS.get(action, action), STYLES.get(action, "")),
            terminal.styled(step["reason"]),
        )
    terminal.show(console, table)
    first = steps[0]
    if first["action"] == staleness.REVIEW:
        terminal.show(console)
        terminal.plain(console, hints.runnable(f"Decide: haytham review {first['phase_num']}"))
