"""Waiting for a decision: returns soon after the file is saved, costs nothing meanwhile, can be given up."""

import asyncio
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import InvalidDocument, InvalidInput, ReviewTimeout
from haytham.domain.records import ReviewRecord
from tests.review.desk import AT, Desk, filled_in
from tests.trials import count

_SOON = 20.0  # seconds; for a machine that is busy with other tests


class _Person(threading.Thread):
    """Somebody who does something after a while, and notes when."""

    def __init__(self, act: Callable[[], object], delay: float = 0.15) -> None:
        super().__init__(daemon=True)
        self.act, self.delay, self.acted = act, delay, 0.0
        self.start()

    def run(self) -> None:
        """Waits, then acts."""
        time.sleep(self.delay)
        self.act()
        self.acted = time.monotonic()


def _in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _beside_and_renamed(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.swp")
    beside.write_bytes(data)
    beside.rename(path)


def _slowly(path: Path, data: bytes) -> None:
    with path.open("wb", buffering=0) as file:
        for start in range(0, len(data), 200):
            file.write(data[start : start + 200])
            time.sleep(0.01)


@pytest.mark.parametrize("save", [_in_place, _beside_and_renamed, _slowly])
@pytest.mark.parametrize("action", ["approved", "retry_with_changes", "skip_phase"])
def test_wait_ends_with_the_decision(desk: Desk, action: str, save: Callable[[Path, bytes], None]) -> None:
    """Saving the form is all a person has to do, whichever way their editor saves."""
    desk.run(1)
    text = filled_in(desk.form(1).read_text(encoding="utf-8"), action, comments="So be it.").encode()
    _Person(lambda: save(desk.form(1), text))
    review = desk.session.wait_for_review(1, timeout=_SOON)
    assert (action, "So be it.") == (review["decision"], review["comments"])


def test_wait_that_begins_after_the_decision(desk: Desk) -> None:
    """What is decided already is returned at once."""
    desk.run(1)
    desk.edit(1, "approved")
    started = time.monotonic()
    assert desk.session.wait_for_review(1, timeout=_SOON)["approved"]
    assert time.monotonic() - started < 2


def test_wait_ends_with_a_decision_of_another_process(desk: Desk) -> None:
    """A decision given through the API of another manager ends the wait too."""
    desk.run(1)
    _Person(lambda: desk.reopened().decide(1, "skip_phase"))
    assert desk.manager.wait_for_review(*AT, 1, timeout=_SOON)["decision"] == "skip_phase"


def test_wait_for_all_reviewers(desk: Desk) -> None:
    """Where several have to approve, the first approval does not end the wait; the last does, and a rejection does."""
    desk.run(1)
    desk.approve_all(1)
    desk.run(2)
    desk.decide(2, reviewer="Ada", role="legal")
    with pytest.raises(ReviewTimeout):
        desk.session.wait_for_review(2, timeout=0.2)
    _Person(lambda: desk.edit(2, "approved", reviewer="Bob"))
    assert desk.session.wait_for_review(2, timeout=_SOON)["approved"]


@pytest.mark.parametrize("timeout", [0, 0.1, 0.6])
def test_nobody_decides(desk: Desk, timeout: float) -> None:
    """After the time given, the wait ends with an error that names the folder and the way on."""
    desk.run(1)
    started = time.monotonic()
    with pytest.raises(ReviewTimeout) as caught:
        desk.session.wait_for_review(1, timeout=timeout)
    assert timeout <= time.monotonic() - started < timeout + 2
    assert str(desk.form(1).parent) == caught.value.location.path
    assert caught.value.hint


def test_broken_form_is_waited_over(desk: Desk) -> None:
    """A form that cannot be understood does not end the wait, so that its writer can mend it."""
    desk.run(1)
    text = desk.form(1).read_text(encoding="utf-8")
    desk.form(1).write_text(text.replace("- Action: -", "- Action: aproved"), encoding="utf-8")
    _Person(lambda: desk.form(1).write_text(text.replace("- Action: -", "- Action: approved"), encoding="utf-8"))
    assert desk.session.wait_for_review(1, timeout=_SOON)["approved"]


def test_form_that_stays_broken_is_told(desk: Desk) -> None:
    """When the time is over and the form is still broken, its faults are the answer, and its bytes are as they were."""
    desk.run(1)
    broken = desk.form(1).read_bytes().replace(b"- Action: -", b"- Action: aproved")
    desk.form(1).write_bytes(broken)
    with pytest.raises(InvalidDocument, match="did you mean") as caught:
        desk.session.wait_for_review(1, timeout=0.2)
    assert caught.value.location.line
    assert broken == desk.form(1).read_bytes()


@pytest.mark.parametrize("is_async", [False, True])
def test_each_unreadable_save_is_told(desk: Desk, *, is_async: bool) -> None:
    """Who waits can tell the writer of a broken form, once for each save, while the wait goes on."""
    desk.run(1)
    text = desk.form(1).read_text(encoding="utf-8")
    told: list[str] = []

    def write(action: str) -> None:
        beside = desk.form(1).with_name(".beside")
        beside.write_text(text.replace("- Action: -", f"- Action: {action}"), encoding="utf-8")
        beside.rename(desk.form(1))

    def tell(problem: InvalidInput) -> None:
        told.append(problem.message)
        write("perhaps" if len(told) == 1 else "approved")
        raise RuntimeError("a callback that fails")

    write("aproved")
    if is_async:
        review = asyncio.run(desk.session.wait_for_review_async(1, timeout=_SOON, on_problem=tell))
    else:
        review = desk.session.wait_for_review(1, timeout=_SOON, on_problem=tell)
    assert review["approved"]
    assert told == ['Action is "aproved".', 'Action is "perhaps".']


def test_async_wait(desk: Desk) -> None:
    """The async twin lets other work go on, and returns the same."""
    desk.run(1)

    async def scenario() -> tuple[ReviewRecord, int]:
        waiting = asyncio.ensure_future(desk.session.wait_for_review_async(1, timeout=_SOON))
        ticks = 0
        _Person(lambda: desk.edit(1, "approved"))
        while not waiting.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return waiting.result(), ticks

    review, ticks = asyncio.run(scenario())
    assert review["decision"] == "approved"
    assert ticks > 3


def test_async_wait_can_be_cancelled(desk: Desk) -> None:
    """A cancelled wait ends its thread within a second, so that the loop can be closed."""
    desk.run(1)

    async def scenario() -> None:
        waiting = asyncio.ensure_future(desk.session.wait_for_review_async(1))
        await asyncio.sleep(0.2)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    started = time.monotonic()
    asyncio.run(scenario())
    assert time.monotonic() - started < 3
    desk.edit(1, "approved")
    assert desk.approved() == [1]


def test_async_wait_with_a_deadline_of_the_callers(desk: Desk) -> None:
    """`asyncio.timeout` around the wait works."""
    desk.run(1)

    async def scenario() -> None:
        async with asyncio.timeout(0.2):
            await desk.session.wait_for_review_async(1)

    with pytest.raises(TimeoutError):
        asyncio.run(scenario())


def test_latency(desk: Desk) -> None:
    """From saving the file to the return of the wait: less than 200 ms in the median."""
    taken = []
    for number in range(count(smoke=5, release=21)):
        desk.run(1, f"attempt {number}")
        person = _Person(lambda: desk.edit(1, "approved"))
        desk.session.wait_for_review(1, timeout=_SOON)
        ended = time.monotonic()
        person.join()
        taken.append(ended - person.acted)
    print(f"median {statistics.median(taken) * 1000:.0f} ms, worst {max(taken) * 1000:.0f} ms of {len(taken)}")
    assert statistics.median(taken) < 0.2


def test_waiting_costs_nothing(desk: Desk) -> None:
    """While nobody decides, the wait takes less than one hundredth of a core."""
    desk.run(1)
    with pytest.raises(ReviewTimeout):
        desk.session.wait_for_review(1, timeout=0.1)  # what is loaded once is loaded now
    seconds = count(smoke=3, release=10)
    before = time.process_time()
    with pytest.raises(ReviewTimeout):
        desk.session.wait_for_review(1, timeout=seconds)
    share = (time.process_time() - before) / seconds
    print(f"{share:.2%} of a core over {seconds} s")
    assert share < 0.01
