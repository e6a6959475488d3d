"""Work in a thread beside an event loop, always to its end."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


async def finished(work: Callable[[], Result]) -> Result:
    """Runs a save in a thread and waits for it even if it is cancelled meanwhile; the cancellation then goes on."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait({working})  # unlike awaiting it, this neither cancels it nor raises its error
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and working.exception() is None:
        raise cancelled
    return working.result()
