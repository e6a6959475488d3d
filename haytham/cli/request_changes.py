"""The command `haytham request-changes`."""

import sys

import click

from haytham.cli.deciding import deciding
from haytham.domain.choices import Action
from haytham.domain.errors import InvalidInput

_FROM_INPUT = "-"


def _read(context: click.Context, _: click.Parameter, changes: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the changes, with the one that is to be read from standard input in its place."""
    if changes.count(_FROM_INPUT) > 1:
        raise click.UsageError("standard input can hold one change only.", context)
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


command = deciding(
    "request-changes",
    Action.RETRY_WITH_CHANGES,
    consequence="The next attempt receives the changes, one by one, and the comment.",
    examples="""\b
Examples:
  haytham request-changes -c "Count from hospitals upwards"
  haytham request-changes 2 -c "Name the sources" -c "Cut page two"
  haytham request-changes 2 -m "Nearly there." -c - < change.txt""",
    further=click.option(
        "-c",
        "--change",
        "changes",
        metavar="TEXT",
        multiple=True,
        required=True,
        callback=_read,
        help="Change to make, of one line or several; repeat it for more; - reads one from standard input",
    ),
)
