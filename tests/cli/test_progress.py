"""The bar of long work: seen by people who wait, and by nobody else."""

import os
import shutil
import sys
from pathlib import Path

import pyte
import pytest

from haytham import CheckpointManager, ProjectManager
from tests import terminal
from tests.audit import tampering
from tests.cli.conftest import Sample, process

COMMANDS = {
    "export": "Exporting",
    "export --whole-project": "Exporting",
    "import": "Importing",
    "verify": "Verifying",
    "gc": "Cleaning up",
}


def slow_git(folder: Path, *, is_always: bool = False) -> str:
    """Returns a PATH with a git that takes its time with its first work, or with all of it."""
    folder.mkdir()
    program, begun = folder / "git", folder / "begun"
    once = "" if is_always else f"test -e {begun} || "
    lines = ["#!/bin/sh", f'test "$1" = version || {once}sleep 0.9', f'test "$1" = version || touch {begun}']
    program.write_text("\n".join([*lines, f'exec {shutil.which("git")} "$@"\n']))
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def words(name: str, sample: Sample, tmp_path: Path) -> list[str]:
    """Returns the words of a command; the file to be imported is made before."""
    if name == "import":
        CheckpointManager(sample.base).export_session(*sample.ids, tmp_path / "in.zip")
        return ["import", str(tmp_path / "in.zip"), "--base-dir", str(tmp_path / "elsewhere")]
    more = [str(tmp_path / "out.zip")] if name.startswith("export") else []
    return [*name.split(), *more, "--base-dir", str(sample.base)]


def looked_at(*command: str, path: str) -> str:
    """Runs a command in a terminal; returns all that was written there."""
    code, written = terminal.run(sys.executable, "-m", "haytham.cli.main", *command, environment={"PATH": path})
    assert code == 0, written.decode()
    return written.decode()


@pytest.mark.parametrize("name", COMMANDS)
def test_long_work_has_a_bar(sample: Sample, tmp_path: Path, name: str) -> None:
    """It tells what is done and how much of it, and is gone in the end: what stays is what a short run leaves."""
    command = words(name, sample, tmp_path)
    written = looked_at(*command, path=slow_git(tmp_path / "bin"))
    assert COMMANDS[name] in written
    assert "━" in written
    screen = pyte.Screen(80, 50)
    pyte.Stream(screen).feed(written)
    assert COMMANDS[name] not in "\n".join(screen.display)
    assert screen.display[0].strip()


def test_steps_are_counted(sample: Sample, tmp_path: Path) -> None:
    """Each session is a step."""
    projects = ProjectManager(sample.base)
    projects.start_session(sample.project)
    written = looked_at("verify", "--base-dir", str(sample.base), path=slow_git(tmp_path / "bin", is_always=True))
    assert "1/2" in written


def test_no_bar_for_what_is_quick(sample: Sample) -> None:
    """Nothing flickers."""
    assert "━" not in looked_at("verify", "--base-dir", str(sample.base), path=os.environ["PATH"])


@pytest.mark.parametrize("name", COMMANDS)
def test_no_bar_for_programs(sample: Sample, tmp_path: Path, name: str) -> None:
    """With --json there is none, even in a terminal."""
    written = looked_at(*words(name, sample, tmp_path), "--json", path=slow_git(tmp_path / "bin"))
    assert written.startswith("{")
    assert "━" not in written


def test_bar_is_on_standard_error(sample: Sample, tmp_path: Path) -> None:
    """Results that go into a file are as they always are; somebody who looks sees the bar."""
    path, program = slow_git(tmp_path / "bin"), f"{sys.executable} -m haytham.cli.main verify"
    line = f"{program} --base-dir {sample.base} > {tmp_path}/out"
    code, written = terminal.run("/bin/sh", "-c", line, environment={"PATH": path})
    assert (code, "━" in written.decode()) == (0, True)
    assert (tmp_path / "out").read_text() == process("verify", "--base-dir", sample.base).out
    (tmp_path / "bin" / "begun").unlink()
    code, written = terminal.run("/bin/sh", "-c", f"{line} 2> {tmp_path}/err", environment={"PATH": path})
    assert (code, written, (tmp_path / "err").read_text()) == (0, b"", "")


def test_error(sample: Sample, tmp_path: Path) -> None:
    """An error takes the bar away first."""
    path = slow_git(tmp_path / "bin")
    tampering.rewritten(sample.folder, next(tampering.squashed(sample.folder)))
    command = ("export", str(tmp_path / "x.zip"), "--base-dir", str(sample.base))
    code, written = terminal.run(sys.executable, "-m", "haytham.cli.main", *command, environment={"PATH": path})
    assert code == 1
    assert "━" in written.decode()
    screen = pyte.Screen(80, 50)
    pyte.Stream(screen).feed(written.decode())
    assert screen.display[0].startswith("Error: ")


def test_api_twin(sample: Sample, tmp_path: Path) -> None:
    """The API tells the same to whoever asks: at first that nothing is done, in the end that all is."""
    projects = ProjectManager(sample.base)
    other, sessions = CheckpointManager(tmp_path / "elsewhere"), projects.sessions
    projects.start_session(sample.project)
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    for call, total in (
        (lambda: sessions.export_session(*sample.ids, tmp_path / "s.zip", on_progress=tell), 3),
        (lambda: sessions.export_project(sample.project, tmp_path / "p.zip", on_progress=tell), 6),
        (lambda: other.import_file(tmp_path / "p.zip", on_progress=tell), 6),
        (lambda: projects.verify_project(sample.project, on_progress=tell), 2),
        (lambda: sessions.gc(sample.project, on_progress=tell), 2),
        (lambda: sessions.gc(*sample.ids, on_progress=tell), 1),
    ):
        told.clear()
        call()
        assert told == [(done, total) for done in range(total + 1)]
