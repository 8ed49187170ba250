"""Threads that run user code of a part of a run, so that the part can wait for their end."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable

from .errors import CleanupError

# Seconds between two looks at threads, on an event loop that must not stand still.
_PAUSE = 0.005


class Runners:
    """Threads by the part of the run that they work for."""

    __slots__ = ("_asynchronous", "_by_scope")

    def __init__(self, *, asynchronous: bool) -> None:
        self._asynchronous = asynchronous
        self._by_scope: dict[int, list[threading.Thread]] = {}

    def keep(self, scope: int, thread: threading.Thread) -> None:
        """Notes a thread of a part."""
        if scope:
            alive = [other for other in self._by_scope.get(scope, ()) if other.is_alive()]
            self._by_scope[scope] = [*alive, thread]

    def stop(self, scope: int, end_at: float | None) -> Awaitable[None] | None:
        """Forgets a part. With a time, waits until its threads are done.

        Nothing can end a thread from outside, so that what does not look at its token is left to itself.

        Args:
            scope: The part.
            end_at: Until when to wait, in Unix seconds; None is not at all.

        Raises:
            CleanupError: Some of them go on.
        """
        alive = [thread for thread in self._by_scope.pop(scope, ()) if thread.is_alive()]
        if end_at is None or not alive:
            return None
        if self._asynchronous:
            return _wait(alive, end_at)
        for thread in alive:
            thread.join(max(0.0, end_at - time.time()))
        _check(alive)
        return None


async def _wait(threads: list[threading.Thread], end_at: float) -> None:
    while any(thread.is_alive() for thread in threads) and time.time() < end_at:
        await asyncio.sleep(_PAUSE)
    _check(threads)


def _check(threads: list[threading.Thread]) -> None:
    left = sum(thread.is_alive() for thread in threads)
    if left:
        raise CleanupError(f"{left} threads of a subagent did not stop")
