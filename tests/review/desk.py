"""A desk to review at: a small session with every kind of gate, and forms edited as people edit them."""

import re
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

from haytham import CheckpointManager, Session
from haytham.storage.history import Entry, Person
from tests.evidence import PROJECT, SESSION, USER, Clock

AT = (PROJECT, SESSION)
REA = Person(name="Rea Viewer", email="rea@example.org")
WORKFLOW = """
name = "desk"
title = "A small workflow with every kind of gate"
max_retries = 2

[modes]
all = [1, 2, 3]

[[phases]]
number = 1
name = "Draft"
folder = "phase_1_draft"
agents = ["writer"]
review = "required"

[[phases]]
number = 2
name = "Check"
folder = "phase_2_check"
agents = ["checker"]
review = "required"

[phases.approvals]
minimum = 2
roles = ["legal"]
expires_after_days = 30

[[phases]]
number = 3
name = "Print"
folder = "phase_3_print"
agents = ["printer"]
review = "optional"
"""
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - only how quick it is depends on it
FOLDERS = {1: "phase_1_draft", 2: "phase_2_check", 3: "phase_3_print"}
AGENTS = {1: "writer", 2: "checker", 3: "printer"}

Style = Callable[[str], str]
STYLES: dict[str, Style] = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: f"\ufeff{text}",
    "no final newline": lambda text: text.rstrip("\n"),
    "star bullets": lambda text: re.sub(r"^- ", "* ", text, flags=re.MULTILINE),
    "bold labels": lambda text: re.sub(r"^- (Reviewed|Approved|Action):", r"- **\1**:", text, flags=re.MULTILINE),
    "no hints": lambda text: re.sub(r"^<!-- haytham: .*-->\n", "", text, flags=re.MULTILINE),
    "capitals": lambda text: text.replace("- Action: ", "- ACTION: ").replace("## Action Taken", "## ACTION TAKEN"),
    "notes of my own": lambda text: f"{text}\n## Notes\n\nApproved: true, they say.\n",
}


class Desk:
    """One session under review, with its manager and its clock."""

    def __init__(self, base: Path, clock: Clock | None = None, identity: Person | None = REA) -> None:
        self.base = base
        self.clock = clock or Clock()
        self.identity = identity
        workflow = base.parent / "desk.toml"
        workflow.write_text(WORKFLOW, encoding="utf-8")
        self.manager = CheckpointManager(
            base, workflows=[workflow], clock=self.clock, lock_timeout=10, identity=lambda: self.identity
        )
        self.folder = self.manager.create_session(*AT, USER, "desk", "all")

    def reopened(self) -> "Desk":
        """Returns the desk as another process finds it."""
        return Desk(self.base, self.clock, self.identity)

    @property
    def session(self) -> Session:
        """A handle of the session."""
        return Session(self.manager, *AT)

    def run(self, phase: int, text: str = "text") -> None:
        """Runs a phase: its output, its completion."""
        self.write(phase, text)
        self.complete(phase)

    def write(self, phase: int, text: str) -> None:
        """Saves the output of a phase."""
        self.manager.save_agent_output(*AT, phase, AGENTS[phase], text)

    def complete(self, phase: int, status: str = "completed") -> None:
        """Reports that a phase is completed."""
        self.manager.save_checkpoint(*AT, phase, status, [{"agent_name": AGENTS[phase], "status": "completed"}])

    def decide(
        self,
        phase: int,
        action: str = "approved",
        *,
        reviewer: str | None = None,
        role: str | None = None,
        comments: str = "",
        changes: list[str] | None = None,
        content: str | None = None,
    ) -> None:
        """Decides through the API."""
        approved = action == "approved"
        self.manager.save_user_feedback(
            *AT,
            phase,
            reviewed=True,
            approved=approved,
            comments=comments,
            requested_changes=changes,
            action=action,
            reviewer=reviewer,
            role=role,
            content=content,
        )

    def approve_all(self, phase: int) -> None:
        """Gives every approval that a phase asks for."""
        self.decide(phase, reviewer="Ada <ada@example.org>", role="legal" if phase == 2 else None)
        if phase == 2:
            self.decide(phase, reviewer="Bob <bob@example.org>")

    def form(self, phase: int) -> Path:
        """Returns where the form of a phase is."""
        return self.folder / FOLDERS[phase] / "user_feedback.md"

    def output(self, phase: int) -> Path:
        """Returns where the output of a phase is."""
        return self.folder / FOLDERS[phase] / f"{AGENTS[phase]}.md"

    def edit(self, phase: int, action: str, **more: str) -> bytes:
        """Decides in the form, with an editor; returns what was saved."""
        path = self.form(phase)
        text = filled_in(path.read_bytes().decode(), action, **more)
        path.write_bytes(text.encode())
        return text.encode()

    def approved(self) -> list[int]:
        """Returns the approved phases."""
        return self.manager.get_approved_phases(*AT)

    def status(self, phase: int) -> str:
        """Returns the status of a phase."""
        return self.manager.load_session(*AT)["phase_statuses"][phase]

    def history(self) -> list[Entry]:
        """Returns the commits, newest first."""
        return self.manager.history(*AT)

    def pass_days(self, days: float) -> None:
        """Lets time go by."""
        self.clock.present += timedelta(days=days)


def filled_in(
    text: str,
    action: str,
    *,
    reviewer: str = "",
    role: str = "",
    comments: str = "",
    changes: str = "",
    style: str = "",
) -> str:
    """Fills in a form as a person would: the action, and what else they have to say."""
    text = with_field(text, "Action", action)
    if action != "approved":
        text = with_field(text, "Approved", "false")
    if action == "-":
        text = with_field(text, "Reviewed", "false")
    if reviewer:
        text = with_field(text, "Reviewer", reviewer)
    if role:
        text = with_field(text, "Role", role)
    if comments:
        text = below(text, "## User Comments", comments)
    if changes:
        text = below(text, "## Requested Changes", changes)
    return STYLES[style or "as it is"](text)


def with_field(text: str, label: str, value: str) -> str:
    """Changes the first field of a label."""
    changed, count = re.subn(
        rf"^(\s*[-*+]?\s*\**{label}\**\s*:\s*).*?(\r?)$",
        lambda match: f"{match[1].rstrip()} {value}{match[2]}",
        text,
        count=1,
        flags=re.MULTILINE | re.IGNORECASE,
    )
    assert count == 1, f"no field {label} in\n{text}"
    return changed


def below(text: str, heading: str, words: str) -> str:
    """Writes below a heading, and below our hint there."""
    changed, count = re.subn(
        rf"^{heading}\r?\n(<!-- haytham.*-->\r?\n)?",
        lambda match: f"{match[0]}{words}\n\n",
        text,
        count=1,
        flags=re.MULTILINE | re.IGNORECASE,
    )
    assert count == 1, f"no heading {heading} in\n{text}"
    return changed


def trailers(entries: Iterable[Entry], name: str) -> list[str]:
    """Returns the values of a trailer, newest first."""
    return [entry.trailers[name] for entry in entries if name in entry.trailers]
