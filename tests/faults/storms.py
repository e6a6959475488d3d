"""Series of trials that a test of the package must survive, and a test of the harness must not."""

import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults import journal, programs, verdict
from tests.faults.orchestrator import Driver
from tests.faults.scratch_disk import ScratchDisk, scratch_disk

DRIVER = "tests.faults.orchestrator"
_FRESH_DISK_AFTER = 20  # trials; older sessions need no further look


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What a series of trials found."""

    trials: int = 0
    acknowledged: int = 0
    problems: list[str]

    def __str__(self) -> str:
        shown = "\n".join(self.problems)
        return f"{self.trials} trials, {self.acknowledged} saves acknowledged, {len(self.problems)} problems\n{shown}"


def kills(folder: Path, trials: int, package: Path = programs.PACKAGE) -> Outcome:
    """Kills a driver at random moments, each time continued by the next; stops at the first problem."""
    chance, outcome = random.Random(), Outcome(problems=[])
    base, notes, output = folder / "base", folder / "journal", folder / "output"
    checked = 0
    while outcome.trials < trials and not outcome.problems:
        driver = programs.start(DRIVER, str(base), str(notes), output=output, package=package)
        time.sleep(chance.uniform(0, 0.6))
        if programs.kill(driver) != -9:
            outcome.problems.append(f"the driver stopped by itself:\n{output.read_text()[-3000:]}")
        saves = journal.load(notes)
        outcome.trials += 1
        outcome.acknowledged = sum(save.acknowledged for save in saves)
        outcome.problems += verdict.differences(base, journal.touched(saves, checked), package)
        checked = len(saves)
    return outcome


def power_cuts(
    folder: Path, trials: int, kind: str = "ext4", options: str = "defaults", package: Path = programs.PACKAGE
) -> Outcome:
    """Cuts the power of a file system at random moments while drivers write to it; stops at the first problem."""
    outcome = Outcome(problems=[])
    while outcome.trials < trials and not outcome.problems:
        notes = folder / f"journal-{outcome.trials}"
        with scratch_disk(folder, kind, options) as disk:
            for _ in range(min(_FRESH_DISK_AFTER, trials - outcome.trials)):
                outcome.problems += _power_cut(disk, notes, folder / "output", package)
                outcome.trials += 1
                if outcome.problems:
                    break
            saves = journal.load(notes)
            outcome.problems = outcome.problems or verdict.differences(disk.folder / "base", saves, package)
        outcome.acknowledged += sum(save.acknowledged for save in saves)
    return outcome


def _power_cut(disk: ScratchDisk, notes: Path, output: Path, package: Path) -> list[str]:
    """Cuts the power once: in the middle of a save, or just after one was acknowledged and before anything else.

    Drivers get errors from then on, and may not acknowledge anything more.
    """
    chance, base, checked = random.Random(), disk.folder / "base", len(journal.load(notes))
    pause = chance.choice([0, chance.randrange(1, 40)])
    driver = programs.start(DRIVER, str(base), str(notes), "--pause-after", str(pause), output=output, package=package)
    try:
        if pause:
            _wait_until(lambda: b"pausing" in output.read_bytes() or driver.poll() is not None, 20)
        else:
            lines = _size(notes) + 60 * chance.randrange(1, 90)
            _wait_until(lambda: _size(notes) > lines, 2)
            time.sleep(chance.uniform(0, 0.01))
        disk.cut_power()
        if not pause:
            driver.wait(timeout=30)
    except subprocess.TimeoutExpired:
        return ["the driver hangs on a disk without power"]
    finally:
        programs.kill(driver)
    disk.power_on()
    problems = [] if _failed_well(output) else [f"not an error of ours:\n{output.read_text()[-3000:]}"]
    return problems + verdict.differences(base, journal.touched(journal.load(notes), checked), package)


def _wait_until(is_true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not is_true() and time.monotonic() < deadline:
        time.sleep(0.001)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _failed_well(output: Path) -> bool:
    """Tells whether a driver ended with an error of ours, or just could not read its own files."""
    last = (output.read_text().strip().splitlines() or [""])[-1]
    return "Traceback" not in output.read_text() or "haytham.domain.errors." in output.read_text() or "ready" in last


def many_writers(folder: Path, rounds: int, package: Path = programs.PACKAGE) -> Outcome:
    """Lets eight processes work on one session and one project document at the same time."""
    base, notes = folder / "base", folder / "journal"
    opening = programs.run("tests.faults.workshop", "shared", str(base), package=package)
    assert opening.returncode == 0, opening.stderr
    outputs = [folder / f"output-{number}" for number in range(8)]
    arguments = [(str(base), str(notes), "--shared", str(n), "--rounds", str(rounds)) for n in range(8)]
    drivers = [
        programs.start(DRIVER, *each, output=output, package=package)
        for each, output in zip(arguments, outputs, strict=True)
    ]
    outcome = _outcome_of(drivers, outputs, base, notes, package)
    refused = sum(output.read_text().count("refused: ") for output in outputs)
    outcome.problems += [f"{refused} saves were refused"] if refused else []
    return outcome


def many_sessions(folder: Path, package: Path = programs.PACKAGE) -> Outcome:
    """Lets eight processes work on eight sessions of one project at the same time."""
    base, notes = folder / "base", folder / "journal"
    outputs = [folder / f"output-{number}" for number in range(8)]
    Driver(base, notes).ensure_project()
    drivers = [
        programs.start(DRIVER, str(base), str(notes), "--sessions", str(number), output=output, package=package)
        for number, output in enumerate(outputs)
    ]
    return _outcome_of(drivers, outputs, base, notes, package)


def _outcome_of(
    drivers: list[subprocess.Popen[bytes]], outputs: list[Path], base: Path, notes: Path, package: Path
) -> Outcome:
    try:
        ends = [driver.wait(timeout=120) for driver in drivers]
    finally:
        for driver in drivers:
            programs.kill(driver)
    problems = [
        f"a writer failed:\n{output.read_text()[-1500:]}" for end, output in zip(ends, outputs, strict=True) if end
    ]
    saves = journal.load(notes)
    problems += verdict.differences(base, saves, package)
    return Outcome(trials=1, acknowledged=sum(save.acknowledged for save in saves), problems=problems)
