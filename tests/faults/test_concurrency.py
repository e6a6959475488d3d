import os
import signal
import threading
import time
from pathlib import Path

from haytham import CheckpointManager, ProjectManager
from tests.faults import programs, storms, verdict
from tests.faults.orchestrator import PROJECT, text
from tests.trials import count


def test_eight_processes_on_eight_sessions_lose_nothing(tmp_path: Path) -> None:
    """Eight processes, each with its own session of one project: all that was acknowledged is there, in HEAD."""
    outcome = storms.many_sessions(tmp_path)
    print(outcome)
    assert not outcome.problems, str(outcome)
    assert outcome.acknowledged > 8 * 30


def test_eight_processes_on_one_session_lose_nothing(tmp_path: Path) -> None:
    """Eight processes on one session: all that was acknowledged is there, in HEAD, and none was refused."""
    rounds = count(smoke=4, release=50)
    outcome = storms.many_writers(tmp_path, rounds)
    print(outcome)
    assert not outcome.problems, str(outcome)
    assert outcome.acknowledged == 8 * rounds + 7 * rounds * 5


def test_nobody_waits_for_a_writer_that_was_killed(tmp_path: Path) -> None:
    """When a writer dies while it holds the session, the next one goes on within a second."""
    base, notes, output = tmp_path / "base", tmp_path / "journal", tmp_path / "output"
    for _ in range(count(smoke=3, release=30)):
        driver = programs.start(storms.DRIVER, str(base), str(notes), output=output)
        lock = base / PROJECT / "sessions/session-0/.git/haytham.lock"
        deadline = time.monotonic() + 10
        while not (lock.exists() and b"pid" in lock.read_bytes()) and time.monotonic() < deadline:
            if driver.poll() is not None:
                break
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        begun = time.monotonic()
        CheckpointManager(base).save_agent_output(PROJECT, "session-0", 7, "late", text("late"))
        assert time.monotonic() - begun < 1


def test_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Eight threads on four sessions lose nothing, stay in their folder and leave no file or process open."""
    manager, projects = CheckpointManager(tmp_path), ProjectManager(tmp_path, new_id=lambda: "trial")
    projects.create_project("user-1", "An idea.")
    for number in range(4):
        manager.create_session(PROJECT, f"session-{number}", "user-1")
    failures: list[BaseException] = []
    _work(manager, 0, failures)
    before, folder = _open_files(), Path.cwd()
    threads = [threading.Thread(target=_work, args=(manager, number, failures)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert folder == Path.cwd()
    assert before == _open_files()
    assert _children() == []
    for number in range(8):
        found = manager.get_phase_outputs(PROJECT, f"session-{number % 4}", [1])[1]
        assert found[f"agent_{number}"] == text(f"{number} {ROUNDS - 1}")
    for number in range(4):
        folder = tmp_path / PROJECT / "sessions" / f"session-{number}"
        statuses = {f"session-{number}/checkpoint/1": ["in_progress", 0]}
        assert verdict.of_repository(folder, set(), statuses) == []


ROUNDS = count(smoke=5, release=100)


def _work(manager: CheckpointManager, number: int, failures: list[BaseException]) -> None:
    session = f"session-{number % 4}"
    try:
        for turn in range(ROUNDS):
            manager.save_agent_output(PROJECT, session, 1, f"agent_{number}", text(f"{number} {turn}"))
            manager.save_checkpoint(PROJECT, session, 2 if number < 4 else 3, "completed", [])
            manager.load_session(PROJECT, session)
    except Exception as error:  # noqa: BLE001 - a thread's error is looked at by the test
        failures.append(error)


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the count is all that matters


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
