"""A group of commands that says which one was probably meant."""

import click

from haytham.cli import reporting
from haytham.domain import suggestions


class SuggestingGroup(click.Group):
    """A group whose error about an unknown command names the closest one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is called; raises UsageError with the name that was probably meant."""
        name, known = args[0], self.list_commands(ctx)
        if name in known or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise reporting.UnknownCommand(name, suggestions.closest(name, known, cutoff=0.6), ctx)
