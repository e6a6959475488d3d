"""A session as this version wrote it: every later version has to load it.

`tests/golden/tree/v1` is an unpacked export with reviews, a retry, journals and its git bundle; `expected.json` is what
was told about it. Never change a stored tree; add one for each new format.
`python -m tests.exchange.test_golden_tree DIR` writes one.
"""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager
from haytham.exchange import archive as archives
from tests.evidence import Clock, is_sound
from tests.exchange.conftest import AT, fill

TREES = sorted((Path(__file__).parent.parent / "golden" / "tree").glob("v*"))


def told(manager: CheckpointManager) -> dict[str, Any]:
    """Returns what a manager tells about the session, as JSON would have it."""
    journal = manager.journal(*AT, 2, "market_intelligence")
    value = {
        "state": manager.load_session(*AT),
        "log": [(entry.id, entry.author.name, entry.subject) for entry in manager.history(*AT)],
        "outputs": manager.get_phase_outputs(*AT),
        "approved": manager.get_approved_phases(*AT),
        "attempts": manager.attempts(*AT, 2),
        "journal": [(entry.id, entry.name, journal.state_at(entry)) for entry in journal.all()],
        "resume": manager.resume(*AT),
    }
    return dict(json.loads(json.dumps(value)))


def imported(tree: Path, folder: Path) -> CheckpointManager:
    """Makes the session of a tree, and returns its manager."""
    listed = json.loads((tree / "haytham.json").read_text(encoding="utf-8"))["repositories"]
    names = [f"{place}/{name}" for place, each in listed.items() for name in each["files"]]
    entries = {name: (tree / name).read_bytes() for name in ["haytham.json", *names]}
    (folder / "golden.zip").write_bytes(archives.zipped(entries))
    manager = CheckpointManager(folder / "projects", clock=Clock())
    manager.import_file(folder / "golden.zip")
    return manager


def test_there_is_a_tree() -> None:
    """The test looks at something."""
    assert [tree.name for tree in TREES] == ["v1"]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_tree_is_loaded(tree: Path, tmp_path: Path) -> None:
    """A stored session is imported, verifies, and says what it said when it was written."""
    manager = imported(tree, tmp_path)
    expected, actual = json.loads((tree / "expected.json").read_text(encoding="utf-8")), told(manager)
    actual["state"] = {key: actual["state"][key] for key in expected["state"]}  # later versions may tell more
    assert expected == actual
    assert manager.validate_session(*AT)["problems"] == []
    assert is_sound(manager.base_dir / AT[0] / "sessions" / AT[1])


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_work_goes_on_in_it(tree: Path, tmp_path: Path) -> None:
    """The session of a tree can be worked on."""
    manager = imported(tree, tmp_path)
    manager.complete_phase(*AT, 3, [{"agent_name": "decision_agent", "output_content": "go"}])
    assert manager.load_session(*AT)["phase_statuses"][3] == "completed"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    made = CheckpointManager(target / "projects", clock=Clock())
    fill(made)
    export = made.export_session(*AT, target)
    with zipfile.ZipFile(export["path"]) as file:
        file.extractall(target / "tree")
    text = json.dumps(told(made), indent=2, ensure_ascii=False) + "\n"
    (target / "tree" / "expected.json").write_text(text, encoding="utf-8")
