"""Tells what went wrong and picks the exit code: the one place that does.

0    done
1    the user's data or request
2    usage
130  interrupted
141  nobody reads the output any more
255  a bug of Haytham's own

Where the command was asked for `--json`, programs are told too: one object of the form "haytham.error" with kind,
exit_code and problems, on standard error.
"""

import os
import sys
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import click

from haytham.cli import hints, json_output, terminal
from haytham.cli.visible import visible, visible_lines
from haytham.domain.errors import HaythamError, InternalError, Location, Problem

_RED = "\x1b[31m{}\x1b[0m"  # as rich writes it, which takes long to import

DONE, FAULT, USAGE, INTERRUPTED, NO_READER, BUG = 0, 1, 2, 130, 141, 255


class UnknownCommand(click.UsageError):
    """There is no such command."""

    def __init__(self, name: str, meant: str | None, ctx: click.Context | None) -> None:
        super().__init__(f"there is no command {name!r}.", ctx)
        self.possibilities = [meant] if meant else []


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What is said about the end of a command: to people by lines, to programs by a kind and problems."""

    code: int
    kind: str
    lines: list[str]
    problems: tuple[Problem, ...]


def guarded(run: Callable[[], int], *, as_json: bool = False) -> int:
    """Runs, and turns whatever is raised into a message and an exit code."""
    _speak_any_character()
    try:
        code = run()
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the outermost frame: everything ends here
        return _tell_end(_report(error), as_json=as_json)
    return code


def lines_of(problem: Problem, width: int | None = None) -> list[str]:
    """Words one problem of a document: what, where, how to go on; folded if there is a width to fold it to."""
    where, hint = str(problem.location), hints.runnable(problem.hint)
    lines = [
        f"Error: {visible(problem.message)}",
        *([f"  {visible(where)}"] if where else []),
        *([f"Hint: {visible(hint)}"] if hint else []),
    ]
    return _folded(lines, width)


def tell_problems(error: HaythamError) -> None:
    """Tells everything that an error reports, and goes on."""
    width = terminal.columns(sys.stderr)
    _tell([line for problem in error.problems for line in lines_of(problem, width)])


def report_output_failure(error: OSError) -> int:
    """Tells that the output could not be written, unless nobody is there to read it."""
    return _tell_end(_output_failure(error), as_json=False)


def _report(error: BaseException) -> Report:
    if isinstance(error, HaythamError) and not isinstance(error, InternalError):
        width = terminal.columns(sys.stderr)
        lines = [line for problem in error.problems for line in lines_of(problem, width)]
        return Report(code=FAULT, kind=type(error).__name__, lines=lines, problems=error.problems)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return _single(INTERRUPTED, "Interrupted", ["", "Interrupted."], "interrupted.")
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError) and error.filename is None:
        # The user's files are touched by the storage alone, which words its own errors: this is the output.
        return _output_failure(error)
    return _bug(error)


def _single(code: int, kind: str, lines: list[str], message: str, hint: str = "") -> Report:
    return Report(
        code=code, kind=kind, lines=lines, problems=(Problem(message=message, location=Location(), hint=hint),)
    )


def _output_failure(error: OSError) -> Report:
    # What is still buffered would fail again when Python exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return Report(code=NO_READER, kind="NoReader", lines=[], problems=())
    message = f"the output cannot be written: {error.strerror or error}."
    return _single(FAULT, "OutputFailure", [f"Error: {visible(message)}"], message)


def _usage(error: click.ClickException) -> Report:
    known = getattr(error, "possibilities", None) or []
    message = _sentence(error.message if known else error.format_message())
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "haytham"
    meant = f'did you mean "{known[0]}"? ' if known else ""
    hint = f"{meant}see: {hints.program()}{path.removeprefix('haytham')} --help"
    return _single(error.exit_code, "Usage", [f"Error: {visible(message)}", f"Hint: {visible(hint)}"], message, hint)


def _sentence(message: str) -> str:
    lowered = message[:1].lower() + message[1:]
    return lowered if lowered.endswith((".", "?", "!")) else f"{lowered}."


def _bug(error: BaseException) -> Report:
    message = "this is a bug of Haytham's own; what was saved before is safe."
    hint = "please report the lines above, with the command that led to them."
    trace = "".join(traceback.format_exception(error)).rstrip()
    lines = [f"Error: {message}", visible_lines(trace), f"Hint: {hint}"]
    return _single(BUG, "Bug", lines, f"{message}\n{trace}", hint)


def _tell_end(report: Report, *, as_json: bool) -> int:
    if not report.problems:
        return report.code
    if as_json:
        problems = [problem.record() for problem in report.problems]
        value = {"kind": report.kind, "exit_code": report.code, "problems": problems}
        json_output.emit("error", value, to=sys.stderr)
    else:
        _tell(report.lines)
    return report.code


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
    if terminal.wants_colour(sys.stderr):
        lines = [_RED.format(line) if line.startswith("Error:") else line for line in lines]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()


def _speak_any_character() -> None:
    """Lets a terminal that knows few characters show the others as numbers instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
