"""An orchestrator: agents side by side, a failure that is saved, and a review that sends a phase back once.

The reviewer is a thread that edits the form like a person with an editor; the orchestrator waits without holding up
its event loop, and hands what was asked for to the next attempt.

Run it: python examples/orchestrator_async.py [FOLDER]
"""

import asyncio
import sys
import tempfile
import threading
import time
from pathlib import Path

from haytham import CheckpointManager, Session, open_session
from haytham.domain.records import ReviewRecord
from haytham.session.handle import PhaseRun

PROJECT, SESSION = "nightdesk", "session-1"
PHASES = {1: ["concept_expansion"], 2: ["market_intelligence", "competitor_analysis"]}
REVIEWED = 1  # the phase behind which the session waits for a person
ATTEMPTS = 3
PATIENCE = 30.0  # seconds


class ModelOverloadedError(Exception):
    """What a model's server answers when it is too busy."""


class Model:
    """Stands for the model that you call; one agent finds it overloaded, once."""

    def __init__(self) -> None:
        self.failures_left = {"competitor_analysis": 1}

    async def ask(self, agent: str, prompt: str) -> str:
        """Answers after a while."""
        await asyncio.sleep(0.02)
        if self.failures_left.get(agent, 0):
            self.failures_left[agent] -= 1
            raise ModelOverloadedError(f"{agent}: try again later")
        return f"# {agent}\n\nAn answer to a prompt of {len(prompt)} characters.\n"


class Reviewer(threading.Thread):
    """Stands for the person: edits the form, first with a wish, then with an approval."""

    def __init__(self, form: Path) -> None:
        super().__init__(daemon=True)
        self._form = form

    def run(self) -> None:
        """Edits each form that waits for a decision."""
        hint = "<!-- haytham: one bullet per change; they go to the next attempt -->\n"
        self._edit("- Attempt: 1\n", "retry_with_changes", hint, f"{hint}- Name the first customer\n")
        self._edit("- Attempt: 2\n", "approved", "", "")

    def _edit(self, about: str, action: str, old: str, new: str) -> None:
        while not self._form.exists() or about not in self._form.read_text():
            time.sleep(0.01)
        text = self._form.read_text().replace("- Action: -\n", f"- Action: {action}\n").replace(old, new, 1)
        self._form.write_text(text)


async def run_agent(phase: PhaseRun, model: Model, name: str, prompt: str) -> None:
    """Runs one agent; what it writes is saved when its block ends, and so is an exception."""
    async with phase.agent(name, model="a-model") as agent:
        agent.write(await model.ask(name, prompt), input_tokens=len(prompt) // 4, output_tokens=20)


async def run_phase(session: Session, model: Model, number: int) -> None:
    """Runs the agents of a phase in parallel; if one fails, the phase is saved as failed and the error goes on."""
    earlier = "\n".join(text for outputs in session.outputs().values() for text in outputs.values())
    async with session.phase(number) as phase:
        wishes = phase.request["requested_changes"] if phase.request else []
        if wishes:
            print(f"Attempt {phase.retry_count + 1} is asked to: {'; '.join(wishes)}")
        prompt = "\n".join([earlier, *wishes])
        runs = [run_agent(phase, model, name, prompt) for name in PHASES[number]]
        # Every agent may finish, also when another one fails: its work is paid for.
        results = await asyncio.gather(*runs, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result


async def run_session(session: Session, model: Model) -> None:
    """Runs what is left to run, starting where the last process stopped."""
    session.manager.on_decision(announce)
    while (number := session.next_phase()) in PHASES:
        print(f"Running phase {number}")
        await run_phase(session, model, number)
        if number == REVIEWED:
            await session.wait_for_review_async(number, timeout=PATIENCE)
        print(f"Phase {number} is {session.state()['phase_statuses'][number]}")


def announce(review: ReviewRecord) -> None:
    """Is called with every decision, whichever way it was given."""
    print(f"Decision about phase {review['phase_num']}, attempt {review['attempt']}: {review['decision']}")


def main(base_dir: str) -> None:
    """Runs a session, and starts again after a failure, as a new process would."""
    manager = CheckpointManager(base_dir)
    folder = manager.create_session(PROJECT, SESSION, "user-123", review={REVIEWED: "required"})
    print(f"Session folder: {folder}")
    Reviewer(folder / "phase_1_concept" / "user_feedback.md").start()
    model = Model()
    for attempt in range(1, ATTEMPTS + 1):
        session = open_session(PROJECT, SESSION, base_dir)
        try:
            asyncio.run(run_session(session, model))
            break
        except ModelOverloadedError as error:
            state = session.state()
            print(f"Attempt {attempt} stopped: {error}")
            print(f"The session is {state['status']}, phase {state['next_phase']} is next.")
    session = open_session(PROJECT, SESSION, base_dir)
    print(f"Completed phases: {session.state()['completed_phases']}")
    print("History, oldest first:")
    for entry in reversed(session.manager.history(PROJECT, SESSION)):
        print(f"  {entry.subject}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
