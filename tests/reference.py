"""The reference usage: the blocks of the reference's own page where it is there, and the same calls as code.

Runs without pytest too: `tests/wheel_check.py` runs it from an installed wheel.
"""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "shared" / "seeds" / "004_2072891feead04f8.txt"

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_BASIC = """
from haytham.checkpoint.checkpoint_manager import CheckpointManager
checkpoint_manager = CheckpointManager(base_dir="projects")
session_dir = checkpoint_manager.create_session(
    project_id="project-123", session_id="session-456", user_id="user-789", execution_mode="mvp"
)
checkpoint_manager.save_checkpoint(
    project_id="project-123", session_id="session-456", phase_num=1, status="completed",
    agents=[{
        "agent_name": "concept_expansion", "status": "completed", "output_file": "concept_expansion.md",
        "tokens": 15000, "cost": 0.0375, "duration": 120.5,
    }],
    started="2024-11-24T10:00:00Z", completed="2024-11-24T10:02:00Z", duration=120.5, execution_mode="single",
)
checkpoint_manager.save_agent_output(
    project_id="project-123", session_id="session-456", phase_num=1, agent_name="concept_expansion",
    output_content="Agent analysis and recommendations...", status="completed", duration=120.5,
    model="anthropic.claude-3-sonnet-20240229-v1:0", input_tokens=12000, output_tokens=3000, tools_used=["file_write"],
)
checkpoint_manager.save_user_feedback(
    project_id="project-123", session_id="session-456", phase_num=1, reviewed=True, approved=True,
    comments="Looks great!", action="approved",
)
"""

_RESUME = """
session_state = checkpoint_manager.load_session(project_id="project-123", session_id="session-456")
print(f"Current phase: {session_state['current_phase']}")
print(f"Completed phases: {session_state['completed_phases']}")
print(f"Status: {session_state['status']}")
outputs = checkpoint_manager.get_phase_outputs(
    project_id="project-123", session_id="session-456", phase_nums=[1, 2]
)
concept_output = outputs[1]["concept_expansion"]
market_output = outputs[2]["market_intelligence"]
"""

_VALIDATION = """
is_valid, errors = checkpoint_manager.validate_checkpoint(
    project_id="project-123", session_id="session-456", phase_num=1
)
if not is_valid:
    print(f"Validation errors: {errors}")
"""

_INTEGRATION = """
from haytham.project.project_manager import ProjectManager
from haytham.checkpoint.checkpoint_manager import CheckpointManager
project_manager = ProjectManager(base_dir="projects")
checkpoint_manager = CheckpointManager(base_dir="projects")
project = project_manager.create_project(user_id="user-123", startup_idea="My startup idea", execution_mode="mvp")
session = project_manager.start_session(project["project_id"])
checkpoint_manager.create_session(
    project_id=project["project_id"], session_id=session["session_id"], user_id="user-123", execution_mode="mvp"
)
"""

# The page reads an output of phase 2 that its first block does not save: an orchestrator has done so in between.
_IN_BETWEEN = """
for agent in ("market_intelligence", "competitor_analysis"):
    checkpoint_manager.save_agent_output("project-123", "session-456", 2, agent, f"What {agent} found")
checkpoint_manager.save_checkpoint(
    "project-123", "session-456", 2, "completed",
    [{"agent_name": agent, "status": "completed"} for agent in ("market_intelligence", "competitor_analysis")],
)
"""


def own_blocks() -> list[str]:
    """Returns the calls of the reference usage as code of our own."""
    return [_BASIC, _RESUME, _VALIDATION, _INTEGRATION]


def page_blocks() -> list[str] | None:
    """Returns the python blocks of the reference's page as they stand there, or None where it is not at hand."""
    return _BLOCK.findall(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else None


def run(blocks: list[str]) -> dict[str, object]:
    """Runs the four blocks in the current folder, one after the other; returns the names they leave."""
    basic, resume, validation, integration = blocks
    names: dict[str, object] = {}
    for code in (basic, _IN_BETWEEN, resume, validation, integration):
        exec(compile(code, "<reference>", "exec"), names)  # noqa: S102 - the reference's own words are what is tested
    return names
