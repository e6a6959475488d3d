"""The command `haytham skip`."""

from pathlib import Path

import click

from haytham.cli import options, review_display
from haytham.cli.commands import COMMANDS
from haytham.cli.deciding import Given, decide
from haytham.cli.target import open_session
from haytham.domain.choices import Action

_HELP = f"""{COMMANDS["skip"][1]}

PHASE is its number; without it, the phase at which the session waits for a
review or, if it waits at none, the only one that is open.
Its outputs stay in the folder and in history."""
_EPILOG = f"""\b
Examples:
  haytham skip
  haytham skip 3 -m "The niche is given."

{review_display.JSON_HELP}"""


@click.command("skip", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@options.comment_option
@options.reviewer_option
@options.role_option
@options.content_option
@options.base_dir_option
@options.project_option("the only one")
@options.session_option("the only one that is not completed")
@options.json_option
@options.help_option
def command(
    phase: int | None,
    comments: tuple[str, ...],
    reviewer: str | None,
    role: str | None,
    content: str | None,
    base_dir: Path,
    project: str | None,
    session: str | None,
    *,
    as_json: bool,
) -> None:
    """Skips a phase."""
    target = open_session(base_dir, project, session)
    given = Given(action=Action.SKIP_PHASE, comments=comments, reviewer=reviewer, role=role, content=content)
    review_display.show(target, decide(target, target.phase_to_review(phase), given), as_json=as_json)
