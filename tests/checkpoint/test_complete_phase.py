import subprocess
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, InvalidInput

AT = ("p", "s")
OUTPUT = {"agent_name": "market_intelligence", "output_content": "# Findings\n", "input_tokens": 3, "cost": 0.5}


def _manager(base: Path) -> CheckpointManager:
    manager = CheckpointManager(base)
    manager.create_session(*AT, "ana")
    return manager


def test_one_call_does_what_three_do(tmp_path: Path) -> None:
    """Outputs, checkpoint and form are there after one call, in one commit, and git has nothing left to do."""
    manager = _manager(tmp_path)
    before = len(manager.history(*AT))
    manager.complete_phase(*AT, 2, [OUTPUT, {**OUTPUT, "agent_name": "competitor_analysis"}], duration=4.0)
    assert len(manager.history(*AT)) == before + 1
    assert manager.get_phase_outputs(*AT) == {
        2: {"competitor_analysis": "# Findings\n", "market_intelligence": "# Findings\n"}
    }
    checkpoint = manager.load_checkpoint(*AT, 2)
    assert (checkpoint["status"], checkpoint["execution_mode"]) == ("completed", "parallel")
    assert (checkpoint["input_tokens"], checkpoint["cost"], checkpoint["duration"]) == (6, 1.0, 4.0)
    assert manager.load_feedback(*AT, 2)["is_current"]
    assert manager.validate_checkpoint(*AT, 2) == (True, [])
    folder = tmp_path / "p" / "sessions" / "s"
    assert subprocess.run(["git", "status", "--short"], cwd=folder, capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ("text", "a list of dicts is needed"),
        (["text"], "a dict is needed"),
        ([{**OUTPUT, "modle": "x"}], "unknown key 'modle'"),
        ([{"agent_name": "a"}], "no 'output_content'"),
        ([{**OUTPUT, "agent_name": "checkpoint"}], "reserved"),
        ([{**OUTPUT, "status": "done"}], "status"),
        ([OUTPUT, OUTPUT], "listed twice"),
    ],
)
def test_bad_outputs_are_refused_before_anything_is_written(tmp_path: Path, outputs: Any, message: str) -> None:
    """What cannot be saved as a whole is not saved in part."""
    manager = _manager(tmp_path)
    before = manager.history(*AT)
    with pytest.raises(InvalidInput, match=message) as caught:
        manager.complete_phase(*AT, 2, outputs)
    assert caught.value.hint
    assert manager.history(*AT) == before
    assert list((tmp_path / "p/sessions/s/phase_2_market_research").iterdir()) == []
