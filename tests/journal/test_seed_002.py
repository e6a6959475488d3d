"""The API of the third seed document, call by call, then its hazards."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, open_session
from haytham.domain.errors import DamagedJournal
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals

STATE: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi there"}],
    "tool_calls": [{"tool_name": "search", "arguments": "query", "result": "found it", "success": True}],
    "partial_results": ["partial output"],
}


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    """A manager with a folder of its own."""
    return CheckpointManager(tmp_path / "base")


def _journal(manager: CheckpointManager, session: str) -> Journal:
    manager.create_session("p", session, "ana")
    return open_session("p", session, manager.base_dir).journal(1, "concept_expansion")


def test_new(manager: CheckpointManager) -> None:
    """A folder is all that a journal needs; the library looks for none by itself."""
    journal = _journal(manager, "s-1")
    assert not journal.path.exists()
    journal.save(STATE)
    assert journal.path.is_relative_to(manager.base_dir)


def test_save(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """Every field is there again, in another process."""
    journal.save(STATE, step=0)
    found = reopen().journal("writer")
    last = found.resume()
    assert last is not None
    assert (last.agent, last.step, last.status.value, found.session) == ("writer", 0, "in_progress", "s-1")
    assert found.state.to_dict() == STATE


def test_load_latest(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """The last step that was saved; None where nothing was."""
    assert journal.resume() is None
    for step in range(3):
        journal.save({"step": step}, step=step)
    found = reopen().journal("writer")
    last = found.resume()
    assert last is not None
    assert (last.step, found.state.to_dict()) == (2, {"step": 2})


def test_list_checkpoints(journal: Journal) -> None:
    """All, in the order of their steps."""
    for step in (2, 0, 1):
        journal.save(step=step)
    assert [each.step for each in journal.by_step()] == [0, 1, 2]


def test_cleanup(journal: Journal) -> None:
    """All entries go, and are counted."""
    for _ in range(2):
        journal.save()
    assert journal.clear() == 2
    assert journal.latest() is None


def test_has_checkpoint(journal: Journal, journals: Journals) -> None:
    """Whether there is something to resume from."""
    assert (len(journal), journals.titles()) == (0, [])
    journal.save()
    assert (len(journal), journals.titles()) == (1, ["writer"])


@pytest.mark.parametrize(
    ("status", "reason"), [("in_progress", ""), ("completed", ""), ("failed", "OOM"), ("halted", "loop: a, b")]
)
def test_checkpoint_status(journal: Journal, reopen: Callable[[], Journals], status: str, reason: str) -> None:
    """Each status comes back, with its reason."""
    journal.save(STATE, status=status, reason=reason)
    found = reopen().journal("writer").latest(status=status)
    assert found is not None
    assert (found.status.value, found.reason) == (status, reason)


def test_separate_sessions(manager: CheckpointManager) -> None:
    """What one session has, another has not."""
    one, two = _journal(manager, "s-1"), _journal(manager, "s-2")
    one.save(STATE)
    two.save(STATE)
    assert one.clear() == 1
    assert (len(one), len(two)) == (0, 1)


def test_hazard_cleanup_of_a_also_removed_a_b(manager: CheckpointManager, journals: Journals) -> None:
    """Neither sessions nor agents nor branches are found by the beginning of their names."""
    short, long = _journal(manager, "a"), _journal(manager, "a_b")
    agents = [journals.journal("a"), journals.journal("a_b"), journals.journal("a", "b")]
    for each in (short, long, *agents):
        each.save(STATE)
    assert (short.clear(), agents[0].clear()) == (1, 1)
    assert [len(each) for each in (short, long, *agents)] == [0, 1, 0, 1, 1]


def test_hazard_a_session_called_latest(manager: CheckpointManager, journals: Journals) -> None:
    """`latest` is a name like any other, of a session, an agent, a branch and an entry."""
    journal = _journal(manager, "latest")
    agent = journals.journal("latest", "latest")
    for each in (journal, agent):
        each.save(STATE, name="latest")
        each.save({"n": 2})
        assert [len(each), len(each.by_name("latest")), each.state["n"]] == [2, 1, 2]
    assert journals.titles() == ["latest@latest"]


def test_hazard_plain_writes_of_file_and_pointer(tmp_path: Path, reopen: Callable[[], Journals]) -> None:
    """Killed at any moment, a journal has each step that was acknowledged; there is no pointer to be wrong."""
    program = f"""
import itertools
from pathlib import Path
from haytham.journal.journals import Journals
folder = Path({str(tmp_path)!r})
journal = Journals(folder / "journal", folder / "notes", "s-1").journal("writer")
journal.resume()
for step in itertools.count(len(journal)):
    journal.save({{"step": step, "text": "x" * 5000}}, step=step)
    print(step, flush=True)
"""
    for kill in range(5):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            told = [int(child.stdout.readline()) for _ in range(3 + 2 * kill)]
            os.kill(child.pid, signal.SIGKILL)
            told += [int(line) for line in child.stdout]
        journal = reopen().journal("writer")
        steps = [each.step for each in journal]
        assert steps == list(range(len(steps)))
        assert len(steps) > told[-1]
        assert journal.state["step"] == steps[-1]


def test_hazard_corrupt_files_were_skipped_in_silence(journal: Journal, reopen: Callable[[], Journals]) -> None:
    """A damaged journal is an error with file and line for every reader, and is left as it is."""
    for number in range(3):
        journal.save({"number": number}, name=f"n{number}")
    damaged = journal.path.read_bytes().replace(b"n1", b"n7", 1)
    journal.path.write_bytes(damaged)
    found = reopen().journal("writer")
    assert len(found.verify()) == 1
    with pytest.raises(DamagedJournal) as caught:
        found.save({"number": 3})
    assert caught.value.location.path == str(journal.path)
    assert caught.value.location.line is not None
    assert journal.path.read_bytes() == damaged
