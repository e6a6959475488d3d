import asyncio
import threading

import pytest

from haytham.storage import background


def test_result_and_error_come_back() -> None:
    """What the work returns or raises, the caller gets."""
    assert asyncio.run(background.finished(lambda: 5)) == 5
    with pytest.raises(ZeroDivisionError):
        asyncio.run(background.finished(lambda: 1 // 0))


def test_cancelled_work_is_finished_first() -> None:
    """A cancellation waits until the work is done, and goes on then."""
    begun, may_end, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        done.set()

    async def main() -> bool:
        task = asyncio.create_task(background.finished(work))
        await asyncio.to_thread(begun.wait)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return done.is_set()

    assert asyncio.run(main())
