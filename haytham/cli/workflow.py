"""The commands `haytham workflow list`, `show` and `check`.

`--json` prints: form "haytham.workflows", version 1, workflows; form "haytham.workflow", version 1, workflow; form
"haytham.workflow_check", version 1, path, valid, name (null if it cannot be read), problems.
"""

from pathlib import Path
from typing import Any

import click

from haytham.checkpoint.workflow_registry import WorkflowRegistry
from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.reporting import FAULT
from haytham.cli.suggesting import SuggestingGroup
from haytham.domain.errors import HaythamError
from haytham.domain.workflow import Phase, Workflow

_EPILOG = """\b
Examples:
  haytham workflow list
  haytham workflow show idea_validation
  haytham workflow check release_notes.toml"""


@click.group("workflow", cls=SuggestingGroup, help=COMMANDS["workflow"][1], epilog=_EPILOG)
@options.help_option
def command() -> None:
    """Holds the commands about workflows."""


@command.command(
    "list",
    help="List the workflows that are built in",
    epilog="\b\nExamples:\n  haytham workflow list\n  haytham workflow list --json",
)
@options.json_option
@options.help_option
def list_command(*, as_json: bool) -> None:
    """Lists workflows."""
    registry = WorkflowRegistry(())
    found = [registry.named(name) for name in registry.names()]
    if as_json:
        json_output.emit("workflows", {"workflows": [_value(each) for each in found]})
        return
    table = terminal.table("Workflow", "Title", "Phases", "Modes", right=("Phases",), flexible=("Title", "Modes"))
    for each in found:
        cells = [each.name, each.title, str(len(each.phases)), ", ".join(each.modes)]
        table.add_row(*(terminal.styled(cell) for cell in cells))
    terminal.show(terminal.screen(), table)


@command.command(
    "show",
    help="Show a workflow: its modes, phases, agents and reviews\n\nWORKFLOW is a name, or a file that ends in .toml.",
    epilog="\b\nExamples:\n  haytham workflow show idea_validation\n  haytham workflow show release_notes.toml",
)
@click.argument("workflow", metavar="WORKFLOW")
@options.json_option
@options.help_option
def show_command(workflow: str, *, as_json: bool) -> None:
    """Shows one workflow."""
    registry = WorkflowRegistry(())
    found = registry.named(registry.register(workflow) if workflow.endswith(".toml") else workflow)
    if as_json:
        json_output.emit("workflow", {"workflow": _value(found)})
    else:
        _show(found)


@command.command(
    "check",
    help="Check a workflow file\n\nExit code 1 if it cannot be used, with every problem and its place.",
    epilog="\b\nExamples:\n  haytham workflow check release_notes.toml",
)
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@options.json_option
@options.help_option
@click.pass_context
def check_command(context: click.Context, path: Path, *, as_json: bool) -> None:
    """Checks a workflow file."""
    registry = WorkflowRegistry(())
    try:
        name = registry.register(path)
    except HaythamError as error:
        if not as_json:
            raise
        problems = [problem.record() for problem in error.problems]
        json_output.emit("workflow_check", {"path": str(path), "valid": False, "name": None, "problems": problems})
        context.exit(FAULT)
    if as_json:
        json_output.emit("workflow_check", {"path": str(path), "valid": True, "name": name, "problems": []})
        return
    found = registry.named(name)
    counts = f"{len(found.phases)} phases, modes {', '.join(found.modes)}"
    terminal.plain(terminal.screen(), f"{name} can be used: {counts}.", "green")


def _show(workflow: Workflow) -> None:
    console = terminal.screen()
    modes = [f"{mode}: {', '.join(str(each) for each in numbers)}" for mode, numbers in workflow.modes.items()]
    facts = [("Workflow", workflow.name), ("Title", workflow.title), ("Retries", f"at most {workflow.max_retries}")]
    terminal.facts(console, [*facts, *(("Modes" if not i else "", each) for i, each in enumerate(modes))])
    terminal.show(console)
    table = terminal.table("#", "Phase", "Agents", "Review", right=("#",), flexible=("Phase", "Agents", "Review"))
    for phase in workflow.phases:
        cells = [str(phase.number), phase.name, _agents(phase), _review(phase)]
        table.add_row(*(terminal.styled(cell) for cell in cells))
    terminal.show(console, table)


def _agents(phase: Phase) -> str:
    own = [f"{mode}: {', '.join(names)}" for mode, names in phase.agents_by_mode.items()]
    return "; ".join([", ".join(phase.agents) or "-", *own])


def _review(phase: Phase) -> str:
    wanted = phase.approvals
    number = [f"{wanted.minimum} people"] if wanted.minimum > 1 else []
    return ", ".join([phase.review.value, *number, *wanted.roles])


def _value(workflow: Workflow) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "title": workflow.title,
        "max_retries": workflow.max_retries,
        "default_mode": workflow.default_mode,
        "modes": {mode: list(numbers) for mode, numbers in workflow.modes.items()},
        "phases": [_phase(phase) for phase in workflow.phases],
    }


def _phase(phase: Phase) -> dict[str, Any]:
    return {
        "number": phase.number,
        "name": phase.name,
        "folder": phase.folder,
        "agents": list(phase.agents),
        "agents_by_mode": {mode: list(names) for mode, names in phase.agents_by_mode.items()},
        "review": phase.review.value,
        "approvals": {
            "minimum": phase.approvals.minimum,
            "roles": list(phase.approvals.roles),
            "expires_after_days": phase.approvals.expires_after_days,
        },
    }
