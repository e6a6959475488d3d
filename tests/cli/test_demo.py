"""The command `haytham demo`."""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli.commands import COMMANDS
from haytham.demo import story
from tests.cli.conftest import in_terminal, process


def test_end_to_end(tmp_path: Path) -> None:
    """It plays a whole session without a terminal in seconds, in lines of at most 80 columns."""
    start = time.monotonic()
    said = process("demo", cwd=tmp_path)
    assert time.monotonic() - start < 10
    assert (said.code, said.err) == (0, "")
    assert max(len(line) for line in said.out.splitlines()) <= 80
    assert "\x1b" not in said.out
    lines = said.out.splitlines()
    assert "  review: retry_with_changes" in lines
    assert "Phase 2 Market Research, attempt 2" in lines
    assert "└── workflow.toml" in lines
    assert [path.name for path in tmp_path.iterdir()] == ["projects"]


def test_commands_at_the_end_work(tmp_path: Path) -> None:
    """Every command it proposes can be pasted into a shell, from top to bottom."""
    lines = process("demo", "--base-dir", "a folder", cwd=tmp_path).out.splitlines()
    proposed = [line.strip() for line in lines[lines.index("Look further") + 1 :]]
    assert [shlex.split(line)[0] for line in proposed] == ["haytham"] * 3 + ["cat", "cd", "cat", "git", "git"]
    haytham = 'haytham() { python -m haytham.cli.main "$@"; }\n'
    script = "set -e\n" + haytham + "\n".join(proposed)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Count the market from hospitals upwards" in done.stdout
    assert "+# Market intelligence, second attempt" in done.stdout


def test_commands_at_the_end_name_the_program_as_it_was_called(tmp_path: Path) -> None:
    """A program that is not on PATH is proposed by the path it was called with."""
    program = Path(sys.executable).with_name("haytham")
    for environment, expected in ((str(program.parent), "haytham"), ("/nowhere", str(program))):
        done = subprocess.run(
            [str(program), "demo", "--base-dir", "base"],
            cwd=tmp_path,
            env=os.environ | {"PATH": environment},
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"\n  {expected} status --base-dir " in done.stdout


def test_what_it_leaves(tmp_path: Path) -> None:
    """The session is completed, every phase approved by the demo's reviewer, the second attempt answers the changes."""
    assert process("demo", "--fast", "--base-dir", tmp_path).code == 0
    [folder] = tmp_path.glob("*/sessions/*")
    ids = (folder.parent.parent.name, folder.name)
    manager = CheckpointManager(tmp_path)
    state = manager.load_session(*ids)
    assert (state["status"], state["completed_phases"]) == ("completed", [1, 2, 3, 6, 7])
    assert manager.get_approved_phases(*ids) == [1, 2, 3, 6, 7]
    assert manager.load_checkpoint(*ids, 2)["retry_count"] == 1
    assert manager.load_checkpoint(*ids, 2)["execution_mode"] == "parallel"
    assert "## What changed since the first attempt" in manager.get_phase_outputs(*ids, [2])[2]["market_intelligence"]
    authors = {entry.author.name for entry in manager.history(*ids) if "Haytham-Decision" in entry.trailers}
    assert authors == {story.REVIEWER.name}
    assert process("validate", "--base-dir", tmp_path).code == 0
    status = subprocess.run(["git", "-C", str(folder), "status", "--porcelain"], capture_output=True, check=True)
    assert status.stdout == b""


def test_twice(tmp_path: Path) -> None:
    """A second demo is another project."""
    for _ in range(2):
        assert process("demo", "--fast", "--base-dir", tmp_path).code == 0
    assert len(list(tmp_path.iterdir())) == 2


def test_in_a_terminal(tmp_path: Path) -> None:
    """In a terminal it shows who is at work, and leaves the same lines."""
    out = in_terminal("demo", "--fast", "--base-dir", str(tmp_path))
    assert "market_intelligence" in out
    assert "\x1b[1mPhase 7 Final Synthesis" in out
    assert "Look further" in out


def test_base_folder_that_is_a_file(tmp_path: Path) -> None:
    """A base folder that cannot be one is reported in the usual form."""
    (tmp_path / "file").write_text("")
    said = process("demo", "--base-dir", tmp_path / "file")
    assert said.code == 1
    assert said.err.startswith("Error: ")
    assert "Traceback" not in said.err


def test_it_is_the_first_command() -> None:
    """The overview starts with the command a newcomer should try."""
    assert next(iter(COMMANDS)) == "demo"
