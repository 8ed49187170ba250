"""Operations of the engine's session stores, waited for in a thread or on an event loop."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from ._native import StoreCall


def wait_call(call: StoreCall) -> Any:
    """Waits without the GIL; signal handlers run meanwhile."""
    try:
        return _settled(call)
    finally:
        call.release()


async def await_call(call: StoreCall) -> Any:
    """Waits while the event loop goes on."""
    try:
        return await _settled_async(call)
    finally:
        call.release()


def _settled(call: StoreCall) -> Any:
    taken = call.take()
    while taken is None:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(_descriptor(call), select.POLLIN)
            poll.poll()
        else:
            select.select([_descriptor(call)], [], [])
        taken = call.take()
    return taken[0]


async def _settled_async(call: StoreCall) -> Any:
    import asyncio

    taken = call.take()
    if taken is None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        descriptor = _descriptor(call)

        def receive() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(descriptor, receive)
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
        return await _settled_async(call)
    return taken[0]


def _descriptor(call: StoreCall) -> int:
    descriptor = call.fd
    if descriptor is None:
        raise RuntimeError("the call to the session store was given up")
    return descriptor


class SessionLock:
    """The right to work on a conversation alone, for `with` and `async with`.

    A thread waits in `with`, a task in `async with`, and a signal or a cancellation ends the wait.
    """

    __slots__ = ("_begin", "_call")

    def __init__(self, begin: Callable[[], StoreCall]) -> None:
        """Made by `SessionStore.synchronize`."""
        self._begin = begin
        self._call: StoreCall | None = None

    def __enter__(self) -> SessionLock:
        """Waits until nobody else works on the conversation."""
        call = self._begin()
        try:
            _settled(call)
        except BaseException:
            call.release()
            raise
        self._call = call
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Lets others work on it."""
        call, self._call = self._call, None
        if call is not None:
            call.release()

    async def __aenter__(self) -> SessionLock:
        """Waits until nobody else works on the conversation."""
        call = self._begin()
        try:
            await _settled_async(call)
        except BaseException:
            call.release()
            raise
        self._call = call
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Lets others work on it."""
        self.__exit__(kind, error, traceback)
