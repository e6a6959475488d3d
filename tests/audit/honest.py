"""Honest sessions: agents and people who do all that they may do, in any order, and nothing else."""

import random
from pathlib import Path

from haytham import HaythamError
from haytham.storage.history import Person
from tests.evidence import git
from tests.review.desk import AGENTS, AT, STYLES, Desk

ACTIONS = ("approved", "approved", "approved", "retry_with_changes", "skip_phase")
PEOPLE = ("Ada <ada@example.org>", "Bob <bob@example.org>", "Cy", "Ünal Ö. <u@x>", "Eve, <eve> \t(the third)")


class Story:
    """A session that grows by random honest steps."""

    def __init__(self, base: Path, seed: int) -> None:
        self.random = random.Random(seed)
        base.parent.mkdir(parents=True, exist_ok=True)
        self.desk = Desk(base)
        self.steps = (
            *([self.run] * 6),
            *([self.decide] * 5),
            *([self.decide_in_form] * 3),
            self.write_late,
            self.fail,
            self.edit_output,
            self.delete_output,
            self.draft,
            self.commit_by_hand,
            self.keep_house,
            self.save_journal,
            self.begin,
            self.let_days_pass,
            self.other_user,
        )

    def tell(self, steps: int) -> "Story":
        """Does so many steps; what is refused is left, as an orchestrator would."""
        for _ in range(steps):
            try:
                self.random.choice(self.steps)()
            except HaythamError:
                continue
        self.desk.manager.load_session(*AT)  # takes in what people wrote
        return self

    @property
    def phase(self) -> int:
        """Any phase; mostly one that can be worked at."""
        return self.random.choice([1, 1, 1, 2, 2, 3])

    def run(self) -> None:
        """A phase is run."""
        self.desk.run(self.desk.manager.next_phase(*AT) or 1, f"text {self.random.randrange(3)}\n")

    def decide(self) -> None:
        """Somebody decides through the API."""
        phase = self.phase
        role = "legal" if phase == 2 and self.random.random() < 0.6 else None
        self.desk.decide(phase, self.random.choice(ACTIONS), reviewer=self.random.choice(PEOPLE), role=role)

    def decide_in_form(self) -> None:
        """Somebody decides in the form, in their own style."""
        phase = self.phase
        if self.desk.form(phase).exists():
            style = self.random.choice(list(STYLES))
            self.desk.edit(phase, self.random.choice(ACTIONS), style=style, comments="as I see it")
            self.desk.manager.load_session(*AT)

    def write_late(self) -> None:
        """An output comes, or another agent's, whatever the phase is at."""
        phase = self.phase
        agent = self.random.choice([AGENTS[phase], "helper"])
        self.desk.manager.save_agent_output(*AT, phase, agent, f"late {self.random.randrange(9)}")

    def fail(self) -> None:
        """A phase fails."""
        self.desk.complete(self.phase, "failed")

    def begin(self) -> None:
        """A phase begins, and is left at work."""
        self.desk.complete(self.phase, "in_progress")

    def edit_output(self) -> None:
        """Somebody edits an output."""
        path = self.desk.output(self.phase)
        if path.exists():
            path.write_bytes(path.read_bytes() + b"mine\n")

    def delete_output(self) -> None:
        """Somebody deletes an output."""
        self.desk.output(self.phase).unlink(missing_ok=True)

    def draft(self) -> None:
        """Somebody writes a comment, undecided, and it is put into history with the next save."""
        path = self.desk.form(self.phase)
        if path.exists():
            path.write_bytes(path.read_bytes() + b"\n## Notes\n\nnot yet\n")

    def commit_by_hand(self) -> None:
        """Somebody commits a file of their own with git."""
        (self.desk.folder / "notes.txt").write_text(str(self.random.random()))
        git(self.desk.folder, "add", "notes.txt")
        git(self.desk.folder, "commit", "-q", "-m", "my notes")

    def keep_house(self) -> None:
        """Somebody lets git pack everything."""
        git(self.desk.folder, "gc", "-q")

    def save_journal(self) -> None:
        """An agent saves a step of its journal."""
        phase = self.phase
        journal = self.desk.manager.journal(*AT, phase, AGENTS[phase])
        journal.save({"task": self.random.randrange(9)}, name="step")
        journal.close()

    def let_days_pass(self) -> None:
        """Approvals may expire."""
        self.desk.pass_days(self.random.choice([1, 40]))

    def other_user(self) -> None:
        """Somebody else sits at the machine."""
        self.desk.identity = self.random.choice([None, Person(name="Zoe", email="zoe@example.org")])
