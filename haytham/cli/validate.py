"""The command `haytham validate`.

`--json` prints: form "haytham.validate", version 1, valid, folders (each: folder, documents, problems), where a problem
has message, path, line, section, field and hint.
"""

import sys

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.reporting import FAULT, lines_of
from haytham.cli.selection import Selection, selecting
from haytham.domain.errors import Problem
from haytham.domain.records import FolderReport

_HELP = f"""{COMMANDS["validate"][1]}

Documents are read by the same reader that loads them, and git checks its own
objects (git fsck --strict). Nothing is changed."""
_EPILOG = """\b
Examples:
  haytham validate
  haytham validate --session session-456
  haytham validate --json | jq '.folders[].problems[]'

\b
Exit code 1 if there is any problem."""


@click.command("validate", help=_HELP, epilog=_EPILOG)
@selecting(project="all of them", session="all of them")
@options.json_option
@options.help_option
@click.pass_context
def command(context: click.Context, selection: Selection, *, as_json: bool) -> None:
    """Checks documents and history."""
    reports = _reports(selection)
    is_valid = not any(report["problems"] for report in reports)
    if as_json:
        json_output.emit("validate", {"valid": is_valid, "folders": reports})
    else:
        _show(reports)
    if not is_valid:
        context.exit(FAULT)


def _reports(selection: Selection) -> list[FolderReport]:
    projects, manager = selection.projects(), selection.manager
    if selection.session is not None:
        return [manager.sessions.validate_session(project, selection.session) for project in projects]
    return [report for project in projects for report in manager.validate_project(project)]


def _show(reports: list[FolderReport]) -> None:
    console = terminal.screen()
    problems = [Problem.of(each) for report in reports for each in report["problems"]]
    for problem in problems:
        first, *rest = lines_of(problem, terminal.columns(sys.stdout))
        terminal.plain(console, first, "red")
        for line in rest:
            terminal.plain(console, line)
    documents, folders = sum(len(report["documents"]) for report in reports), len(reports)
    counts = f"{_count(documents, 'document')} in {_count(folders, 'folder')}: {_count(len(problems), 'problem')}."
    terminal.plain(console, counts, "red" if problems else "green")


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
