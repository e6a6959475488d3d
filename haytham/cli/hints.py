"""The commands that a person is told to type next, so that each works as it is printed."""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from haytham.cli.commands import COMMANDS
from haytham.cli.options import BASE_DIR

_COMMAND = re.compile(rf"\bhaytham ({'|'.join(COMMANDS)})\b( \d+)?(?! --help)")
_NEEDED = "haytham.session"


def runnable(text: str, *, project: str | None = None, session: str | None = None) -> str:
    """Completes each command that a text names by what it needs to be about the same folder, project and session.

    That is what the present command was given, or had to choose, unless another project or session is named here.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return text
    found = {
        "base_dir": _base_dir(context),
        "project": project or context.params.get("project"),
        "session": session or context.params.get("session") or context.meta.get(_NEEDED),
    }
    return _COMMAND.sub(lambda match: _completed(match, found), text)


def need_session(session_id: str) -> None:
    """Notes that the present command chose one of several sessions: the next one may choose another."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_NEEDED] = session_id


def program() -> str:
    """Returns what the user has to type to call this program again."""
    called = Path(sys.argv[0])
    found = shutil.which("haytham")
    if called.name != "haytham" or (found and Path(found).resolve() == called.resolve()):
        return "haytham"
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)


def _base_dir(context: click.Context) -> str | None:
    given = context.params.get("base_dir")
    return None if given is None or str(given) == BASE_DIR else str(given)


def _completed(match: re.Match[str], found: dict[str, str | None]) -> str:
    words = [program(), *match[0].split()[1:]]
    for option in _options(match[1]):
        name = f"--{option.replace('_', '-')}"
        if (value := found[option]) and not match.string.startswith(f" {name} ", match.end()):
            words += [name, value]
    return shlex.join(words)


def _options(name: str) -> Iterator[str]:
    """Yields those of the options about the place that a command has."""
    command: click.Command = import_module(COMMANDS[name][0]).command
    known = {parameter.name for parameter in command.params if isinstance(parameter, click.Option)}
    return (each for each in ("base_dir", "project", "session") if each in known)
