"""Wakes one asyncio task when a run has something for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Run as NativeRun


class MisuseError(RuntimeError):
    """Something that is not the run's reader tried to read it."""


class Waker:
    """Watches a run's descriptor on one event loop.

    The descriptor is registered once and stays so from wait to wait. When it becomes readable
    while nobody waits, it is taken out again: it stays readable until somebody drains, and the loop would spin.

    Holds the native run, which owns the descriptor, and nothing that holds the waker: a stream that
    is dropped can be collected while the loop still knows the descriptor.

    Attributes:
        items: What was taken and nobody has handled. A task that is cancelled just when something came loses nothing.
    """

    __slots__ = ("_armed", "_deliver", "_descriptor", "_loop", "_native", "_receive", "items")

    def __init__(self, native: NativeRun, *, deliver: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._native = native
        self._descriptor = native.fd
        self._deliver = deliver
        self._armed = False
        self._receive: Callable[[], None] | None = None
        self.items: deque[Any] = deque()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop that drives the run."""
        return self._loop

    @property
    def busy(self) -> bool:
        """Whether somebody waits."""
        return self._receive is not None

    async def wait(self) -> None:
        """Waits until there is something in `items`, or a spurious wake-up.

        Raises:
            MisuseError: Another task waits already, or this is another event loop.
        """
        if self._receive is not None:
            raise MisuseError("only one task at a time can read a run")
        if asyncio.get_running_loop() is not self._loop:
            raise MisuseError("this run is driven by another event loop")
        waiter: asyncio.Future[None] = self._loop.create_future()

        def receive() -> None:
            if not waiter.done():
                waiter.set_result(None)

        self.watch(receive)
        try:
            await waiter
        finally:
            self._receive = None

    def watch(self, receive: Callable[[], None] | None) -> None:
        """Has `receive` called when something was taken; None takes nothing any more."""
        self._receive = receive
        if receive is not None and not self._armed:
            self._loop.add_reader(self._descriptor, self._ready)
            self._armed = True

    def dispose(self) -> None:
        """Takes the descriptor out of the loop, from any thread and whatever the loop's state."""
        self._receive = None
        if not self._armed:
            return
        if asyncio._get_running_loop() is self._loop:
            self._disarm()
            return
        try:
            # The callback holds the native run, so the descriptor is open until it is out.
            self._loop.call_soon_threadsafe(self._disarm)
        except RuntimeError:
            # A closed loop watches nothing.
            self._armed = False

    def _ready(self) -> None:
        receive = self._receive
        if receive is None:
            self._disarm()
        else:
            self._native.drain(self.items, self._deliver)
            receive()

    def _disarm(self) -> None:
        if self._armed:
            self._armed = False
            if not self._loop.is_closed():
                self._loop.remove_reader(self._descriptor)
