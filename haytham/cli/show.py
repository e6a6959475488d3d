"""The command `haytham show`.

`--json` prints: form "haytham.show", version 1, project_id, session_id, phase_num, phase_name, commit, time, subject,
status, attempt (null before there is a checkpoint), content, documents (texts by name, as they were).
"""

from typing import TYPE_CHECKING

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.pager import paged
from haytham.cli.point import POINT
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import newest_session
from haytham.domain.audit_records import PhaseSnapshot
from haytham.domain.errors import NotFound
from haytham.storage.layout import OWN_FILES

if TYPE_CHECKING:
    from rich.text import Text

_HELP = f"""{COMMANDS["show"][1]}

PHASE is its number. Without --at, as the newest commit has it; the outputs are
shown, or with --document any one of its documents."""
_EPILOG = """\b
Examples:
  haytham show 2
  haytham show 2 --at 1                    (at its first attempt)
  haytham show 2 --at 3f9c2ab              (at a commit that the log shows)
  haytham show 2 --document user_feedback.md"""


@click.command("show", help=_HELP, epilog=_EPILOG)
@click.argument("phase", type=int, metavar="PHASE")
@click.option("--at", type=POINT, metavar="WHEN", help="Number of an attempt, or id of a commit [default: the newest]")
@click.option("--document", metavar="NAME", help="Show this document [default: the outputs]")
@selecting(project="the only one", session="the newest")
@options.json_option
@paged
@options.help_option
def command(phase: int, at: int | str | None, document: str | None, selection: Selection, *, as_json: bool) -> None:
    """Shows a phase as it was."""
    target = newest_session(selection)
    found = target.manager.show_phase(*target.ids, target.phase(phase).number, at)
    names = _chosen(found, document)
    if as_json:
        documents = {name: found["documents"][name] for name in (names if document else found["documents"])}
        json_output.emit("show", {**target.form_ids(), **found, "documents": documents})
    else:
        _show(found, names)


def _chosen(found: PhaseSnapshot, document: str | None) -> list[str]:
    if document is None:
        return [name for name in found["documents"] if "/" not in name and name not in OWN_FILES]
    if document not in found["documents"]:
        there = ", ".join(found["documents"])
        raise NotFound(f"the phase had no document {document!r} then.", hint=f"it had: {there}.")
    return [document]


def _show(found: PhaseSnapshot, names: list[str]) -> None:
    console = terminal.screen()
    rows: list[tuple[str, str | Text]] = [
        ("Phase", f"{found['phase_num']} {found['phase_name']}"),
        ("Status", terminal.word(found["status"])),
        ("Attempt", str(found["attempt"] or "-")),
        ("Commit", f"{found['commit'][:12]} {found['time']}"),
        ("", found["subject"]),
        ("Documents", ", ".join(found["documents"])),
    ]
    terminal.facts(console, rows)
    for name in names:
        terminal.show(console)
        terminal.plain(console, name, "bold")
        text = found["documents"][name].removesuffix("\n")
        terminal.lines(console, ((line.expandtabs(4), "") for line in text.split("\n")))
