"""The command `haytham next`.

`--json` prints: form "haytham.next", version 1, project_id, session_id, step: null if nothing is left to do, else
phase_num, phase_name, action (run, run_again, retry or review) and reason.
"""

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.styles import STYLES
from haytham.cli.target import Target, newest_session
from haytham.domain import staleness
from haytham.domain.records import ResumeStep

_HELP = f"""{COMMANDS["next"][1]}

The first of the steps that `haytham resume` lists, with the command for it."""
_EPILOG = """\b
Examples:
  haytham next
  haytham next --json | jq -r .step.action"""


@click.command("next", help=_HELP, epilog=_EPILOG)
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(selection: Selection, *, as_json: bool) -> None:
    """Shows what to do next."""
    target = newest_session(selection)
    step = next(iter(target.manager.resume(*target.ids)), None)
    if as_json:
        json_output.emit("next", {**target.form_ids(), "step": step})
    else:
        _show(step) if step else _show_end(target, selection.manager.session_results(*target.ids))


def _show_end(target: Target, results: list[str]) -> None:
    console = terminal.screen()
    if results:
        terminal.plain(console, f"Session {target.session} is completed. Its result:", "green")
        terminal.plain(console, results[-1])
    else:
        terminal.plain(console, "Nothing is left to do. Keep the result:", "green")
        terminal.plain(console, hints.runnable("haytham finish"))


def _show(step: ResumeStep) -> None:
    console = terminal.screen()
    number, action = step["phase_num"], step["action"].replace("_", " ")
    text = f"{action.capitalize()} phase {number} {step['phase_name']}: {step['reason']}"
    terminal.show(console, terminal.styled(text, STYLES.get(step["action"], "")))
    if step["action"] == staleness.REVIEW:
        terminal.plain(console, hints.runnable(f"haytham show {number}"))
        terminal.plain(console, hints.runnable(f"haytham review {number}"))
    else:
        terminal.plain(console, hints.runnable(f"haytham start {number}"))
