"""An orchestrator: agents of a phase side by side, a failure that is saved, and a second process that goes on.

Run it: python examples/orchestrator_async.py [FOLDER]
"""

import asyncio
import sys
import tempfile

from haytham import ProjectManager, Session, open_session
from haytham.session.handle import PhaseRun

PHASES = {1: ["concept_expansion"], 2: ["market_intelligence", "competitor_analysis"]}
ATTEMPTS = 3


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


async def run_agent(phase: PhaseRun, model: Model, name: str, prompt: str) -> None:
    """Runs one agent; what it writes is saved when its block ends, and so is an exception."""
    async with phase.agent(name, model="a-model") as agent:
        agent.write(await model.ask(name, prompt), input_tokens=len(prompt) // 4, output_tokens=20)


async def run_phase(session: Session, model: Model, number: int) -> None:
    """Runs the agents of a phase in parallel; if one fails, the phase is saved as failed and the error goes on."""
    earlier = "\n".join(text for outputs in session.outputs().values() for text in outputs.values())
    async with session.phase(number) as phase:
        runs = [run_agent(phase, model, name, earlier) for name in PHASES[number]]
        # Every agent may finish, also when another one fails: its work is paid for.
        results = await asyncio.gather(*runs, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result


async def run_session(session: Session, model: Model) -> None:
    """Runs what is left to run, starting where the last process stopped."""
    while (number := session.next_phase()) in PHASES:
        print(f"Running phase {number}")
        await run_phase(session, model, number)
        print(f"Phase {number} is {session.state()['phase_statuses'][number]}")


def main(base_dir: str) -> None:
    """Runs a session, and starts again after a failure, as a new process would."""
    projects = ProjectManager(base_dir)
    project = projects.create_project("user-123", "A checklist out of every shift handover")
    started = projects.start_session(project["project_id"])
    print(f"Session folder: {started['path']}")
    model = Model()
    for attempt in range(1, ATTEMPTS + 1):
        session = open_session(started["project_id"], started["session_id"], base_dir)
        try:
            asyncio.run(run_session(session, model))
            break
        except ModelOverloadedError as error:
            state = session.state()
            print(f"Attempt {attempt} stopped: {error}")
            print(f"The session is {state['status']}, phase {state['next_phase']} is next.")
    session = open_session(started["project_id"], started["session_id"], base_dir)
    print(f"Completed phases: {session.state()['completed_phases']}")
    print("History, oldest first:")
    for entry in reversed(session.manager.history(session.project_id, session.session_id)):
        print(f"  {entry.subject}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
