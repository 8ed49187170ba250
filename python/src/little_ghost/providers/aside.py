"""Parts of a provider at work for one request outside a run."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import describe_exception, error_from_value, fail_call
from .part_call import PartCall
from .parts import Parts

if TYPE_CHECKING:
    from .. import _native


class Aside:
    """Runs parts beside the request, so that what they bring is delivered at once."""

    __slots__ = ("_cancels", "_exceptions", "_native", "_parts")

    def __init__(self, native: _native.Run, parts: Parts) -> None:
        self._native = native
        self._parts = parts
        self._exceptions: list[BaseException] = []
        self._cancels: dict[int, list[Callable[[], Any]]] = {}

    def begin(self, call: int, payload: dict[str, Any], *, on_loop: bool) -> None:
        """Starts what the engine asks for.

        Args:
            call: The call to answer.
            payload: What it asks for.
            on_loop: Whether an event loop runs here, for what is asynchronous.
        """
        from ..pump import start_thread

        token = self._native.work_token.child()
        cancels = self._cancels[call] = [token.cancel]

        def emit(chunk: bytes) -> bool:
            return self._native.emit_bytes(call, chunk)

        try:
            part = PartCall(self._parts, payload, token, emit, self.exception)
        except Exception as error:
            self._fail(call, error)
            return
        if on_loop and part.is_async:
            task = asyncio.get_running_loop().create_task(self._await(call, part))
            cancels.append(task.cancel)
        else:
            start_thread("little-ghost provider", self._run, call, part, cancels)

    def withdraw(self, call: int) -> None:
        """The engine gave a call up: its part is told."""
        for cancel in self._cancels.pop(call, ()):
            cancel()

    def close(self) -> None:
        """Nobody waits any more."""
        for call in list(self._cancels):
            self.withdraw(call)

    def exception(self, value: dict[str, Any]) -> BaseException:
        """The exception for an error of the engine: the very one that a part raised, if it is one."""
        return error_from_value(value, self._original)

    def _original(self, identifier: int) -> BaseException | None:
        if 0 < identifier <= len(self._exceptions):
            return self._exceptions[identifier - 1]
        return None

    def _run(self, call: int, part: PartCall, cancels: list[Callable[[], Any]]) -> None:
        try:
            value = asyncio.run(_watched(part, cancels)) if part.is_async else part.run()
        except BaseException as error:
            self._fail(call, error)
        else:
            self._complete(call, value)

    async def _await(self, call: int, part: PartCall) -> None:
        try:
            value = await part.run_async()
        except BaseException as error:
            self._fail(call, error)
            if not isinstance(error, Exception):
                raise
        else:
            self._complete(call, value)

    def _complete(self, call: int, value: Any) -> None:
        try:
            self._native.complete(call, value)
        except Exception as error:
            # The engine waits for an answer, and this is none.
            self._fail(call, error)
        else:
            self._cancels.pop(call, None)

    def _fail(self, call: int, error: BaseException) -> None:
        self._cancels.pop(call, None)
        self._exceptions.append(error)
        fail_call(self._native, call, describe_exception(error, len(self._exceptions)), error)


async def _watched(part: PartCall, cancels: list[Callable[[], Any]]) -> Any:
    loop = asyncio.get_running_loop()
    task: asyncio.Future[Any] = asyncio.ensure_future(part.run_async())

    def cancel() -> None:
        # A loop that ended meanwhile has nothing to cancel.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)

    cancels.append(cancel)
    return await task
