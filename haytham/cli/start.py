"""The command `haytham start`."""

import click

from haytham.cli import options, phase_display
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, open_session
from haytham.domain import staleness
from haytham.domain.errors import GateClosed, InvalidInput, Location
from haytham.domain.workflow import Phase

_HELP = f"""{COMMANDS["start"][1]}

For whoever runs phases by hand; an orchestrator does this through the API.
PHASE is its number; without it, the one that `haytham next` names.
A phase behind a required review that is missing is refused."""
_EPILOG = """\b
Examples:
  haytham start
  haytham start 2"""


@click.command("start", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@selecting(project="the only one", session="the only one that is not completed")
@options.json_option
@options.help_option
def command(phase: int | None, selection: Selection, *, as_json: bool) -> None:
    """Notes that a phase begins."""
    target = open_session(selection)
    chosen = target.phase(phase) if phase is not None else _next(target)
    target.manager.start_phase(*target.ids, chosen.number)
    phase_display.show(target, chosen, as_json=as_json)


def _next(target: Target) -> Phase:
    step = next(iter(target.manager.resume(*target.ids)), None)
    if step is None:
        raise InvalidInput("nothing is left to do in this session.", hint="name a phase to run it again.")
    phase = target.phase(step["phase_num"])
    if step["action"] == staleness.REVIEW:
        raise GateClosed(
            f"the session waits for the review of phase {phase.number} {phase.name}: {step['reason']}.",
            location=Location(path=str(target.form(phase))),
            hint=f"haytham review {phase.number} opens the form.",
        )
    return phase
