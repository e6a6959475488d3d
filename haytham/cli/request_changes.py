"""The command `haytham request-changes`."""

import sys
from pathlib import Path

import click

from haytham.cli import options, review_display
from haytham.cli.commands import COMMANDS
from haytham.cli.deciding import Given, decide
from haytham.cli.target import open_session
from haytham.domain.choices import Action
from haytham.domain.errors import InvalidInput

_HELP = f"""{COMMANDS["request-changes"][1]}

PHASE is its number; without it, the phase at which the session waits for a
review or, if it waits at none, the only one that is open.
The next attempt receives the changes, one by one, and the comment."""
_EPILOG = f"""\b
Examples:
  haytham request-changes -c "Count from hospitals upwards"
  haytham request-changes 2 -c "Name the sources" -c "Cut page two"
  haytham request-changes 2 -m "Nearly there." -c - < change.txt

{review_display.JSON_HELP}"""

_FROM_INPUT = "-"


@click.command("request-changes", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@click.option(
    "-c",
    "--change",
    "changes",
    metavar="TEXT",
    multiple=True,
    required=True,
    help="Change to make, of one line or several; repeat it for more; - reads one from standard input",
)
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
    changes: tuple[str, ...],
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
    """Sends a phase back."""
    wanted = _read(changes)
    target = open_session(base_dir, project, session)
    given = Given(
        action=Action.RETRY_WITH_CHANGES,
        comments=comments,
        changes=wanted,
        reviewer=reviewer,
        role=role,
        content=content,
    )
    review_display.show(target, decide(target, target.phase_to_review(phase), given), as_json=as_json)


def _read(changes: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the changes, with the one that is to be read from standard input in its place."""
    if changes.count(_FROM_INPUT) > 1:
        raise click.UsageError("standard input can hold one change only.", click.get_current_context())
    found = tuple(_input() if each == _FROM_INPUT else each for each in changes)
    if not all(each.strip() for each in found):
        raise InvalidInput("a requested change is empty.", hint="say what should be different.")
    return found


def _input() -> str:
    """Reads a change as it is, but for the line break that ends a text file."""
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InvalidInput("the change on standard input is not UTF-8.", hint="convert it first.") from error
