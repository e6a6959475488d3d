"""Makes the page about the documents: each kind with a real one, from a session with a clock of its own."""

import json
import tempfile
from pathlib import Path

from haytham import resources
from haytham.journal.journals import Journals
from haytham.project.project_manager import ProjectManager
from haytham.storage import layout
from tests.evidence import Clock, Ids

KINDS = {
    "project": ("project.md", "What a project is about, and its preferences."),
    "session_manifest": (
        "session_manifest.md",
        "How far a session got. Derived from the checkpoints.",
    ),
    "checkpoint": ("phase_1_concept/checkpoint.md", "How one phase ran."),
    "agent_output": (
        "phase_1_concept/concept_expansion.md",
        "What one agent wrote, below what is known of its run.",
    ),
    "user_feedback": ("phase_1_concept/user_feedback.md", "The form that a person edits to decide; here, decided."),
}
JOURNAL = "phase_1_concept/journal/concept_expansion.md"


def made() -> str:
    """Returns the part of the page that is made."""
    with tempfile.TemporaryDirectory(prefix="haytham-formats-") as base:
        folder = _session(Path(base) / "projects")
        parts = []
        for kind, (name, about) in KINDS.items():
            path = folder.parent.parent / name if kind == "project" else folder / name
            title = json.loads(resources.text("schemas", f"{kind}.schema.json"))["title"]
            parts.append(_part(f"{title}: `{name}`", f"{about} Kind `{kind}`.", path.read_text(encoding="utf-8")))
        journal = (folder / JOURNAL).read_text(encoding="utf-8")
        parts.append(_part(f"Journal: `{JOURNAL}`", "The states of an agent, one entry behind the other.", journal))
        parts.append(_part("Workflow: `workflow.toml`", "The session's own copy.", _workflow(folder), "toml"))
    return "\n".join(parts)


def _session(base: Path) -> Path:
    manager = ProjectManager(base, clock=Clock(), new_id=Ids())
    project = manager.create_project("ana", "Rent out unused garden plots", "Plots")["project_id"]
    started = manager.start_session(project, review={1: "required"})
    ids, sessions = (project, started["session_id"]), manager.sessions
    sessions.start_phase(*ids, 1)
    state = {"current_task": {"id": "expand", "status": "in_progress"}}
    _journals(Path(started["path"]), ids[1]).journal("concept_expansion").save(state, name="first draft")
    sessions.complete_phase(
        *ids,
        1,
        [
            {
                "agent_name": "concept_expansion",
                "output_content": "# Concept\n\nNeighbours rent plots by the season.\n",
                "model": "small-1",
                "input_tokens": 1200,
                "output_tokens": 300,
                "cost": 0.0041,
                "duration": 2.5,
            }
        ],
    )
    sessions.save_user_feedback(
        *ids, 1, reviewed=True, approved=True, comments="Short and clear.", reviewer="Ana <ana@example.org>"
    )
    return Path(started["path"])


def _journals(folder: Path, session_id: str) -> Journals:
    """Returns the journals of phase 1, as the manager does, with ids that are known."""
    notes = folder / ".git" / layout.JOURNAL_NOTES / "phase_1_concept"
    return Journals((folder / JOURNAL).parent, notes, session_id, clock=Clock(), make_id=lambda: f"{1:024x}")


def _workflow(folder: Path) -> str:
    return (folder / "workflow.toml").read_text(encoding="utf-8")


def _part(title: str, about: str, text: str, language: str = "markdown") -> str:
    return f"## {title}\n\n{about}\n\n````{language}\n{text.rstrip(chr(10))}\n````\n"
