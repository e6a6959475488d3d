"""The command `haytham compare`.

`--json` prints: form "haytham.compare", version 1, and what `compare` returns: project_id, one, other, common, phases,
where a phase has number, name, one, other, same_outputs, diff.
"""

from collections.abc import Callable
from dataclasses import replace

import click

from haytham.cli import diff_lines, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, newest, selecting
from haytham.cli.target import newest_session
from haytham.domain import messages
from haytham.domain.errors import NotFound
from haytham.domain.operation_records import Comparison, PhaseComparison, PhaseFigures, SessionFigures

_HELP = f"""{COMMANDS["compare"][1]}

OTHER is the id of another session of the same project. Without --session, it is
compared with the one that it was forked from or, if it is no fork, with the
newest other one. Where the two differ, the upper figure of a phase is the
session's. Outputs are compared by what agents wrote, not by when they ran."""
_EPILOG = """\b
Examples:
  haytham compare other-niche
  haytham compare other-niche --session session-456 --diff
  haytham compare other-niche --json | jq '.phases[].same_outputs'"""

_NOTHING = "-"


@click.command("compare", help=_HELP, epilog=_EPILOG)
@click.argument("other", metavar="OTHER")
@click.option("--diff", "with_diff", is_flag=True, help="Show how the outputs differ")
@selecting(project="the only one", session="the origin of OTHER, else the newest other one")
@options.json_option
@options.help_option
def command(other: str, selection: Selection, *, with_diff: bool, as_json: bool) -> None:
    """Compares two sessions."""
    target = newest_session(_against(selection, other))
    record = target.manager.compare(*target.ids, other)
    if as_json:
        json_output.emit("compare", {**record})
        return
    _show(record)
    if with_diff:
        _show_diffs(record)


def _against(selection: Selection, other: str) -> Selection:
    """Returns the selection with the session that another one is compared with, if none is named."""
    if selection.session is not None:
        return selection
    project, manager = selection.one_project(), selection.manager.sessions
    origin = manager.load_session(project, other)["origin"]
    if origin is not None and origin["session_id"] in manager.session_ids(project):
        return replace(selection, project=project, session=origin["session_id"])
    rest = [each for each in manager.list_sessions(project) if each["session_id"] != other]
    if not rest:
        raise NotFound(f"the project has no session but {other!r}.", hint="haytham fork makes another one.")
    return replace(selection, project=project, session=newest(rest))


def _show(record: Comparison) -> None:
    console = terminal.screen()
    one, other = record["one"], record["other"]
    rows = terminal.table("", "Session", "Other", flexible=("Session", "Other"))
    for (label, mine), (_, theirs) in zip(_facts(one), _facts(other), strict=True):
        rows.add_row(terminal.styled(label, "bold"), terminal.word(mine), terminal.word(theirs))
    terminal.show(console, rows)
    common = record["common"]
    terminal.plain(console, f"In common up to commit {common[:7]}" if common else "No history in common")
    terminal.show(console)
    columns = ("#", "Phase", "Status", "Tokens", "Cost", "Review", "Outputs")
    table = terminal.table(*columns, right=("#", "Tokens", "Cost"), flexible=("Phase",))
    for phase in record["phases"]:
        table.add_row(*_row(phase))
    terminal.show(console, table)


def _facts(session: SessionFigures) -> list[tuple[str, str]]:
    metrics = session["metrics"]
    return [
        ("Id", session["session_id"]),
        ("Status", session["status"]),
        ("Mode", session["execution_mode"]),
        ("Time", messages.duration(metrics["total_duration"])),
        ("Tokens", f"{metrics['total_tokens']:,}"),
        ("Cost", f"${metrics['total_cost']:.4f}"),
    ]


def _row(phase: PhaseComparison) -> tuple[str, ...]:
    one, other = phase["one"], phase["other"]
    return (
        str(phase["number"]),
        phase["name"],
        _pair(one, other, lambda each: each["status"]),
        _pair(one, other, lambda each: _NOTHING if each["tokens"] is None else f"{each['tokens']:,}"),
        _pair(one, other, lambda each: _NOTHING if each["cost"] is None else f"${each['cost']:.4f}"),
        _pair(one, other, lambda each: each["decision"] or _NOTHING),
        "same" if phase["same_outputs"] else "differ",
    )


def _pair(one: PhaseFigures | None, other: PhaseFigures | None, word: Callable[[PhaseFigures], str]) -> str:
    """Words a figure of both sessions, once if it is the same; below each other, so that a row stays narrow."""
    before, after = (word(each) if each else _NOTHING for each in (one, other))
    return before if before == after else f"{before}\n{after}"


def _show_diffs(record: Comparison) -> None:
    console = terminal.screen()
    for phase in record["phases"]:
        if phase["diff"]:
            terminal.show(console)
            terminal.lines(console, diff_lines.styled(phase["diff"]))
