import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from haytham import Locked, StorageFailure
from haytham.storage import locks
from tests.evidence import Clock

HOLDER = """
import sys
from pathlib import Path
from haytham.domain import instants
from haytham.storage import locks
with locks.held(Path(sys.argv[1]), 5, instants.utc_now):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=10)


def test_holder_is_named(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """Who waits in vain learns which process on which machine has held the lock since when."""
    with pytest.raises(Locked) as caught, locks.held(tmp_path, 0.05, Clock()):
        pytest.fail("the lock is held by another process")
    assert f"process {holder.pid} on {socket.gethostname()} since 20" in caught.value.message
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.hint
    _end(holder, kill=False)


def test_lock_goes_with_its_holder(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """A holder that is killed frees the lock at once, and the next one learns that it died."""
    _end(holder, kill=True)
    with locks.held(tmp_path, 0.5, Clock()) as died:
        assert died
    with locks.held(tmp_path, 0.5, Clock()) as died:
        assert not died


def test_lock_that_was_given_back_tells_of_no_death(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """A holder that ended well leaves nothing to clean up."""
    _end(holder, kill=False)
    with locks.held(tmp_path, 5, Clock()) as died:
        assert not died


def test_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    """An exception inside frees the lock; nobody died."""
    with pytest.raises(ZeroDivisionError), locks.held(tmp_path, 1, Clock()):
        raise ZeroDivisionError
    with locks.held(tmp_path, 0.1, Clock()) as died:
        assert not died


def test_threads_take_turns(tmp_path: Path) -> None:
    """Two threads of one process never hold the lock at the same time."""
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with locks.held(tmp_path, 10, Clock()):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_holder_without_a_name_is_told_so(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    """A note that cannot be read does not stop the message."""
    (tmp_path / "haytham.lock").write_bytes(b"{torn")
    with pytest.raises(Locked, match="its name is not known"), locks.held(tmp_path, 0.05, Clock()):
        pytest.fail("the lock is held by another process")
    _end(holder, kill=False)


def test_lock_that_cannot_be_made_is_a_failure_of_the_disk(tmp_path: Path) -> None:
    """Where there is no place for a lock, that is said, instead of waiting."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageFailure, match="cannot be taken"), locks.held(tmp_path / "file", 0.1, Clock()):
        pytest.fail("there is no place for a lock")


def test_folder_may_go_while_it_is_held(tmp_path: Path) -> None:
    """Deleting what is locked is not an error."""
    folder = tmp_path / "git"
    folder.mkdir()
    with locks.held(folder, 1, Clock()):
        folder.rename(tmp_path / "gone")
    assert list((tmp_path / "gone").iterdir()) == [tmp_path / "gone" / "haytham.lock"]
