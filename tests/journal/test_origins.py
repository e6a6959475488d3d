"""A fork into another session has the journal that it came from as its own, whatever becomes of that one."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from haytham import CheckpointManager, Conflict, DamagedJournal, StorageFailure
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from haytham.storage.journal_file import JournalFile
from tests.evidence import PROJECT, SESSION, USER, git
from tests.journal.conftest import Watch
from tests.journal.states import all_states, exact, save_steps

Open = Callable[[], Journals]
LAST_ONLY = Retention(routine=None, thin_above=1, recent=1, limit=1)
FOLDER = "phase_1_concept/journal"
OUTPUT = [{"agent_name": "concept_expansion", "output_content": "Found.\n"}]


@pytest.fixture
def there(tmp_path: Path, watch: Watch) -> Open:
    """Opens the journals of another session as another process would."""
    return lambda: Journals(tmp_path / "there", tmp_path / "notes-2", "s-2", clock=watch)


def _tear(journal: Journal) -> int:
    return journal.path.write_bytes(journal.path.read_bytes() + b"\n## 9 \xc2\xb7 torn")


def _origins(journals: Journals) -> list[Path]:
    return sorted(journals._folder.glob("*.origin-*"))


def test_nothing_is_copied(journal: Journal, there: Open) -> None:
    """However large the state, the fork is small: its origin is the very file of the other journal."""
    journal.save({"text": "x" * 1_000_000})
    fork = journal.fork_into(there())
    (origin,) = _origins(there())
    assert f"writer.md.origin-{fork.forked_from}" == origin.name
    assert origin.samefile(journal.path)
    assert fork.path.stat().st_size < 700
    assert {"text": "x" * 1_000_000} == there().journal("writer").state.to_dict()


@pytest.mark.parametrize(
    "fate",
    [
        lambda journal: save_steps(journal, 3),
        lambda journal: journal.cleanup(LAST_ONLY),
        lambda journal: journal.clear(),
        lambda journal: journal.path.unlink(),
        _tear,
        lambda journal: [_tear(journal), journal.repair(), save_steps(journal, 2)],
        lambda journal: (journal.rollback_to(journal.all()[0]), save_steps(journal, 2)),
    ],
)
def test_what_happens_to_the_other_journal_is_not_seen(
    fate: Callable[[Journal], object], journal: Journal, there: Open
) -> None:
    """Whatever the other one does, the fork has the same states, and finds nothing wrong."""
    states = save_steps(journal)
    fork = journal.fork_into(there(), entry=journal.all()[2])
    own = save_steps(fork, 2)
    fate(journal)
    fresh = there().journal("writer")
    assert [states[2], *own] == all_states(fresh)
    assert [] == fresh.verify()
    assert exact(fresh.state.to_dict()) == own[-1]


def test_the_fork_does_not_touch_the_other_journal(journal: Journal, there: Open) -> None:
    """What is saved, removed, settled and repaired in the fork leaves the other file as it is."""
    save_steps(journal)
    before = journal.path.read_bytes()
    fork = journal.fork_into(there())
    save_steps(fork, 2)
    JournalFile(fork.path, fork.path).settle()
    fork.repair()
    fork.cleanup(LAST_ONLY)
    fork.clear()
    assert before == journal.path.read_bytes()


def test_a_fork_of_forks_brings_all_of_them(journal: Journal, journals: Journals, there: Open, tmp_path: Path) -> None:
    """A state that goes back through several journals, here and elsewhere, goes back through them there as well."""
    save_steps(journal, 3)
    second = journal.fork("b", journal.all()[1])
    save_steps(second, 2)
    third = second.fork("c", second.all()[1])
    expected = save_steps(third, 2)[0]
    fork = third.fork_into(there(), entry=third.all()[1].id)
    assert 3 == len(_origins(there()))
    far = Journals(tmp_path / "far", tmp_path / "notes-3", "s-3")
    further = fork.fork_into(far, "again")
    for each in (*journals.all(), *there().all()):
        each.clear()
    assert [] == far.journal("writer", "again").verify()
    assert [expected] == all_states(far.journal("writer", "again"))
    assert 4 == len(_origins(far))
    assert further.forked_from


def test_a_fork_that_became_independent_brings_only_itself(journal: Journal, there: Open) -> None:
    """Where a branch no longer refers to the journal that it came from, that one is not brought along."""
    save_steps(journal)
    branch = journal.fork("b")
    branch.detach()
    branch.fork_into(there())
    assert 1 == len(_origins(there()))
    assert [] == there().journal("writer").verify()


def test_an_origin_goes_when_it_is_not_needed(journal: Journal, there: Open) -> None:
    """A fork that is cleaned up holds its state itself; a file that a crash left beside goes with the next save."""
    states = save_steps(journal)
    fork = journal.fork_into(there())
    save_steps(fork, 2)
    left = _origins(there())[0]
    fork.cleanup(Retention(routine=None, limit=2))
    assert [] == _origins(there())
    assert exact(fork.state_at(fork.all()[0])).startswith(states[-1][:20])
    assert [] == there().journal("writer").verify()
    os.link(journal.path, left)
    there().journal("writer").save()
    assert [] == _origins(there())
    assert [] == there().journal("writer").verify()


def test_a_crash_before_the_first_entry_leaves_nothing_in_the_way(journal: Journal, there: Open) -> None:
    """What a process left that died after it took the origin is no journal; the fork can be made again."""
    states = save_steps(journal)
    entry = journal.all()[1]
    there()._folder.mkdir()
    (there()._folder / "writer.md").touch()
    (there()._folder / f"writer.md.origin-{entry.id}").write_bytes(b"something")
    fork = journal.fork_into(there(), entry=entry)
    assert [states[1]] == all_states(fork)
    assert [] == there().journal("writer").verify()


def test_every_byte_of_an_origin_counts_up_to_the_entry(journal: Journal, there: Open) -> None:
    """A flip in front of the end of the entry is found; what comes behind it is not the fork's business."""
    save_steps(journal, 3)
    end = journal.path.stat().st_size
    fork = journal.fork_into(there())
    save_steps(journal, 1)
    data = journal.path.read_bytes()
    (origin,) = _origins(there())
    missed = []
    for place in range(len(data)):
        origin.write_bytes(data[:place] + bytes([data[place] ^ 0x01]) + data[place + 1 :])
        found = there().journal("writer").verify()
        if bool(found) != (place < end):
            missed.append(place)
    assert [] == missed
    for cut in range(0, end, 13):
        origin.write_bytes(data[:cut])
        assert there().journal("writer").verify(), cut
    origin.unlink()
    with pytest.raises(DamagedJournal, match="from which it goes on, is not there"):
        there().journal("writer").resume()
    assert fork.path.exists()


