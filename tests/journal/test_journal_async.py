import asyncio
import threading

import pytest

from haytham import InvalidInput
from haytham.domain.retention import Retention
from haytham.journal.journal import Journal
from haytham.journal.journal_async import AsyncJournal


async def _everything(journal: AsyncJournal) -> None:
    first = await journal.save({"n": 1}, name="one")
    second = await journal.save({"n": 2}, kind="recovery", reason="why", step=4, metadata={"a": 1}, succeeded=first)
    assert [first, second] == await journal.all()
    assert {"n": 1} == await journal.state_at(first)
    back = await journal.rollback_to(first, reason="again")
    assert (back, {"n": 1}) == (await journal.resume(), journal.journal.state.to_dict())
    fork = await journal.fork("b", second)
    assert {"n": 2} == fork.journal.state.to_dict()
    exported = await journal.export()
    assert 2 == (await journal.cleanup(Retention(limit=2), dry_run=True))["kept"]
    assert 2 == await journal.clear("recovery")
    assert 1 == await journal.clear()
    assert 3 == await journal.import_entries(exported)
    assert [] == await journal.verify()
    with pytest.raises(InvalidInput):
        await journal.save(kind="x")


def test_every_call_has_its_twin(journal: Journal) -> None:
    """The same calls give the same answers, awaited."""
    asyncio.run(_everything(AsyncJournal(journal)))


def test_a_save_runs_beside_the_loop(journal: Journal) -> None:
    """While the disk is waited for, the loop goes on."""
    release = threading.Event()
    journal.before_save(lambda _state, _note: release.wait(10))

    async def both() -> None:
        saving = asyncio.ensure_future(AsyncJournal(journal).save({"n": 1}))
        await asyncio.sleep(0.01)
        assert not saving.done()
        release.set()
        await saving

    asyncio.run(both())
    assert 1 == len(journal)


def test_a_cancelled_save_is_not_cut_off(journal: Journal) -> None:
    """A save that is cancelled halfway is finished before the cancellation goes on."""
    begun = threading.Event()
    release = threading.Event()
    journal.before_save(lambda _state, _note: begun.set())
    journal.before_save(lambda _state, _note: release.wait(10))

    async def cancelled() -> None:
        saving = asyncio.ensure_future(AsyncJournal(journal).save({"n": 1}))
        await asyncio.to_thread(begun.wait, 10)
        saving.cancel()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await saving

    asyncio.run(cancelled())
    assert (1, []) == (len(journal), journal.verify())


def test_many_tasks_share_one_journal(journal: Journal) -> None:
    """Saves of many tasks come one after the other, and none is lost."""

    async def all_() -> None:
        await asyncio.gather(*(AsyncJournal(journal).save(name=f"n{number}") for number in range(20)))

    asyncio.run(all_())
    assert {f"n{number}" for number in range(20)} == {each.name for each in journal}
    assert [] == journal.verify()
