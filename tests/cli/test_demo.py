"""The command `haytham demo`."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli.commands import COMMANDS
from haytham.demo import story
from haytham.domain.errors import GateClosed
from tests.cli.conftest import PROGRAM, Said, Sample, in_terminal, process


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
    assert [shlex.split(line)[0] for line in proposed] == ["haytham"] * 4 + ["cat", "cd", "cat", "git", "git"]
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


class Played:
    """The demo as a process of its own, with a person who edits its forms."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*PROGRAM, "demo", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []

    def until(self, start: str) -> None:
        """Reads until a line that starts so."""
        assert self.process.stdout is not None
        while not self.lines or not self.lines[-1].startswith(start):
            line = self.process.stdout.readline()
            assert line, "\n".join(self.lines)
            self.lines.append(line.removesuffix("\n"))

    def until_it_waits(self) -> Path:
        """Reads until the demo waits; returns the form whose path it printed."""
        self.until("Phase ")
        while not self.lines[-1].endswith(" waits for you."):
            self.lines.append("")
            self.until("Phase ")
        self.until("projects/")
        form = self.folder / self.lines[-1]
        self.until("Ctrl-C")
        return form

    def end(self) -> Said:
        """Reads the rest."""
        out, err = self.process.communicate(timeout=60)
        return Said(code=self.process.returncode, out="\n".join([*self.lines, out]), err=err)


def decide(form: Path, action: str, changes: str = "") -> None:
    """Edits a form as a person does."""
    text = form.read_text()
    assert "- Action: -\n" in text
    text = text.replace("- Action: -\n", f"- Action: {action}\n")
    form.write_text(text.replace("to the next attempt -->\n", f"to the next attempt -->\n{changes}"))


def test_review_by_a_person(tmp_path: Path) -> None:
    """It stops at the gate, names faults, answers requested changes with a new attempt, and goes on when approved."""
    demo = Played(tmp_path, "--review")
    form = demo.until_it_waits()
    assert form.name == "user_feedback.md"
    assert all(len(line) <= 80 for line in demo.lines if line != str(form.relative_to(tmp_path)))
    session = Sample(base=tmp_path / "projects", project=form.parts[-5], session=form.parts[-3])
    with pytest.raises(GateClosed):
        CheckpointManager(session.base).save_checkpoint(*session.ids, 3, "in_progress", [])

    untouched = form.read_text()
    decide(form, "aproved")
    demo.until('Hint: did you mean "approved"?')
    form.write_text(untouched)
    decide(form, "retry_with_changes", "- Name the sources,\n  all of them\n- Cut it in half\n")
    assert demo.until_it_waits() == form
    assert "    - Name the sources," in demo.lines
    assert "Phase 2 Market Research, attempt 2" in demo.lines
    for agent in ("market_intelligence", "competitor_analysis"):
        text = (form.parent / f"{agent}.md").read_text()
        assert "# Attempt 2: what you asked for\n\n1. You asked:\n\n   > Name the sources,\n   > all of them\n" in text
        assert "   > Cut it in half\n\n   Answer 2: " in text

    decide(form, "approved")
    last = demo.until_it_waits()
    assert last.parent.name == "phase_7_synthesis"
    assert CheckpointManager(session.base).get_approved_phases(*session.ids) == [2]
    decide(last, "skip_phase")
    said = demo.end()
    assert (said.code, said.err) == (0, "")
    state = CheckpointManager(session.base).load_session(*session.ids)
    assert state["status"] == "completed"
    assert (state["phase_statuses"][2], state["phase_statuses"][7]) == ("completed", "skipped")
    assert "\x1b" not in said.out
    assert process("validate", "--base-dir", session.base).code == 0


def test_review_is_interrupted_and_goes_on(tmp_path: Path) -> None:
    """Ctrl-C at the gate leaves a session that can be decided and gone on with, and says how."""
    demo = Played(tmp_path, "--review")
    form = demo.until_it_waits()
    demo.process.send_signal(signal.SIGINT)
    said = demo.end()
    assert (said.code, said.err) == (130, "\nInterrupted.\n")
    project = form.parts[-5]
    assert said.out.endswith(
        "\nStopped; what was done is saved\n"
        "Decide about phase 2, now or later:\n"
        f"  haytham review --project {project}\n"
        "Go on with the demo:\n"
        f"  haytham demo --project {project}\n"
    )
    assert process("approve", "--project", project, cwd=tmp_path).code == 0
    again = Played(tmp_path, "--project", project)
    last = again.until_it_waits()
    assert [line for line in again.lines if line.startswith("Phase ")] == [
        "Phase 3 Niche Selection",
        "Phase 6 Validation",
        "Phase 7 Final Synthesis",
        "Phase 7 Final Synthesis waits for you.",
    ]
    decide(last, "approved")
    assert again.end().code == 0
    said = process("demo", "--project", project, cwd=tmp_path)
    assert said.code == 1
    assert said.err == f"Error: the demo in project '{project}' is over.\nHint: haytham demo makes a new one.\n"


def test_attempts_are_used_up(tmp_path: Path) -> None:
    """After three retries the phase fails, and the gate keeps the session from going on."""
    demo = Played(tmp_path, "--review")
    for number in range(4):
        decide(demo.until_it_waits(), "retry_with_changes", f"- wish {number}\n")
    said = demo.end()
    assert said.code == 1
    assert "  review: max_retries_exceeded\n" in said.out
    assert said.err.startswith("Error: phase 3 may not start: phase 2 Market Research needs ")


def test_going_on_with_something_else(tmp_path: Path, sample: Sample) -> None:
    """A project that is not the demo's is left alone."""
    said = process("demo", "--project", sample.project, "--base-dir", sample.base)
    assert said.code == 1
    assert said.err.startswith(f"Error: project '{sample.project}' is not one of the demo's.\n")
