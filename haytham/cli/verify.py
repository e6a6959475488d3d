"""The command `haytham verify`.

`--json` prints: form "haytham.verify", version 1, sound, folders (each: folder, session_id (null for a project's own),
head, noted_head, commits, documents, signatures (good, unidentified, bad, unchecked, none), findings), where a finding
has message, path, line, section, field, hint, kind and commit.
"""

import sys

import click

from haytham.cli import json_output, options, progress, status_display, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.reporting import FAULT, lines_of
from haytham.cli.selection import Selection, selecting
from haytham.domain.audit_records import VerifyReport
from haytham.domain.errors import InvalidInput, Problem
from haytham.domain.headway import OnProgress

_HELP = f"""{COMMANDS["verify"][1]}

Checks documents, content hashes, decisions against the commits that record
them, each commit against its files, git's own objects and agents' journals;
history has to lead to every newest commit that was recorded before.
An edit that nobody has committed is named. Nothing is changed."""
_EPILOG = """\b
Examples:
  haytham verify
  haytham verify --session session-456
  haytham verify --session session-456 --head "$(cat noted_elsewhere)"
  haytham verify --json | jq '.folders[].findings[]'

\b
Exit code 1 if there is any finding."""
_UNNOTED = """\
The note of the last save of {} is missing (a clone has none):
only --head, with a commit noted elsewhere, can tell whether its end is missing."""


@click.command("verify", help=_HELP, epilog=_EPILOG)
@selecting(project="all of them", session="all of them")
@click.option("--head", metavar="COMMIT", help="Newest commit of the session, as noted elsewhere: its whole id")
@options.json_option
@options.help_option
@click.pass_context
def command(context: click.Context, selection: Selection, head: str | None, *, as_json: bool) -> None:
    """Verifies sessions and projects."""
    with progress.shown("Verifying", as_json=as_json) as told:
        reports = _reports(selection, head, told)
    is_sound = not any(report["findings"] for report in reports)
    if as_json:
        json_output.emit("verify", {"sound": is_sound, "folders": reports})
    elif reports:
        _show(reports)
    else:
        status_display.show_projects([], selection.base_dir)
    if not is_sound:
        context.exit(FAULT)


def _reports(selection: Selection, head: str | None, told: OnProgress) -> list[VerifyReport]:
    projects, manager = selection.projects(), selection.manager
    if selection.session is not None:
        return [manager.sessions.verify_session(project, selection.session, head=head) for project in projects]
    if head is not None:
        raise InvalidInput("--head is about one session, and none is named.", hint="add --session with its id.")
    return [report for project in projects for report in manager.verify_project(project, on_progress=told)]


def _show(reports: list[VerifyReport]) -> None:
    console = terminal.screen()
    for report in reports:
        for finding in report["findings"]:
            first, *rest = lines_of(Problem.of(finding), terminal.columns(sys.stdout))
            terminal.plain(console, first, "red")
            for line in rest:
                terminal.plain(console, line)
    if any(report["findings"] for report in reports):
        terminal.show(console)
    columns = ("Folder, newest commit", "Commits", "Documents", "Found")
    table = terminal.table(*columns, right=columns[1:3], flexible=columns[:1])
    for report in reports:
        found = len(report["findings"])
        table.add_row(
            terminal.stacked(
                terminal.styled(report["session_id"] or "(project)"), terminal.styled(report["head"] or "-", "yellow")
            ),
            str(report["commits"]),
            str(report["documents"]),
            terminal.styled(found or "nothing", "red" if found else "green"),
        )
    terminal.show(console, table)
    found = sum(len(report["findings"]) for report in reports)
    verdict = f"{found} finding{'' if found == 1 else 's'}." if found else "Sound."
    terminal.plain(console, verdict, "red" if found else "green")
    for report in reports:
        if report["session_id"] is not None and report["commits"] and report["noted_head"] is None:
            for line in _UNNOTED.format(report["session_id"]).splitlines():
                terminal.plain(console, line, "yellow")
