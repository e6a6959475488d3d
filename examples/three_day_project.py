"""A project of three days: snapshots, a fork of the second day for an experiment, hooks, budget, retention.

The clock is moved by hand, so that three days pass at once.

Run it: python examples/three_day_project.py [FOLDER]
"""

import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from haytham import CheckpointManager, Journal, Retention
from haytham.domain.journal_entry import Entry
from haytham.domain.records import JournalBranch

PROJECT, SESSION, PHASE, AGENT = "nightdesk", "session-1", 1, "concept_expansion"
DAYS = {
    1: ["Design the architecture", "Set up the environment"],
    2: ["Write the data layer", "Write the business logic", "Write unit tests"],
    3: ["Add authentication", "Add validation", "Document the API"],
}
EXPERIMENT = ["Try another authentication", "Test it"]


class Watch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Tells the time."""
        return self.now

    def move(self, **by: int) -> None:
        """Lets time pass."""
        self.now += timedelta(**by)


def run_day(journal: Journal, watch: Watch, title: str, tasks: Sequence[str]) -> Entry:
    """Does the tasks of a day, saves after each, and marks the end of the day."""
    print(f"{title} on {journal.branch or 'the main branch'}: {len(tasks)} tasks")
    for task in tasks:
        journal.state.add_message("user", task)
        journal.state.add_message("assistant", f"{task}: done. {'Here is what was changed, and why. ' * 10}")
        journal.state.add_tool_call("write_file", {"task": task}, "1 file changed")
        journal.state.append("done", task)
        journal.state.spend(tokens=1200, cost=0.0018)
        watch.move(hours=2)
        journal.save()
    return journal.save(name=title)


def show(branches: Sequence[JournalBranch], depth: int = 0) -> None:
    """Prints the tree of forks."""
    for branch in branches:
        print(f"  {'  ' * depth}{branch['title']}: {branch['entries']} entries")
        show(branch["forks"], depth + 1)


def report(journal: Journal) -> None:
    """Prints what a branch came to, with its figures."""
    budget, summary = journal.state["budget"], journal.summary()
    print(f"{journal.title}: {len(journal.state['done'])} tasks, {budget['tokens']} tokens, ${budget['cost']:.4f}")
    print(f"  landmarks: {', '.join(summary['names'])}")
    whole = f"{summary['whole_bytes']:,} as whole states, {summary['savings']:.0%} saved"
    print(f"  {summary['size_bytes']:,} bytes; {whole}")


def main(base_dir: str) -> None:
    """Lives through the three days."""
    watch = Watch()
    manager = CheckpointManager(base_dir, clock=watch)
    print(f"Session folder: {manager.create_session(PROJECT, SESSION, 'user-123')}")
    journal = manager.journal(PROJECT, SESSION, PHASE, AGENT)
    saved: list[str] = []
    journal.before_save(lambda state, note: saved.append(f"before {note.name or len(state['done'])}"))
    journal.after_save(lambda entry: saved.append(f"after {entry.name or entry.step}"))
    run_day(journal, watch, "day 1", DAYS[1])
    watch.move(hours=12)
    second = run_day(journal, watch, "day 2", DAYS[2])
    watch.move(hours=12)
    experiment = journal.fork("experiment", second)
    run_day(experiment, watch, "day 3", EXPERIMENT)
    run_day(journal, watch, "day 3", DAYS[3])
    print(f"Hooks were called {len(saved)} times, last: {saved[-2:]}")
    report(journal)
    report(experiment)
    for policy in (Retention(), Retention(limit=4)):
        planned = journal.cleanup(policy, dry_run=True)
        print(f"Of {len(journal)} entries {planned['kept']} would stay with a limit of {policy.limit}")
    print(
        f"Removed: {len(journal.cleanup()['removed'])}; the experiment still has {len(experiment.state['done'])} tasks"
    )
    print("Tree:")
    show(manager.journals(PROJECT, SESSION, PHASE).tree())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
