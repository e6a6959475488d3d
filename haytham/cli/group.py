"""The group of all commands, each imported when it is called."""

from importlib import import_module

import click
from click.shell_completion import CompletionItem, shell_complete

from haytham import __version__
from haytham.cli import reporting
from haytham.cli.commands import COMMANDS, COMPLETION, START, SUMMARY, sections
from haytham.cli.options import help_option
from haytham.cli.suggesting import SuggestingGroup


class LazyGroup(SuggestingGroup):
    """A group that knows its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks so
        """Returns the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a command, or returns None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offers the commands that begin so, without importing them."""
        found = [CompletionItem(name, help=line) for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)]
        return found or super().shell_complete(ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the list of commands without importing them."""
        for group_name, rows in sections():
            with formatter.section(group_name):
                formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    name="haytham",
    help=f"{SUMMARY}\n\n{START}",
)
@click.version_option(__version__, message="haytham %(version)s", help="Show the version and exit")
@help_option
def group() -> None:
    """Holds the commands."""


def run(arguments: list[str]) -> int:
    """Runs one command and returns the exit code; what goes wrong is told on standard error."""
    return reporting.guarded(lambda: _invoke(arguments), as_json="--json" in arguments)


def complete(instruction: str) -> int:
    """Answers a shell: its script, or the words that may come next; `instruction` says which shell asks for what."""
    return reporting.guarded(lambda: shell_complete(group, {}, "haytham", COMPLETION, instruction))


def _invoke(arguments: list[str]) -> int:
    # Not group.main(): it would decide about exit codes and broken pipes itself.
    try:
        with group.make_context("haytham", arguments) as context:
            group.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return reporting.DONE
