import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import StorageFailure
from tests.faults import programs
from tests.faults.journal_writer import expected, opened, write
from tests.faults.scratch_disk import scratch_disk, why_not
from tests.faults.tracing import WITHOUT_STRACE
from tests.journal.states import exact
from tests.trials import count

KILLS = count(smoke=15, release=500)
_FRESH_AFTER = 25  # kills; a journal that grows for ever is another test


class Writer:
    """A forked process that writes; what it acknowledged comes through a pipe, which outlives it."""

    def __init__(self, work: Callable[[Callable[[str], object]], None]) -> None:
        self._reader, pipe = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                work(lambda line: os.write(pipe, f"{line}\n".encode()))
            finally:
                os._exit(0)
        os.close(pipe)

    def first(self) -> bytes:
        """Waits for the first word, or the end."""
        return os.read(self._reader, 1)

    def kill(self) -> None:
        """Kills it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def said(self, first: bytes = b"") -> list[tuple[int, str]]:
        """Returns what was acknowledged: steps and ids; waits for its end."""
        with os.fdopen(self._reader, "rb") as pipe:
            lines = (first + pipe.read()).decode().splitlines()
        return [(int(line.split()[0]), line.split()[1]) for line in lines if len(line.split()) == 2]


def _check(folder: Path, said: list[tuple[int, str]], runs: int = 1) -> None:
    """Makes sure that all that was acknowledged is there, bit for bit, in order, with at most one more for each run."""
    journal = opened(folder)
    ids = [each.id for each in journal]
    for step, entry in said:
        assert entry in ids, f"step {step} was acknowledged and is not there"
        assert exact(expected(step)) == exact(journal.state_at(entry))
    order = [ids.index(entry) for _, entry in said]
    assert order == sorted(order)
    assert len(said) == len(set(order))
    assert len(ids) - len(said) <= runs
    assert all("unfinished" in each for each in journal.verify())


def test_every_acknowledged_step_survives_kill_9(tmp_path: Path) -> None:
    """After kill -9 at random moments every acknowledged step is there, bit for bit, and the next run goes on."""
    chance, acknowledged = random.Random(), 0
    said: list[tuple[int, str]] = []
    for number in range(KILLS):
        folder = tmp_path / str(number // _FRESH_AFTER)
        said = said if number % _FRESH_AFTER else []
        writer = Writer(lambda say, folder=folder: write(folder, say))  # type: ignore[misc]
        first = writer.first() if chance.random() < 0.9 else b""
        time.sleep(chance.uniform(0, 0.02))
        writer.kill()
        new = writer.said(first)
        acknowledged += len(new)
        said += new
        _check(folder, said, number % _FRESH_AFTER + 1)
    print(f"{KILLS} kills, {acknowledged} steps acknowledged")
    assert acknowledged >= KILLS


def test_eight_processes_share_one_journal(tmp_path: Path) -> None:
    """Eight writers on one journal: every acknowledged entry is there, and each state is what its writer saved."""

    def work(say: Callable[[str], object], number: int) -> None:
        journal = opened(tmp_path)
        journal.save({})
        for step in range(count(smoke=15, release=100)):
            say(f"{step} {journal.save({'by': number, 'step': step}).id}")

    writers = [Writer(lambda say, n=number: work(say, n)) for number in range(8)]  # type: ignore[misc]
    said = [writer.said() for writer in writers]
    for writer in writers:
        assert 0 == os.waitpid(writer.pid, 0)[1]
    journal = opened(tmp_path)
    assert [] == journal.verify()
    assert 8 * (count(smoke=15, release=100) + 1) == len(journal)
    assert list(range(1, len(journal) + 1)) == [each.number for each in journal]
    for number, each in enumerate(said):
        for step, entry in each:
            assert {"by": number, "step": step} == journal.state_at(entry)


def test_a_full_disk_fails_the_save_and_nothing_else(tmp_path: Path) -> None:
    """With room for any number of bytes a save is whole or raises StorageFailure; with room again it goes on."""
    journal = opened(tmp_path)
    journal.save({"n": 0})
    ours, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    refused = 0
    try:
        for room in range(0, 400, count(smoke=23, release=1)):
            before = journal.path.read_bytes()
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))
            journal.state["n"] = room
            try:
                journal.save()
            except StorageFailure:
                refused += 1
                assert before == journal.path.read_bytes()
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (ours, hard))
            assert {"n": room} == opened(tmp_path).state_at(journal.save())
            assert [] == opened(tmp_path).verify()
    finally:
        signal.signal(signal.SIGXFSZ, handler)
    assert refused


@pytest.mark.parametrize("fault", ["fdatasync:error=EIO", "fdatasync:error=ENOSPC", "write:error=EIO"])
@pytest.mark.skipif(bool(WITHOUT_STRACE), reason=WITHOUT_STRACE)
def test_a_disk_that_fails_once_loses_nothing_acknowledged(fault: str, tmp_path: Path) -> None:
    """A flush or write that fails is a StorageFailure; what was acknowledged before and after is there."""
    failures = 0
    for when in range(1, 12, count(smoke=5, release=1)):
        folder = tmp_path / str(when)
        name = fault.partition(":")[0]
        program = [sys.executable, "-P", "-m", "tests.faults.journal_writer", str(folder), "6"]
        strace = [str(shutil.which("strace")), "-f", "-o", "/dev/null", "-e", f"trace={name}"]
        strace += ["-P", str(folder / "journal" / "writer.md")]
        done = subprocess.run(
            [*strace, "-e", f"inject={fault}:when={when}", *program],
            capture_output=True,
            text=True,
            check=True,
            env=programs.environment(),
        )
        lines = done.stdout.split("\n")[:-1]
        failures += lines.count("StorageFailure")
        said = [(int(line.split()[0]), line.split()[1]) for line in lines if line != "StorageFailure"]
        assert len(said) >= 5, done.stdout
        _check(folder, said)
    assert failures


@pytest.mark.power
def test_every_acknowledged_step_survives_a_power_cut(tmp_path: Path) -> None:
    """After the power is cut at a random moment every acknowledged step is there, bit for bit."""
    if reason := why_not("ext4"):
        pytest.skip(reason)
    chance = random.Random()
    said: list[tuple[int, str]] = []
    with scratch_disk(tmp_path, "ext4", "defaults") as disk:
        for number in range(count(smoke=3, release=50)):
            writer = Writer(lambda say: write(disk.folder / "base", say))
            first = writer.first()
            time.sleep(chance.uniform(0, 0.05))
            disk.cut_power()
            said += writer.said(first)  # it ends by itself: nothing can be written any more
            os.waitpid(writer.pid, 0)
            disk.power_on()
            _check(disk.folder / "base", said, number + 1)
    assert said
