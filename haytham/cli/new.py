"""The command `haytham new`.

`--json` prints: form "haytham.new", version 1, and what `start_session` returns: project_id, session_id, user_id,
workflow_type, execution_mode, status, created, path.
"""

from pathlib import Path

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.project.project_manager import ProjectManager

_HELP = f"""{COMMANDS["new"][1]}

A session keeps its own copy of its workflow: changing the file later does not
change a session that has begun. --review says whether phases wait for a person:
required, optional or none, for all of them or, as N=POLICY, for one."""
_EPILOG = """\b
Examples:
  haytham new
  haytham new --review required
  haytham new --mode full --review 1=required --review 3=none
  haytham new --workflow release_notes.toml"""


@click.command("new", help=_HELP, epilog=_EPILOG)
@click.option(
    "--workflow",
    default="idea_validation",
    metavar="NAME|FILE",
    help="Workflow, or a file that ends in .toml [default: idea_validation]",
)
@options.mode_option
@click.option(
    "--review", "reviews", multiple=True, metavar="[N=]POLICY", help="Review policy [default: the workflow's]"
)
@selecting(project="the only one")
@options.json_option
@options.help_option
def command(selection: Selection, workflow: str, mode: str | None, reviews: tuple[str, ...], *, as_json: bool) -> None:
    """Begins a session."""
    project, manager = selection.one_project(), selection.manager
    name = known_as(manager, workflow)
    started = manager.start_session(project, name, execution_mode=mode, review=_policies(reviews))
    if as_json:
        json_output.emit("new", started)
        return
    console = terminal.screen()
    about = f"{started['workflow_type']}, mode {started['execution_mode']}"
    terminal.facts(console, [("Session", started["session_id"]), ("Workflow", about)])
    terminal.plain(console, started["path"])
    terminal.show(console)
    terminal.plain(console, hints.runnable("What to do: haytham next"))


def known_as(manager: ProjectManager, workflow: str) -> str:
    """Returns the name of a workflow; a file is made known first."""
    return manager.sessions.register_workflow(Path(workflow)) if workflow.endswith(".toml") else workflow


def _policies(given: tuple[str, ...]) -> str | dict[int, str] | None:
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return dict(_pair(each) for each in given) or None


def _pair(text: str) -> tuple[int, str]:
    number, _, policy = text.partition("=")
    if not number.isdecimal() or not policy:
        raise click.BadParameter(f"{text!r} is no N=POLICY", param_hint="'--review'")
    return int(number), policy
