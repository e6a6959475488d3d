"""The reference usage from end to end: a project, a session, a phase, a review, and how to resume.

Run it: python examples/checkpoint_manager_example.py [FOLDER]
"""

import sys
import tempfile

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.project.project_manager import ProjectManager


def main(base_dir: str) -> None:
    """Runs two phases of a session and looks at what is there."""
    project_manager = ProjectManager(base_dir=base_dir)
    checkpoint_manager = CheckpointManager(base_dir=base_dir)

    project = project_manager.create_project(
        user_id="user-123", startup_idea="A checklist out of every shift handover", execution_mode="mvp"
    )
    session = project_manager.start_session(project["project_id"])
    project_id, session_id = project["project_id"], session["session_id"]
    session_dir = checkpoint_manager.create_session(
        project_id=project_id, session_id=session_id, user_id="user-123", execution_mode="mvp"
    )
    print(f"Session folder: {session_dir}")

    checkpoint_manager.save_checkpoint(
        project_id=project_id,
        session_id=session_id,
        phase_num=1,
        status="completed",
        agents=[
            {
                "agent_name": "concept_expansion",
                "status": "completed",
                "output_file": "concept_expansion.md",
                "tokens": 15000,
                "cost": 0.0375,
                "duration": 120.5,
            }
        ],
        started="2024-11-24T10:00:00Z",
        completed="2024-11-24T10:02:00Z",
        duration=120.5,
        execution_mode="single",
    )
    checkpoint_manager.save_agent_output(
        project_id=project_id,
        session_id=session_id,
        phase_num=1,
        agent_name="concept_expansion",
        output_content="# Concept\n\nA tablet on the ward listens to the handover.\n",
        status="completed",
        duration=120.5,
        model="a-model",
        input_tokens=12000,
        output_tokens=3000,
        tools_used=["file_write"],
    )
    checkpoint_manager.save_user_feedback(
        project_id=project_id,
        session_id=session_id,
        phase_num=1,
        reviewed=True,
        approved=True,
        comments="Looks great!",
        action="approved",
    )
    print(f"Approved phases: {checkpoint_manager.get_approved_phases(project_id, session_id)}")

    # Somewhere else, later: another process opens the session and goes on.
    resumed = CheckpointManager(base_dir=base_dir)
    state = resumed.load_session(project_id=project_id, session_id=session_id)
    print(f"Completed phases: {state['completed_phases']}")
    print(f"Next phase: {state['next_phase']}")
    concept = resumed.get_phase_outputs(project_id, session_id, phase_nums=[1])[1]["concept_expansion"]
    print(f"The concept has {len(concept)} characters.")
    is_valid, problems = resumed.validate_checkpoint(project_id, session_id, phase_num=1)
    print(f"Phase 1 is valid: {is_valid} {problems}")

    result = project_manager.complete_session(project_id, session_id, requirements_content=concept)
    print(f"Requirements: {result['requirements_file']}")
    print(f"Phases left out: {result['unfinished_phases']}")
    print("History, oldest first:")
    for entry in reversed(resumed.history(project_id, session_id)):
        print(f"  {entry.subject}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="haytham-example-"))
