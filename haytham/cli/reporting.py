"""Tells what went wrong and picks the exit code: the one place that does.

0    done
1    the user's data or request
2    usage
130  interrupted
141  nobody reads the output any more
255  a bug of Haytham's own
"""

import os
import sys
import textwrap
import traceback
from collections.abc import Callable

import click

from haytham.cli import terminal
from haytham.cli.visible import visible, visible_lines
from haytham.domain.errors import HaythamError, InternalError, Problem

DONE, FAULT, USAGE, INTERRUPTED, NO_READER, BUG = 0, 1, 2, 130, 141, 255


class UnknownCommand(click.UsageError):
    """There is no such command."""

    def __init__(self, name: str, meant: str | None, ctx: click.Context | None) -> None:
        super().__init__(f"there is no command {name!r}.", ctx)
        self.possibilities = [meant] if meant else []


def guarded(run: Callable[[], int]) -> int:
    """Runs, and turns whatever is raised into a message and an exit code."""
    _speak_any_character()
    try:
        code = run()
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the outermost frame: everything ends here
        return _report(error)
    return code


def lines_of(problem: Problem, width: int | None = None) -> list[str]:
    """Words one problem of a document: what, where, how to go on; folded if there is a width to fold it to."""
    where = str(problem.location)
    lines = [
        f"Error: {visible(problem.message)}",
        *([f"  {visible(where)}"] if where else []),
        *([f"Hint: {visible(problem.hint)}"] if problem.hint else []),
    ]
    return _folded(lines, width)


def tell_problems(error: HaythamError) -> None:
    """Tells everything that an error reports, and goes on."""
    width = terminal.columns(sys.stderr)
    _tell([line for problem in error.problems for line in lines_of(problem, width)])


def report_output_failure(error: OSError) -> int:
    """Tells that the output could not be written, unless nobody is there to read it."""
    # What is still buffered would fail again when Python exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return NO_READER
    _tell([f"Error: the output cannot be written: {visible(error.strerror or str(error))}."])
    return FAULT


def _report(error: BaseException) -> int:
    if isinstance(error, HaythamError) and not isinstance(error, InternalError):
        tell_problems(error)
        return FAULT
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        _tell(["", "Interrupted."])
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError) and error.filename is None:
        # The user's files are touched by the storage alone, which words its own errors: this is the output.
        return report_output_failure(error)
    return _bug(error)


def _usage(error: click.ClickException) -> int:
    known = getattr(error, "possibilities", None) or []
    message = error.message if known else error.format_message()
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "haytham"
    meant = f'did you mean "{known[0]}"? ' if known else ""
    _tell([f"Error: {visible(_sentence(message))}", f"Hint: {visible(meant)}see: {path} --help"])
    return error.exit_code


def _sentence(message: str) -> str:
    lowered = message[:1].lower() + message[1:]
    return lowered if lowered.endswith((".", "?", "!")) else f"{lowered}."


def _bug(error: BaseException) -> int:
    _tell(
        [
            "Error: this is a bug of Haytham's own; what was saved before is safe.",
            visible_lines("".join(traceback.format_exception(error)).rstrip()),
            "Hint: please report the lines above, with the command that led to them.",
        ]
    )
    return BUG


def _folded(lines: list[str], width: int | None) -> list[str]:
    """Breaks lines between words; a path stays in one piece, so that it can be copied."""
    if width is None:
        return lines
    wrapper = textwrap.TextWrapper(
        width,
        subsequent_indent="  ",
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [piece for line in lines for piece in wrapper.wrap(line)]


def _tell(lines: list[str]) -> None:
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def _speak_any_character() -> None:
    """Lets a terminal that knows few characters show the others as numbers instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
