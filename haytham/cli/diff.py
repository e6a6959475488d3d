"""The command `haytham diff`.

`--json` prints: form "haytham.diff", version 1, project_id, session_id, phase_num, from, to, diff (a unified diff).
"""

from collections.abc import Iterator

import click

from haytham.cli import json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, newest_session
from haytham.domain.errors import InvalidInput, NotFound
from haytham.domain.workflow import Phase

_HELP = f"""{COMMANDS["diff"][1]}

PHASE is its number; without it, the only phase that has had a second attempt.
Without --from and --to, the last two attempts."""
_EPILOG = """\b
Examples:
  haytham diff
  haytham diff 2 --from 1 --to 3
  haytham diff 2 --json | jq -r .diff > changes.patch

\b
JSON: project_id, session_id, phase_num, from, to, diff."""

_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
_TAB = 4


@click.command("diff", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@click.option("--from", "before", type=click.IntRange(min=1), metavar="N", help="Older attempt [default: one before]")
@click.option("--to", "after", type=click.IntRange(min=1), metavar="N", help="Newer attempt [default: the last]")
@selecting(project="the only one", session="the newest")
@options.json_option
@options.help_option
def command(
    phase: int | None,
    before: int | None,
    after: int | None,
    selection: Selection,
    *,
    as_json: bool,
) -> None:
    """Shows what changed between two attempts."""
    target = newest_session(selection)
    chosen = target.phase(phase) if phase is not None else _only_repeated(target)
    older, newer = _attempts(target, chosen, before, after)
    text = target.manager.diff(*target.ids, chosen.number, older, newer)
    if as_json:
        found = {"phase_num": chosen.number, "from": older, "to": newer, "diff": text}
        json_output.emit("diff", {**target.form_ids(), **found})
    elif text:
        terminal.lines(terminal.screen(), _lines(text))
    else:
        terminal.plain(terminal.screen(), f"Attempts {older} and {newer} have the same outputs.")


def _attempts(target: Target, phase: Phase, before: int | None, after: int | None) -> tuple[int, int]:
    known = target.manager.attempts(*target.ids, phase.number)
    newer = after if after is not None else max(known, default=1)
    if before is None and newer == min(known, default=1):
        raise InvalidInput(
            f"phase {phase.number} {phase.name} has no attempt before {newer}.",
            hint="a second attempt comes after a review that requests changes.",
        )
    return before if before is not None else newer - 1, newer


def _only_repeated(target: Target) -> Phase:
    found = [each for each in target.phases() if len(target.manager.attempts(*target.ids, each.number)) > 1]
    if not found:
        raise NotFound(
            f"no phase of session {target.session} has had a second attempt.",
            hint="a second attempt comes after a review that requests changes.",
        )
    if len(found) > 1:
        names = ", ".join(f"{phase.number} {phase.name}" for phase in found)
        raise InvalidInput(f"{len(found)} phases have had a second attempt.", hint=f"name one: {names}.")
    return found[0]


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.removesuffix("\n").split("\n"):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield line.expandtabs(_TAB), style
