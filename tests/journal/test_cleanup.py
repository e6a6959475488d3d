"""What stays when entries go: the states of the others, and what was said about operations."""

import random
import time
from collections.abc import Callable

import pytest

from haytham.domain.agent_state import AgentState
from haytham.domain.retention import Retention
from haytham.journal.guard import Guard
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from tests.journal.states import exact

Reopen = Callable[[], Journals]


@pytest.mark.parametrize(
    "first",
    [
        lambda journal: journal.clear("routine"),
        lambda journal: journal.cleanup(Retention(until_success=False, routine=0)),
    ],
)
def test_success_is_not_forgotten(first: Callable[[Journal], object], journal: Journal, reopen: Reopen) -> None:
    """Although the entry that said so goes first, the one before the operation goes as soon as it may."""
    with Guard(journal).operation("deploy") as operation:
        journal.state["deployed"] = True
    with Guard(journal).operation("open"):
        journal.save(kind="recovery")
        first(journal)
        journal.save(kind="recovery")
    assert operation.before is not None
    assert operation.before in journal or operation.before.id in {each.succeeded for each in journal}
    fresh = reopen().journal("writer")
    fresh.cleanup(Retention())
    assert ["recovery", "recovery", "routine"] == [each.kind for each in fresh]
    assert [] == fresh.verify()


def test_what_did_not_succeed_still_stays(journal: Journal) -> None:
    """An operation that nobody said anything about keeps its entry, whatever goes."""
    open_ = journal.save(kind="pre_operation", name="deploy")
    done = journal.save(kind="pre_operation", name="deploy", succeeded=None)
    said = journal.save(kind="pre_operation", name="other", succeeded=done)
    journal.save(succeeded=said)
    journal.clear("routine")
    journal.save(kind="recovery")
    journal.cleanup()
    assert [open_.id] == [each.id for each in journal if each.kind == "pre_operation"]


def test_the_states_that_stay_are_the_same(journal: Journal, reopen: Reopen) -> None:
    """Whichever entries go, the others have the state that they had, also behind rollbacks and whole states."""
    chance = random.Random()
    for number in range(60):
        _change(journal.state, number, chance)
        journal.save(name=f"n{number}", kind="recovery")
        if number % 7 == 6:
            journal.rollback_to(chance.choice(journal.all()))
    while len(journal) > 1:
        ids = [each.id for each in journal]
        expected = {each: exact(journal.state_at(each)) for each in ids}
        gone = set(chance.sample(ids, max(1, len(ids) // 4)))
        journal._remove(gone)
        fresh = reopen().journal("writer")
        assert [each for each in ids if each not in gone] == [each.id for each in fresh]
        assert {each.id: expected[each.id] for each in fresh} == {e.id: exact(fresh.state_at(e)) for e in fresh}
        assert [] == fresh.verify()


def _change(state: AgentState, number: int, chance: random.Random) -> None:
    state.append("list", [number])
    if chance.random() < 0.3:
        state["list", 0] = [number, [number]]
        state.append(("list", 0), number)
    if chance.random() < 0.3:
        state["window"] = list(range(number))
        state.keep_last("window", 2)
    if chance.random() < 0.1:
        state.replace({"text": "x" * 20_000, "list": [[0]]})


def test_removing_costs_what_there_is(journal: Journal) -> None:
    """Eight times as many entries take about eight times as long to go through, not sixty-four times."""

    def seconds(steps: int) -> float:
        while len(journal) < steps:
            journal.state.add_message("user", "x" * 20)
            journal.save(kind="recovery")
        start = time.process_time()
        journal._remove({journal.all()[0].id})
        return time.process_time() - start

    short = min(seconds(400), seconds(400))
    assert min(seconds(3200), seconds(3200)) < 24 * short
