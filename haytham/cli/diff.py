"""The command `haytham diff`.

`--json` prints: form "haytham.diff", version 1, project_id, session_id, phase_num (null for all phases), from and to
(the number of an attempt or the id of a commit; null between sessions), other_session_id (null within one session),
diff (a unified diff).
"""

from typing import Any

import click

from haytham.cli import diff_lines, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.pager import paged
from haytham.cli.point import POINT
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, newest_session
from haytham.domain.choices import Action
from haytham.domain.errors import InvalidInput, NotFound
from haytham.domain.workflow import Phase

_HELP = f"""{COMMANDS["diff"][1]}

PHASE is its number; without it, the only phase whose approval is void or, if
there is none, that has had a second attempt. Without --from and --to: what
changed since the approval that is void, or between the last two attempts. With
--with, between two sessions; without PHASE, in all phases. When agents ran, for
how long and with how many tokens, is no difference."""
_EPILOG = """\b
Examples:
  haytham diff
  haytham diff 2 --from 1 --to 3
  haytham diff 2 --from 3f9c2ab --to 81d0e4c     (commits, as in the log)
  haytham diff --session session-456 --with session-789
  haytham diff 2 --json | jq -r .diff > changes.patch"""


@click.command("diff", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@click.option("--from", "before", type=POINT, metavar="WHEN", help="Older attempt or commit [default: one before]")
@click.option("--to", "after", type=POINT, metavar="WHEN", help="Newer attempt or commit [default: the last attempt]")
@click.option("--with", "other", metavar="ID", help="Compare with this session instead")
@selecting(project="the only one", session="the newest")
@options.json_option
@paged
@options.help_option
def command(
    phase: int | None,
    before: int | str | None,
    after: int | str | None,
    other: str | None,
    selection: Selection,
    *,
    as_json: bool,
) -> None:
    """Shows what changed between two attempts, commits or sessions."""
    target = newest_session(selection)
    if other is not None:
        found, equal = _sessions(target, phase, before or after, other)
    else:
        found, equal = _points(target, phase, before, after)
    if as_json:
        json_output.emit("diff", {**target.form_ids(), **found})
    elif found["diff"]:
        terminal.lines(terminal.screen(), diff_lines.styled(found["diff"]))
    else:
        terminal.plain(terminal.screen(), equal)


def _sessions(target: Target, phase: int | None, point: int | str | None, other: str) -> tuple[dict[str, Any], str]:
    if point is not None:
        raise InvalidInput(
            "--with compares what is newest; --from and --to are about one session.", hint="leave one out."
        )
    number = target.phase(phase).number if phase is not None else None
    text = target.manager.diff_sessions(*target.ids, other, number)
    found = {"phase_num": number, "from": None, "to": None, "other_session_id": other, "diff": text}
    return found, f"Sessions {target.session} and {other} have the same outputs."


def _points(
    target: Target, phase: int | None, before: int | str | None, after: int | str | None
) -> tuple[dict[str, Any], str]:
    void = _void(target) if before is None and after is None else []
    chosen = target.phase(phase) if phase is not None else _only(void, "void approvals") or _only_repeated(target)
    points = _since_approval(target, chosen) if chosen in void else None
    older, newer = points or _attempts(target, chosen, before, after)
    text = target.manager.diff(*target.ids, chosen.number, older, newer)
    found = {"phase_num": chosen.number, "from": older, "to": newer, "other_session_id": None, "diff": text}
    both = f"Attempts {older} and {newer}" if isinstance(older, int) else f"Commits {older} and {newer}"
    return found, f"{both} have the same outputs."


def _attempts(
    target: Target, phase: Phase, before: int | str | None, after: int | str | None
) -> tuple[int | str, int | str]:
    known = target.manager.attempts(*target.ids, phase.number)
    newer = after if after is not None else max(known, default=1)
    if before is not None:
        return before, newer
    if not isinstance(newer, int):
        raise InvalidInput("there is a commit to compare with, and none to compare.", hint="add --from.")
    if newer == min(known, default=1):
        raise InvalidInput(
            f"phase {phase.number} {phase.name} has no attempt before {newer}.",
            hint="a second attempt comes after a review that requests changes.",
        )
    return newer - 1, newer


def _void(target: Target) -> list[Phase]:
    """Returns the phases whose approval is void."""
    found = {row["number"] for row in target.manager.overview(*target.ids)["phases"] if row["void"]}
    return [phase for phase in target.phases() if phase.number in found]


def _since_approval(target: Target, phase: Phase) -> tuple[str, str] | None:
    """Returns the commit of the last approval of a phase, and the newest one."""
    approvals = target.manager.log(*target.ids, phase=phase.number, decision=Action.APPROVED.value)
    return (approvals[0]["id"], target.manager.history(*target.ids)[0].id) if approvals else None


def _only(phases: list[Phase], what: str) -> Phase | None:
    if len(phases) > 1:
        names = ", ".join(f"{phase.number} {phase.name}" for phase in phases)
        raise InvalidInput(f"{len(phases)} phases have {what}.", hint=f"name one: {names}.")
    return phases[0] if phases else None


def _only_repeated(target: Target) -> Phase:
    found = [each for each in target.phases() if len(target.manager.attempts(*target.ids, each.number)) > 1]
    chosen = _only(found, "had a second attempt")
    if chosen is None:
        raise NotFound(
            f"no phase of session {target.session} has had a second attempt.",
            hint="a second attempt comes after a review that requests changes.",
        )
    return chosen
