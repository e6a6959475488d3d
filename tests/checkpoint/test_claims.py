"""Claims: whoever claimed a session last does its work; everybody else is refused, and changes nothing."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, InvalidInput, NotFound, Session, StaleWriter
from tests.evidence import git, snapshot

AT = ("p", "s")

WORK: dict[str, Callable[[CheckpointManager], object]] = {
    "save_checkpoint": lambda manager: manager.save_checkpoint(*AT, 1, "completed", []),
    "save_agent_output": lambda manager: manager.save_agent_output(*AT, 1, "agent_1", "text"),
    "complete_phase": lambda manager: _complete(manager, "text"),
    "start_phase": lambda manager: manager.start_phase(*AT, 1),
    "complete_session": lambda manager: manager.complete_session(*AT),
    "handle": lambda manager: Session(manager, *AT).phase(1).__enter__(),
}


def _complete(manager: CheckpointManager, text: str) -> None:
    manager.complete_phase(*AT, 1, [{"agent_name": "agent_1", "output_content": text}])


@pytest.fixture
def first(tmp_path: Path) -> CheckpointManager:
    """A manager with one session that has been worked on."""
    made = CheckpointManager(tmp_path / "base")
    made.create_session(*AT, "ana")
    _complete(made, "first")
    return made


@pytest.fixture
def second(first: CheckpointManager) -> CheckpointManager:
    """Another manager of the same sessions."""
    return CheckpointManager(first.base_dir)


@pytest.mark.parametrize("entry", WORK)
@pytest.mark.parametrize("has_claimed", [True, False])
def test_superseded_writer_changes_nothing(
    first: CheckpointManager, second: CheckpointManager, entry: str, *, has_claimed: bool
) -> None:
    """Once another one has claimed the session, work is refused: to who claimed before, and to who never did."""
    first.load_session(*AT)
    if has_claimed:
        assert first.claim_session(*AT) == 1
        _complete(first, "with a claim")
    number = Session(second, *AT).claim()
    before = snapshot(first.base_dir)
    with pytest.raises(StaleWriter) as caught:
        WORK[entry](first)
    assert f"claim {number} is held by process {os.getpid()} on " in caught.value.message
    assert before == snapshot(first.base_dir)
    WORK[entry](second)


def test_claim_can_be_taken_back(first: CheckpointManager, second: CheckpointManager) -> None:
    """The newest claim holds, whoever made it."""
    assert [first.claim_session(*AT), second.claim_session(*AT), first.claim_session(*AT)] == [1, 2, 3]
    _complete(first, "mine again")
    with pytest.raises(StaleWriter, match="claim 2 on this session is over: claim 3 is held by"):
        _complete(second, "too late")


def _start(manager: CheckpointManager) -> None:
    manager.claim_session(*AT)
    manager.complete_phase(*AT, 2, [{"agent_name": "agent_2", "output_content": "second"}])
    manager.start_phase(*AT, 3)


def _finish(manager: CheckpointManager) -> None:
    manager.complete_phase(*AT, 3, [{"agent_name": "agent_3", "output_content": "third"}])


def test_going_back_supersedes_the_owner(first: CheckpointManager, second: CheckpointManager) -> None:
    """What an owner had under way when somebody went back is refused; it goes on when it claims again."""
    _start(first)
    second.rollback(*AT, phase=1)
    before = snapshot(first.base_dir)
    with pytest.raises(StaleWriter) as caught:
        _finish(first)
    who = f"claim 1 on this session is over: process {os.getpid()} on "
    assert caught.value.message.startswith(who)
    assert "took the session back to an earlier point at" in caught.value.message
    with pytest.raises(StaleWriter, match="this session is claimed: process"):
        _finish(second)
    assert before == snapshot(first.base_dir)
    assert first.claim_session(*AT) == 3
    _complete(first, "again")


@pytest.mark.parametrize("given", [{"phase": 1, "dry_run": True}, {"phase": 2}, {"phase": 6}])
def test_an_owner_stays_if_nothing_is_taken_back(
    first: CheckpointManager, second: CheckpointManager, given: dict[str, Any]
) -> None:
    """A dry run, a point where the session is, and one that it never was at end no claim."""
    first.claim_session(*AT)
    first.complete_phase(*AT, 2, [{"agent_name": "agent_2", "output_content": "second"}])
    with suppress(InvalidInput):
        second.rollback(*AT, **given)
    _finish(first)


def test_an_owner_who_goes_back_goes_on(first: CheckpointManager) -> None:
    """Whoever has the claim keeps it when going back, and nobody needs one where nobody claims."""
    _finish(first)
    first.rollback(*AT, phase=1)
    _start(first)
    first.rollback(*AT, phase=1)
    _finish(first)
    assert not (first.base_dir / "p/sessions/s/.git/haytham.claim").read_text().startswith('{"number": 2')


def test_a_claim_ends_with_its_session(first: CheckpointManager, second: CheckpointManager) -> None:
    """An owner whose session was deleted is refused, also when another one of the same id is there."""
    _start(first)
    second.delete_session(*AT)
    with pytest.raises(NotFound):
        _finish(first)
    second.create_session(*AT, "ana")
    before = snapshot(first.base_dir)
    with pytest.raises(StaleWriter, match="claim 1 on this session is over: the session was made anew"):
        _finish(first)
    assert before == snapshot(first.base_dir)
    assert second.claim_session(*AT) == 1
    with pytest.raises(StaleWriter, match="claim 1 on this session is over: claim 1 is held by"):
        _finish(first)


def test_people_decide_all_the_same(first: CheckpointManager, second: CheckpointManager) -> None:
    """A reviewer claims nothing, and is never refused."""
    second.claim_session(*AT)
    first.save_user_feedback(*AT, 1, reviewed=True, approved=True)
    assert second.get_approved_phases(*AT) == first.get_approved_phases(*AT) == [1]
    assert first.load_session(*AT)["completed_phases"] == [1]


def test_spoilt_claim_is_no_licence(first: CheckpointManager) -> None:
    """A claim that cannot be read lets nobody through, and can be claimed anew."""
    (first.base_dir / "p/sessions/s/.git/haytham.claim").write_bytes(b"garbage")
    with pytest.raises(StaleWriter):
        _complete(first, "text")
    first.claim_session(*AT)
    _complete(first, "text")


def test_stopped_and_replaced_writer_is_fenced_off(first: CheckpointManager, second: CheckpointManager) -> None:
    """A process that slept through its replacement wakes up, saves, and is refused: nobody's work is overwritten."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            first.claim_session(*AT)
            os.kill(os.getpid(), signal.SIGSTOP)
            _complete(first, "of the dead")
        except StaleWriter:
            code = 7
        finally:
            os._exit(code)
    os.waitpid(child, os.WUNTRACED)
    second.claim_session(*AT)
    _complete(second, "of the living")
    os.kill(child, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert second.get_phase_outputs(*AT) == {1: {"agent_1": "of the living"}}
    assert "of the dead" not in git(first.base_dir / "p/sessions/s", "log", "-p")
