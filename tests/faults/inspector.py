"""Opens sessions in a fresh process and prints, as JSON, what they hold.

    python -P -m tests.faults.inspector BASE SESSION…

A project or session that a driver was just about to make is made: that is what its next run would do.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import haytham
from haytham import CheckpointManager, NotFound, ProjectManager
from tests.faults.orchestrator import PROJECT, digest


def state_of(base: Path, sessions: list[str]) -> dict[str, Any]:
    """Returns the values of all keys that are there."""
    manager, projects = CheckpointManager(base), ProjectManager(base, new_id=lambda: "trial")
    found: dict[str, Any] = {"project": "there"} if (base / PROJECT).exists() else {}
    if not found:
        projects.create_project("user-1", "Made by the inspector.")
    for session in sessions:
        if (base / PROJECT / "sessions" / session).exists():
            found |= {session: "there"} | _session(manager, session)
        else:
            manager.create_session(PROJECT, session, "user-1")
    for key, value in projects.get_user_preferences(PROJECT).items():
        found[f"preference/{key}"] = value
    for path in sorted((base / PROJECT / "outputs").glob("*.md"), key=lambda path: (len(path.name), path.name)):
        content = path.read_text()
        found[f"requirements/{content.split(' ')[1]}"] = digest(content)
    projects.update_user_preferences(PROJECT, {"inspected": True})
    return found


def _session(manager: CheckpointManager, session: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    state = manager.load_session(PROJECT, session)
    for number, status in state["phase_statuses"].items():
        try:
            checkpoint = manager.load_checkpoint(PROJECT, session, number)
        except NotFound:
            continue
        finally:
            for agent, content in manager.get_phase_outputs(PROJECT, session, [number])[number].items():
                found[f"{session}/output/{number}/{agent}"] = digest(content)
        assert checkpoint["status"] == status, f"{session}: the manifest disagrees with checkpoint {number}"
        found[f"{session}/checkpoint/{number}"] = [status, checkpoint["retry_count"]]
        try:
            feedback = manager.load_feedback(PROJECT, session, number)
        except NotFound:
            continue
        decided = [feedback["action"], feedback["comments"]]
        found[f"{session}/feedback/{number}"] = decided if feedback["reviewed"] else "form"
    assert not state["edited_files"], f"{session}: taken for a person's edit: {state['edited_files']}"
    return found


if __name__ == "__main__":
    assert Path(haytham.__file__).parents[1] == Path(os.environ["HAYTHAM_ON_TRIAL"])
    print(json.dumps(state_of(Path(sys.argv[1]), sys.argv[2:])))
