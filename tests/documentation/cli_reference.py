"""Makes the page about the command line from the help of every command."""

import click

from haytham.cli import commands
from tests.cli.conftest import all_commands

COLUMNS = 80


def made() -> str:
    """Returns the part of the page that is made."""
    parts = [_block(commands.overview())]
    parts += [f"## haytham {name}\n\n{_block(_help(name, command))}" for name, command in all_commands()]
    return "\n".join(parts)


def _help(name: str, command: click.Command) -> str:
    with click.Context(
        command, info_name=f"haytham {name}", max_content_width=COLUMNS, terminal_width=COLUMNS
    ) as context:
        return command.get_help(context)


def _block(text: str) -> str:
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())
