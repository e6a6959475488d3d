"""Loading a session at a glance: the same answer as in full, and in full as soon as anything changed."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import CheckpointManager
from haytham.documents import reader
from tests.evidence import PROJECT, SESSION, USER, Clock, git, subjects

AT = (PROJECT, SESSION)
PHASE = "phase_1_concept"
CALM = 0.03  # seconds; longer than the clock of a file system takes for a step


def _again(folder: Path) -> CheckpointManager:
    """Returns a manager of another process, so to say."""
    return CheckpointManager(folder.parents[2], clock=Clock(), lock_timeout=5)


@pytest.fixture
def sealed(manager: CheckpointManager, folder: Path) -> Path:
    """A session with two completed phases that was loaded some time after its last change."""
    for phase, agent in ((1, "concept_expansion"), (2, "market_intelligence")):
        manager.complete_phase(*AT, phase, [{"agent_name": agent, "output_content": f"What {agent} found"}])
    time.sleep(CALM)
    manager.load_session(*AT)
    assert (folder / ".git/haytham.seal").exists()
    return folder


def _documents_read(folder: Path) -> int:
    reader._read_cached.cache_clear()
    _again(folder).load_session(*AT)
    return reader._read_cached.cache_info().misses


def test_an_unchanged_session_costs_one_document(sealed: Path) -> None:
    """Only the manifest is read where nothing changed; all documents where there is no seal."""
    assert _documents_read(sealed) == 1
    (sealed / ".git/haytham.seal").unlink()
    assert _documents_read(sealed) > 4


def test_the_answer_is_the_same(sealed: Path) -> None:
    """What is told at a glance is what is found in full, with stale phases and with edited files."""
    for change in ("phase_2_market_research/market_intelligence.md", f"{PHASE}/concept_expansion.md", None):
        glance = _again(sealed).load_session(*AT)
        assert _documents_read(sealed) == 1
        (sealed / ".git/haytham.seal").unlink()
        assert glance == _again(sealed).load_session(*AT)
        if change:
            with (sealed / change).open("a") as file:
                file.write("One more thing.\n")
            for _ in range(2):  # the first takes the edit in
                time.sleep(CALM)
                _again(sealed).load_session(*AT)
    assert glance["stale_phases"]


def _approve(folder: Path) -> None:
    form = folder / PHASE / "user_feedback.md"
    form.write_text(re.sub(r"^- Action:.*$", "- Action: approved", form.read_text(), flags=re.MULTILINE))


def _commit_by_hand(folder: Path) -> None:
    (folder / PHASE / "concept_expansion.md").write_text("A person's own text\n")
    git(folder, "commit", "-qam", "By hand")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a form": _approve,
    "a commit": _commit_by_hand,
    "a manifest gone": lambda folder: (folder / "session_manifest.md").unlink(),
    "a manifest emptied": lambda folder: (folder / "session_manifest.md").write_bytes(b""),
    "a form gone": lambda folder: (folder / PHASE / "user_feedback.md").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_a_person_did_is_taken_in(sealed: Path, change: Callable[[Path], object]) -> None:
    """A sealed session takes in what people did just as one without a seal does: it tells so in its log."""
    assert _documents_read(sealed) == 1
    before = subjects(sealed)
    change(sealed)
    assert _documents_read(sealed) > 1
    assert before != subjects(sealed)
    assert git(sealed, "status", "--porcelain") == ""


def test_a_branch_that_moved_is_noticed(sealed: Path) -> None:
    """What was edited depends on the newest commit: a branch set back breaks the seal, though no document changed."""
    assert _documents_read(sealed) == 1
    git(sealed, "reset", "--soft", "HEAD~1")
    assert _documents_read(sealed) > 1


def test_a_writer_that_died_is_cleared_up_after(sealed: Path) -> None:
    """The lock of a dead writer breaks the seal, though no document changed: the next one to load recovers."""
    left = sealed / ".git" / ".index.0123456789ab.haytham-tmp"
    left.write_bytes(b"")
    assert _documents_read(sealed) == 1
    assert left.exists()
    (sealed / ".git/haytham.lock").write_bytes(b'{"pid": 1}\n')
    assert _documents_read(sealed) > 1
    assert not left.exists()


def test_an_approval_that_expires_is_never_sealed(manager: CheckpointManager, tmp_path: Path) -> None:
    """Where time alone changes the answer, there is no seal."""
    path = tmp_path / "expiring.toml"
    path.write_text(
        'name = "w"\ntitle = "W"\n[modes]\nall = [1]\n[[phases]]\nnumber = 1\nname = "One"\nfolder = "one"\n'
        'agents = ["a"]\n[phases.approvals]\nexpires_after_days = 1\n'
    )
    manager.register_workflow(path)
    folder = manager.create_session(PROJECT, "expiring", USER, "w", "all")
    time.sleep(CALM)
    manager.load_session(PROJECT, "expiring")
    assert not (folder / ".git/haytham.seal").exists()
