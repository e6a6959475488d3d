"""The command `haytham complete`."""

import click

from haytham.cli import options, phase_display
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, listing, selecting
from haytham.cli.target import Target, open_session
from haytham.cli.text_file import AgentOutput
from haytham.domain.choices import PhaseStatus
from haytham.domain.errors import InvalidInput
from haytham.domain.workflow import Phase

_HELP = f"""{COMMANDS["complete"][1]}

For whoever runs phases by hand; an orchestrator does this through the API.
PHASE is its number; without it, the only one that is in progress. All files are
saved in one commit, byte for byte; an agent without a name is called as its file
is, and the file - is standard input."""
_EPILOG = """\b
Examples:
  haytham complete -o concept_expansion.md
  haytham complete 2 -o market_intelligence=a.md -o competitor_analysis=b.md
  llm "Expand this idea" | haytham complete 1 -o concept_expansion=-"""


@click.command("complete", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@click.option(
    "-o", "--output", "outputs", type=AgentOutput(), multiple=True, required=True, help="What an agent wrote; repeat it"
)
@selecting(project="the only one", session="the only one that is not completed")
@options.json_option
@options.help_option
def command(phase: int | None, selection: Selection, outputs: tuple[tuple[str, str], ...], *, as_json: bool) -> None:
    """Completes a phase."""
    target = open_session(selection)
    chosen = target.phase(phase) if phase is not None else _running(target)
    given = [{"agent_name": agent, "output_content": text} for agent, text in outputs]
    target.manager.complete_phase(*target.ids, chosen.number, given)
    _warn(target, chosen, {agent for agent, _ in outputs})
    phase_display.show(target, chosen, as_json=as_json)


def _warn(target: Target, phase: Phase, given: set[str]) -> None:
    """Tells on standard error which agents of the phase gave nothing: a misspelt name is an agent of its own."""
    mode = target.manager.load_session(*target.ids)["execution_mode"]
    silent = [agent for agent in phase.agents_in(mode) if agent not in given]
    if silent:
        click.echo(f"Warning: nothing came from {listing(silent)} of phase {phase.number}.", err=True)


def _running(target: Target) -> Phase:
    statuses = target.manager.load_session(*target.ids)["phase_statuses"]
    found = [number for number, status in statuses.items() if status == PhaseStatus.IN_PROGRESS]
    if len(found) == 1:
        return target.phase(found[0])
    if not found:
        raise InvalidInput("no phase is in progress.", hint="name one, or begin one: haytham start.")
    names = listing([str(number) for number in found])
    raise InvalidInput(f"{len(found)} phases are in progress, and none is named.", hint=f"name one of: {names}.")
