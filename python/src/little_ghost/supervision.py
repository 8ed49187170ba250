"""Awaits user code in the same task, and gives it up when the engine does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any


class Supervised:
    """An awaitable that can be withdrawn from outside, without a task of its own.

    A tool that is alone runs in its caller's task, so that context variables, timeouts and
    `current_task` are the caller's. Cancelling that task would cancel the caller; this cancels only what
    the tool waits for at the moment, as the cancellation of a task does.
    """

    __slots__ = ("_awaitable", "_future", "withdrawn")

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self._awaitable = awaitable
        self._future: Any = None
        self.withdrawn = False

    def withdraw(self) -> None:
        """Raises `asyncio.CancelledError` at the point where the user code waits."""
        self.withdrawn = True
        cancel = getattr(self._future, "cancel", None)
        if cancel is not None:
            cancel()

    def __await__(self) -> Generator[Any, Any, Any]:
        """Runs the user code step by step."""
        steps: Any = self._awaitable.__await__()
        step: Callable[[], Any] = partial(next, steps)
        told = False
        while True:
            try:
                self._future = step()
            except StopIteration as done:
                return done.value
            try:
                yield self._future
            except BaseException as error:
                told = told or self.withdrawn
                step = partial(steps.throw, error)
            else:
                step = partial(next, steps)
                if self.withdrawn and not told:
                    told = True
                    step = partial(steps.throw, asyncio.CancelledError())
