"""What the commands that put sessions away share: the rule by which several are chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from haytham.cli import options, terminal
from haytham.domain.choices import SessionStatus
from haytham.domain.operation_records import RetentionRecord

RULE_HELP = """Several sessions are chosen by a rule: those to which all of --status,
--older-than, --larger-than and --keep applies that is given. Without --status,
only completed ones."""

_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What was given on the command line."""

    statuses: tuple[str, ...]
    older_than_days: float | None
    larger_than: int | None
    keep: int | None

    @property
    def is_given(self) -> bool:
        """Whether any part of it was given."""
        figures = (self.older_than_days, self.larger_than, self.keep)
        return bool(self.statuses) or any(each is not None for each in figures)

    def arguments(self) -> dict[str, Any]:
        """Returns what `retain_sessions` takes."""
        return {
            "statuses": list(self.statuses) or None,
            "older_than_days": self.older_than_days,
            "larger_than": self.larger_than,
            "keep": self.keep,
        }


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads a number of bytes, with k, M or G behind it."""
        text = str(value).lower().removesuffix("b")
        number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS and text[-1:] else (text, "")
        if not number.isdigit():
            self.fail(f"{value!r} is no size such as 500k, 20M or 1G.", param, ctx)
        return int(number) * _UNITS[unit]


def by_rule(function: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of a rule to a command, and hands them to it as `rule`."""

    @click.option(
        "--status",
        "statuses",
        multiple=True,
        type=click.Choice([each.value for each in SessionStatus]),
        metavar="STATUS",
        help="Choose sessions in this status; may be repeated",
    )
    @click.option("--older-than", "older_than_days", type=float, metavar="DAYS", help="Choose those unchanged so long")
    @click.option("--larger-than", type=_Size(), metavar="SIZE", help="Choose larger ones: 500k, 20M, 1G")
    @click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the N that were changed last")
    @options.dry_run_option
    @wraps(function)
    def command(
        statuses: tuple[str, ...],
        older_than_days: float | None,
        larger_than: int | None,
        keep: int | None,
        **further: Any,
    ) -> None:
        rule = Rule(statuses=statuses, older_than_days=older_than_days, larger_than=larger_than, keep=keep)
        function(rule=rule, **further)

    return command


def show(record: RetentionRecord) -> None:
    """Shows what a rule chose, and what was done."""
    console = terminal.screen()
    if record["chosen"]:
        table = terminal.table("Session", "Size", "Because", right=("Size",), flexible=("Session", "Because"))
        for row in record["chosen"]:
            reason = row["reason"] if row["spared"] is None else f"spared: {row['spared']}"
            table.add_row(terminal.styled(row["session_id"]), f"{row['bytes']:,}", terminal.styled(reason))
        terminal.show(console, table)
    going = [row for row in record["chosen"] if row["spared"] is None]
    verb = f"would {record['action']}" if record["dry_run"] else f"{record['action']}d"
    freed = f", {record['bytes']:,} bytes" if going and record["action"] == "delete" else ""
    terminal.plain(console, f"{len(going)} {verb}{freed}; {record['kept']} stay.")
