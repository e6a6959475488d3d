"""Shows how the review of a phase stands, as text or JSON: the same for every command that decides.

`--json` prints: form "haytham.review", version 1, project_id, session_id, review (as `CheckpointManager.review` returns
it).
"""

from typing import TYPE_CHECKING

from haytham.cli import hints, json_output, terminal
from haytham.cli.target import Target
from haytham.domain import reviews
from haytham.domain.choices import Action
from haytham.domain.records import ReviewRecord

if TYPE_CHECKING:
    from rich.text import Text


def show(target: Target, record: ReviewRecord, *, as_json: bool) -> None:
    """Prints the review."""
    if as_json:
        json_output.emit("review", {**target.form_ids(), "review": record})
        return
    console = terminal.screen()
    attempt = f", attempt {record['attempt']}" if record["attempt"] > 1 else ""
    terminal.plain(console, f"Phase {record['phase_num']} {record['phase_name']}{attempt}", "bold")
    terminal.facts(console, _rows(record))
    terminal.plain(console, f"Content {record['content']}")  # in a table they would be too wide for 80 columns
    terminal.plain(console, f"Form    {record['form']}")
    terminal.show(console)
    terminal.plain(console, hints.runnable(_what_next(record)))


def _what_next(record: ReviewRecord) -> str:
    if record["decision"] is None:
        return f"Read it: haytham show {record['phase_num']}"
    if record["decision"] == Action.RETRY_WITH_CHANGES:
        return f"The next attempt: haytham start {record['phase_num']}"
    return "What to do: haytham next"


def _rows(record: ReviewRecord) -> list[tuple[str, "str | Text"]]:
    rows: list[tuple[str, str | Text]] = [("Decision", decision(record))]
    for each in record["decisions"] if len(record["decisions"]) > 1 else []:
        role = f" ({each['role']})" if each["role"] else ""
        rows.append(("", f"{each['decision']} by {each['reviewer']}{role}"))
    void = reviews.void(record["previous"])
    rows += [("Before", void)] if void else []
    rows += [("Missing", record["missing"])] if record["missing"] and record["decision"] in {None, "approved"} else []
    rows += [("Comments", terminal.paragraph(record["comments"].strip("\n")))] if record["comments"].strip() else []
    for number, change in enumerate(record["requested_changes"], 1):
        rows.append(("Changes" if number == 1 else "", terminal.paragraph(f"{number}. {change}".strip("\n"))))
    return [*rows, ("Review", record["policy"])]


def decision(record: ReviewRecord) -> "Text":
    """Words the decision, with who took it and when."""
    if record["decision"] is None:
        return terminal.styled("none yet" if not record["decisions"] else "not enough yet", "yellow")
    who = f" by {record['reviewer']}" if record["reviewer"] else ""
    when = f", {record['timestamp'][:19].replace('T', ' ')} UTC" if record["timestamp"] else ""
    return terminal.joined([terminal.word(record["decision"]), terminal.styled(f"{who}{when}")], "")
