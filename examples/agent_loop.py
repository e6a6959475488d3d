"""An agent's loop under a guard: routine snapshots, a failed deployment taken back, a refresh, a loop that is halted.

The clock is moved by hand, so that four hours pass at once: every task takes ten minutes.

Run it: python examples/agent_loop.py [FOLDER]
"""

import sys
import tempfile
from datetime import UTC, datetime, timedelta

from haytham import CheckpointManager, Guard, Halted, Journal

PROJECT, SESSION, PHASE, AGENT = "nightdesk", "session-1", 2, "market_intelligence"
TASKS = [f"read source {number}" for number in range(1, 15)]


class Watch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Tells the time."""
        return self.now

    def move(self, minutes: int) -> None:
        """Lets time pass."""
        self.now += timedelta(minutes=minutes)


def execute(journal: Journal, number: int, task: str) -> None:
    """Stands for the agent's work: all that it learns goes into the state."""
    journal.state["current_task"] = {"id": number, "status": task, "progress_percentage": 100 * number // len(TASKS)}
    journal.state["mailbox"] = {"last_processed_id": number, "pending_count": len(TASKS) - number}
    journal.state.add_message("user", task)
    journal.state.add_message("assistant", f"Source {number} says that night shifts end with a handover.")


def deploy(journal: Journal) -> None:
    """Stands for an operation that goes wrong halfway."""
    journal.state["operational_context"] = {"goals": ["deploy"], "decisions": ["half of the servers are new"]}
    raise ConnectionError("server 3 does not answer")


def work(guard: Guard, watch: Watch) -> None:
    """The loop: what is saved, and when, is the guard's business."""
    journal = guard.journal
    for number, task in enumerate(TASKS, start=1):
        execute(journal, number, task)
        watch.move(10)
        if guard.step(task, progress=number):
            print(f"{watch.now:%H:%M} step {guard.steps}: saved")
        if number == len(TASKS) // 2:
            try:
                with guard.operation("deploy", rollback=True):
                    deploy(journal)
            except ConnectionError as error:
                print(f"{watch.now:%H:%M} deploy failed: {error}; decisions now: {decisions(journal)}")
        if guard.refresh_due:
            print(f"{watch.now:%H:%M} refresh: {guard.refresh().reason}")


def decisions(journal: Journal) -> list[str]:
    """Returns what the agent believes to have decided."""
    return list(journal.state.get(("operational_context", "decisions"), ()))


def get_stuck(guard: Guard) -> None:
    """An agent that asks the same question for ever."""
    while True:
        guard.step("search", {"query": "handover software"}, progress=False)


def main(base_dir: str) -> None:
    """Runs the loop to its end, and one that never ends."""
    watch = Watch()
    manager = CheckpointManager(base_dir, clock=watch)
    print(f"Session folder: {manager.create_session(PROJECT, SESSION, 'user-123')}")
    journal = manager.journal(PROJECT, SESSION, PHASE, AGENT)
    with Guard(journal, clock=watch) as guard:
        work(guard, watch)
    try:
        with Guard(journal, clock=watch) as guard:
            get_stuck(guard)
    except Halted as error:
        print(error.message)
    print("Recovery points:")
    for entry in journal:
        if entry.kind == "recovery":
            print(f"  step {entry.step}, {entry.status}: {entry.reason}")
    report = journal.cleanup(dry_run=True)
    print(f"Entries: {len(journal)}; a cleanup would keep {report['kept']}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
