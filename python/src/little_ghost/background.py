"""Plain code in threads, for coroutines that wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(name: str, work: Callable[..., T], *arguments: Any) -> T:
    """Runs plain code in a thread of its own, while the loop goes on.

    A pool has an end, and code that waits for other code in it would wait for ever. Cancelling the task does not end
    the code; what comes of it is then dropped.

    Args:
        name: The thread's.
        work: The code.
        *arguments: What it is called with.
    """
    import asyncio
    from concurrent.futures import Future

    from .pump import start_thread

    future: Future[T] = Future()
    # From now on nobody but the thread ends it.
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            value = work(*arguments)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(value)

    start_thread(name, run)
    return await asyncio.wrap_future(future)
