"""The golden forms in a real session: what people wrote decides as it says, and their bytes are safe with us."""

import json
import shutil
from pathlib import Path

import pytest

from haytham import CheckpointManager, InvalidDocument
from tests.evidence import PROJECT, SESSION, USER, Clock, git
from tests.review.desk import AT, REA

GOLDEN = Path(__file__).parent.parent / "golden"
UNDERSTOOD = sorted(GOLDEN.glob("understood/*.md"))
BROKEN = sorted(GOLDEN.glob("broken/*.md"))
HASH = b"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
STATUSES = {"approved": "completed", "retry_with_changes": "requires_retry", "skip_phase": "skipped", None: "completed"}
FORM = "phase_2_market_research/user_feedback.md"


def _manager(base: Path) -> CheckpointManager:
    return CheckpointManager(base, clock=Clock(), lock_timeout=5, identity=lambda: REA)


@pytest.fixture(scope="session")
def waiting_for_review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base folder with a session whose second phase waits for its review."""
    base = tmp_path_factory.mktemp("forms") / "projects"
    manager = _manager(base)
    manager.create_session(PROJECT, SESSION, USER)
    for agent in ("market_intelligence", "competitor_analysis"):
        manager.save_agent_output(*AT, 2, agent, "text")
    manager.save_checkpoint(*AT, 2, "completed", [])
    return base


@pytest.fixture
def copied(waiting_for_review: Path, base: Path) -> Path:
    """A copy of it."""
    shutil.copytree(waiting_for_review, base)
    return base


def _place(base: Path, golden: Path, *, with_content: bool) -> tuple[Path, bytes]:
    """Saves a golden form in the session, about the content that is really there."""
    path = base / PROJECT / "sessions" / SESSION / FORM
    content = _manager(base).load_feedback(*AT, 2)["content"].encode()
    theirs = golden.read_bytes().replace(HASH, content) if with_content else golden.read_bytes()
    path.write_bytes(theirs)
    return path, theirs


def _is_kept(path: Path, theirs: bytes) -> bool:
    folder = path.parent.parent
    oid = git(folder, "hash-object", "--no-filters", "--stdin", data=theirs)
    in_history = oid in git(folder, "log", "--raw", "--no-abbrev", "--format=", "--", FORM)
    return in_history or path.read_bytes() == theirs


@pytest.mark.parametrize("golden", UNDERSTOOD, ids=lambda path: path.stem)
def test_understood(copied: Path, golden: Path) -> None:
    """A form edited in this way decides as it says, is committed, and not a byte of it is gone."""
    expected = json.loads(golden.with_suffix(".json").read_text(encoding="utf-8"))
    path, theirs = _place(copied, golden, with_content=True)
    manager = _manager(copied)
    assert ([2] if expected["decision"] == "approved" else []) == manager.get_approved_phases(*AT)
    state = manager.load_session(*AT)
    assert STATUSES[expected["decision"]] == state["phase_statuses"][2]
    feedback = manager.load_feedback(*AT, 2)
    assert expected["decision"] == feedback["action"]
    assert expected["value"]["comments"] == feedback["comments"]
    assert expected["value"]["requested_changes"] == feedback["requested_changes"]
    if expected["decision"] is None:
        assert theirs == path.read_bytes()
    else:
        words = [each["comments"] for each in manager.review(*AT, 2)["decisions"]]
        assert [expected["value"]["comments"]] == words
        is_ours = b"\r" not in theirs and golden.stem == "decide_action_only"
        assert is_ours or _is_kept(path, theirs) or _says_the_same(path, theirs)


def _says_the_same(path: Path, theirs: bytes) -> bool:
    """Tells whether all that our rewrite changed is what a decision fills in."""
    ours = path.read_text(encoding="utf-8").splitlines()
    labels = ("Reviewed", "Approved", "Timestamp", "Reviewer", "Role", "Action")
    missing = [line for line in theirs.decode().splitlines() if line not in ours]
    return all(line.startswith(("<!-- haytham: set", *(f"- {label}:" for label in labels))) for line in missing)


@pytest.mark.parametrize("golden", BROKEN, ids=lambda path: path.stem)
def test_broken(copied: Path, golden: Path) -> None:
    """A form that cannot be understood decides nothing, is named with file and line, and stays byte for byte."""
    path, theirs = _place(copied, golden, with_content=False)
    manager = _manager(copied)
    head = git(path.parent.parent, "rev-parse", "HEAD")
    calls = (
        lambda: manager.get_approved_phases(*AT),
        lambda: manager.review(*AT, 2),
        lambda: manager.load_feedback(*AT, 2),
        lambda: manager.wait_for_review(*AT, 2, timeout=0),
        lambda: manager.save_user_feedback(*AT, 2, reviewed=True, approved=True),
        lambda: manager.save_agent_output(*AT, 2, "market_intelligence", "other"),
        lambda: manager.save_checkpoint(*AT, 2, "completed", []),
    )
    for call in calls:
        with pytest.raises(InvalidDocument) as caught:
            call()
        assert str(path) == caught.value.location.path
        assert caught.value.location.line
        assert theirs == path.read_bytes()
    assert manager.load_session(*AT)["edited_files"] == [FORM]
    assert manager.recover(*AT)["edited_files"] == [FORM]
    is_valid, problems = manager.validate_checkpoint(*AT, 2)
    assert not is_valid
    assert all(str(path) in problem for problem in problems)
    assert (theirs, head) == (path.read_bytes(), git(path.parent.parent, "rev-parse", "HEAD"))


def test_other_phases_go_on(copied: Path) -> None:
    """A broken form of one phase does not keep the others from being saved."""
    path, theirs = _place(copied, GOLDEN / "broken" / "decision_typo.md", with_content=False)
    manager = _manager(copied)
    manager.save_agent_output(*AT, 1, "concept_expansion", "text")
    manager.save_checkpoint(*AT, 1, "completed", [])
    manager.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert manager.load_feedback(*AT, 1)["approved"]
    assert theirs == path.read_bytes()