def test_a_damaged_beginning_cannot_be_forked_from(journal: Journal, there: Open, reopen: Open) -> None:
    """If nobody can tell what a journal goes on from, that is said."""
    entry = journal.save({"a": 1})
    journal.path.write_bytes(journal.path.read_bytes().replace(b"- Agent", b"- agent"))
    with pytest.raises(DamagedJournal, match="first lines"):
        reopen().journal("writer").fork_into(there(), entry=entry)
    assert [] == _origins(there())


def test_an_entry_that_goes_away_meanwhile_is_a_conflict(journal: Journal, reopen: Open, there: Open) -> None:
    """If the journal behind the one that is forked lost the entry just now, nothing is acknowledged."""
    save_steps(journal)
    branch = journal.fork("b")
    journal.path.write_bytes(journal.path.read_bytes().replace(journal.all()[-1].id.encode(), b"f" * 24))
    with pytest.raises(Conflict, match="went away"):
        reopen().journal("writer", branch.branch).fork_into(there())
    journal.path.unlink()
    with pytest.raises(StorageFailure):
        reopen().journal("writer", branch.branch).fork_into(there())
    assert [] == [len(each) for each in there().all() if len(each)]


@pytest.fixture
def other_disk() -> Iterator[Path]:
    """A folder on another file system."""
    memory = Path("/dev", "shm")
    if not memory.is_dir():
        pytest.skip("there is no other file system here")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def test_another_disk_gets_a_copy(journal: Journal, other_disk: Path) -> None:
    """Where no link is possible, as much is copied as is needed, and not more."""
    states = save_steps(journal)
    there = Journals(other_disk / "journal", other_disk / "notes", "s-2")
    if other_disk.stat().st_dev == journal.path.stat().st_dev:
        pytest.skip("this is the same file system")
    fork = journal.fork_into(there, entry=journal.all()[1])
    (origin,) = _origins(there)
    data = origin.read_bytes()
    assert journal.path.read_bytes().startswith(data)
    assert len(data) < journal.path.stat().st_size
    assert [states[1]] == all_states(fork)
    assert [] == fork.verify()


def _session_fork(manager: CheckpointManager) -> tuple[Journal, Journal, list[str]]:
    """Returns a journal, one in another session that was forked from its middle, and the states of the first."""
    for session in (SESSION, "other"):
        manager.create_session(PROJECT, session, USER)
    journal = manager.journal(PROJECT, SESSION, 1, "concept_expansion")
    states = save_steps(journal)
    fork = journal.fork_into(manager.journals(PROJECT, "other", 1), entry=journal.all()[1])
    return journal, fork, states


def test_history_has_what_is_needed_and_not_more(manager: CheckpointManager, base: Path) -> None:
    """A commit makes the origin a file of its own, up to the entry; what the other one does then does not show."""
    journal, fork, states = _session_fork(manager)
    folder = base / PROJECT / "sessions" / "other"
    manager.complete_phase(PROJECT, "other", 1, OUTPUT)
    (origin,) = folder.glob(f"{FOLDER}/*.origin-*")
    data = origin.read_bytes()
    assert (1, True) == (origin.stat().st_nlink, journal.path.read_bytes().startswith(data))
    assert data.endswith(b" -->\n")
    assert journal.all()[1].id.encode() in data[-100:]
    assert git(folder, "show", f"HEAD:{FOLDER}/{origin.name}") == data.decode().rstrip("\n")
    save_steps(journal)
    assert "" == git(folder, "status", "--porcelain")
    git(folder, "clone", "-q", ".", "../../../clone")
    cloned = Journals(base / "clone" / FOLDER, base / "notes-9", "other").journal("concept_expansion")
    assert ([states[1]], []) == (all_states(cloned), cloned.verify())
    assert [] == fork.verify()


def test_the_other_session_may_be_deleted(manager: CheckpointManager, base: Path) -> None:
    """A fork outlives the session that it came from, before any commit and after it; verification finds it sound."""
    _, fork, states = _session_fork(manager)
    manager.delete_session(PROJECT, SESSION)
    assert not (base / PROJECT / "sessions" / SESSION).exists()
    assert ([states[1]], []) == (all_states(manager.journal(PROJECT, "other", 1, "concept_expansion")), fork.verify())
    manager.complete_phase(PROJECT, "other", 1, OUTPUT)
    assert [] == manager.validate_session(PROJECT, "other")["problems"]
    assert [states[1]] == all_states(manager.journal(PROJECT, "other", 1, "concept_expansion"))
