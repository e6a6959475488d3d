"""A workflow of your own: a TOML file beside this script, run with the handle.

Run it: python examples/custom_workflow.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

from haytham import CheckpointManager, Session

WORKFLOW = Path(__file__).with_name("custom_workflow.toml")


def main(base_dir: str) -> None:
    """Runs the short mode of the workflow and asks for the one review that it requires."""
    manager = CheckpointManager(base_dir, workflows=[WORKFLOW])
    workflow = manager.workflow("release_notes")
    folder = manager.create_session("website", "release-1.4", "user-123", workflow.name, workflow.default_mode)
    print(f"Session folder: {folder}")
    session = Session(manager, "website", "release-1.4")
    for phase in workflow.phases_in(workflow.default_mode):
        with session.phase(phase.number) as run:
            for name in phase.agents:
                with run.agent(name) as agent:
                    agent.write(f"# {name}\n\nWritten for {phase.name}.\n")
        print(f"Phase {phase.number} {phase.name}: completed, review {phase.review}")
        if phase.review == "required":
            manager.save_user_feedback("website", "release-1.4", phase.number, reviewed=True, approved=True)

    # The session keeps a copy of its workflow: a manager that never saw the file can read it.
    state = CheckpointManager(base_dir).load_session("website", "release-1.4")
    print(f"Status: {state['status']}, phases {state['phase_statuses']}")
    print(f"Approved phases: {manager.get_approved_phases('website', 'release-1.4')}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
