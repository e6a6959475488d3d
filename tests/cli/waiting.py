"""A session whose first phase waits for a required review, and editors for it."""

import sys
from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.session.handle import Session
from tests.cli.conftest import Sample

CHANGES_HINT = "<!-- haytham: one bullet per change; they go to the next attempt -->\n"


def waiting_session(base: Path, session: str = "s-1", *, review: str = "required") -> Sample:
    """Makes a session with a review of every phase; phase 1 is completed and waits."""
    sample = Sample(base=base, project="p-1", session=session)
    CheckpointManager(base).create_session(*sample.ids, "ada", review=review)
    attempt(sample, 1, "the first text\n")
    return sample


def attempt(sample: Sample, number: int, text: str) -> None:
    """Runs a phase with one agent."""
    with (
        Session(CheckpointManager(sample.base), *sample.ids).phase(number) as phase,
        phase.agent("writer") as agent,
    ):
        agent.write(text)


def form(sample: Sample, folder: str = "phase_1_concept") -> Path:
    """Returns where the form of a phase is."""
    return sample.folder / folder / "user_feedback.md"


def editor(folder: Path, *steps: str) -> str:
    """Makes an editor that does one step per opening (Python, with `path` and `text`), and returns its command."""
    script = folder / "editor.py"
    count = folder / "openings"
    branches = [
        f"if opening == {i}:\n" + "\n".join(f"    {line}" for line in each.splitlines())
        for i, each in enumerate(steps, 1)
    ]
    script.write_text(
        "import os, sys\nfrom pathlib import Path\n"
        "path = Path(sys.argv[-1])\ntext = path.read_bytes().decode()\n"
        f"count = Path({str(count)!r})\n"
        "opening = len(count.read_text().split()) + 1 if count.exists() else 1\n"
        "with count.open('a') as f:\n    f.write(f'{opening}\\n')\n" + "\n".join(branches) + "\n"
    )
    return f"{sys.executable} {script}"


def openings(folder: Path) -> int:
    """Returns how often the editor was opened."""
    return len((folder / "openings").read_text().split())


def decides(action: str) -> str:
    """Returns a step that sets the action in place: truncate and write."""
    return f"path.write_text(text.replace('- Action: -', '- Action: {action}'))"
