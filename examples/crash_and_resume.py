"""An agent that is killed in the middle of its work, and goes on: nothing that was saved is lost.

A child process does the work and saves each step; it is killed by SIGKILL, which no program can catch. Another child
resumes from the last step, and finishes.

Run it: python examples/crash_and_resume.py [FOLDER]
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from haytham import CheckpointManager, Journal, open_session

PROJECT, SESSION, PHASE, AGENT = "nightdesk", "session-1", 1, "concept_expansion"
STEPS = 200
KILLED_AFTER = 80  # steps that the first child has acknowledged


def journal_in(base_dir: str) -> Journal:
    """Opens the agent's journal, as every process does."""
    return open_session(PROJECT, SESSION, base_dir).journal(PHASE, AGENT)


def work(base_dir: str) -> None:
    """The agent: goes on behind the last saved step, and tells each one that is saved."""
    journal = journal_in(base_dir)
    last = journal.resume()
    for step in range(last.step + 1 if last else 1, STEPS + 1):
        journal.state.add_message("assistant", f"Thought {step}: {'the handover takes an hour. ' * 15}")
        journal.state.add_tool_call("search", {"query": f"handover {step}"}, f"{step} results")
        status = "completed" if step == STEPS else "in_progress"
        journal.save(step=step, status=status)  # durable when it returns
        print(step, flush=True)


def run_agent(base_dir: str, killed_after: int | None = None) -> list[int]:
    """Runs the agent in a process of its own, kills it if asked to, and returns the steps that it acknowledged."""
    command = [sys.executable, str(Path(__file__).resolve()), "--work", base_dir]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - this very file
        told = []
        for line in child.stdout or ():
            told.append(int(line))
            if killed_after is not None and len(told) == killed_after:
                os.kill(child.pid, signal.SIGKILL)
    print(f"The agent ended with code {child.returncode} after steps {told[0]} to {told[-1]}.")
    return told


def main(base_dir: str) -> None:
    """Kills the agent, looks at what is there, lets it finish."""
    print(f"Session folder: {CheckpointManager(base_dir).create_session(PROJECT, SESSION, 'user-123')}")
    told = run_agent(base_dir, KILLED_AFTER)
    started = time.perf_counter()
    journal = journal_in(base_dir)
    entries = journal.all()
    messages = len(journal.state["messages"])
    elapsed = (time.perf_counter() - started) * 1000
    lost = set(told) - {entry.step for entry in entries}
    print(f"Acknowledged steps that are lost: {len(lost)}; problems: {journal.verify()}")
    print(f"Resuming at step {entries[-1].step} with {messages} messages, read in {elapsed:.1f} ms.")
    run_agent(base_dir)
    summary = journal.summary()
    print(f"Steps saved once each: {[entry.step for entry in journal] == list(range(1, STEPS + 1))}")
    print(f"Status: {summary['last']['status'] if summary['last'] else None}")
    print(f"Size: {summary['size_bytes']:,} bytes; {STEPS} whole states would take {summary['whole_bytes']:,}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
