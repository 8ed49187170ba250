"""An event loop for a store with coroutine functions, in a run without one."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


class StoreLoop:
    """One event loop, in a thread of its own, for all calls of one run.

    Locks and connections of a store belong to the loop that made them, so the calls must share one.
    """

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Calls a plain function right here; what has to be awaited is awaited in the loop."""
        value = function(*arguments, **keywords)
        if not inspect.isawaitable(value):
            return value
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(
                target=_work, args=(self._loop,), name="little-ghost store", daemon=True
            ).start()
        future = asyncio.run_coroutine_threadsafe(_awaited(value), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Ends the loop and its thread."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def _work(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    loop.run_forever()
    try:
        # What a caller has given up.
        for task in asyncio.all_tasks(loop):
            task.cancel()
            loop.run_until_complete(asyncio.wait([task]))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
