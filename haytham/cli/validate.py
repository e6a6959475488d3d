"""The command `haytham validate`.

`--json` prints: form "haytham.validate", version 1, valid, folders (each: folder, documents, problems), where a problem
has message, path, line, section, field and hint.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from haytham.cli import inspection, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.inspection import Finding
from haytham.cli.options import base_dir_option, help_option, json_option, project_option, session_option
from haytham.cli.reporting import FAULT, lines_of
from haytham.cli.selection import Selection
from haytham.domain.errors import Problem

_HELP = f"""{COMMANDS["validate"][1]}

Documents are read by the same reader that loads them, and git checks its own
objects (git fsck --strict). Nothing is changed."""
_EPILOG = """\b
Examples:
  haytham validate
  haytham validate --session session-456
  haytham validate --json | jq '.folders[].problems[]'

\b
JSON: valid, folders; each folder: folder, documents, problems;
each problem: message, path, line, section, field, hint.
Exit code 1 if there is any problem."""


@click.command("validate", help=_HELP, epilog=_EPILOG)
@base_dir_option
@project_option("all of them")
@session_option("all of them")
@json_option
@help_option
@click.pass_context
def command(context: click.Context, base_dir: Path, project: str | None, session: str | None, *, as_json: bool) -> None:
    """Checks documents and history."""
    findings = _findings(Selection(base_dir=base_dir, project=project, session=session))
    if as_json:
        terminal.emit_json("haytham.validate", _form(findings))
    else:
        _show(findings)
    if any(finding.problems for finding in findings):
        context.exit(FAULT)


def _findings(selection: Selection) -> list[Finding]:
    found = []
    for project in selection.projects():
        if selection.session is not None:
            found.append(inspection.check_session(selection.base_dir, project, selection.session))
            continue
        found.append(inspection.check_project(selection.base_dir, project))
        sessions = inspection.session_ids(selection.base_dir, project)
        found += [inspection.check_session(selection.base_dir, project, each) for each in sessions]
    return found


def _show(findings: list[Finding]) -> None:
    console = terminal.screen()
    for finding in findings:
        for problem in finding.problems:
            first, *rest = lines_of(problem)
            terminal.plain(console, first, "red")
            for line in rest:
                terminal.plain(console, line)
    problems = sum(len(finding.problems) for finding in findings)
    documents = sum(len(finding.documents) for finding in findings)
    style = "red" if problems else "green"
    terminal.plain(
        console,
        f"{_count(documents, 'document')} in {_count(len(findings), 'folder')}: {_count(problems, 'problem')}.",
        style,
    )


def _form(findings: list[Finding]) -> dict[str, Any]:
    folders = [
        {
            "folder": finding.folder,
            "documents": finding.documents,
            "problems": [_problem(problem) for problem in finding.problems],
        }
        for finding in findings
    ]
    return {"valid": not any(finding.problems for finding in findings), "folders": folders}


def _problem(problem: Problem) -> dict[str, Any]:
    return {"message": problem.message, **asdict(problem.location), "hint": problem.hint}


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
