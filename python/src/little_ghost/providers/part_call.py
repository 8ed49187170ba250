"""One thing that the engine has a part of a provider do."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..errors import ProtocolError
from .parts import Parts, answer_of, is_async
from .transport import TransportRequest

if TYPE_CHECKING:
    from .._native import CancellationToken

Emit = Callable[[bytes], bool]
"""Hands a piece of a response over; whether more are wanted."""


class PartCall:
    """Runs a part and finds what the engine is answered.

    Attributes:
        is_async: It needs an event loop.
    """

    __slots__ = ("_arguments", "_emit", "_function", "_operation", "is_async")

    def __init__(
        self,
        parts: Parts,
        payload: dict[str, Any],
        token: CancellationToken,
        emit: Emit,
        exception: Callable[[dict[str, Any]], BaseException],
    ) -> None:
        self._emit = emit
        self._operation: str = payload.get("op", "transport")
        self._arguments: tuple[Any, ...] = ()
        if self._operation == "transport":
            self._function = parts.transport()
            self._arguments = (_request(payload, token),)
        else:
            self._function = parts.function(self._operation)
        if self._operation == "sleeper":
            self._arguments = (payload["seconds"],)
        elif self._operation == "on_retry":
            error = exception(payload["error"])
            self._arguments = (payload["attempt"], error, payload["delay"])
        self.is_async = is_async(self._function)

    def run(self) -> Any:
        """Runs it here; what is asynchronous after all gets an event loop of its own."""
        value = self._function(*self._arguments)
        if inspect.isawaitable(value) or hasattr(value, "__aiter__"):
            import asyncio

            return asyncio.run(self._finish(value))
        if self._operation != "transport":
            return answer_of(self._operation, value)
        if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
            raise self._unusable(value)
        try:
            for chunk in value:
                if not self._emit(_bytes(chunk)):
                    break
        finally:
            close = getattr(value, "close", None)
            if close is not None:
                close()
        return None

    def run_async(self) -> Any:
        """Runs it on the running loop; an awaitable."""
        return self._finish(self._function(*self._arguments))

    async def _finish(self, value: Any) -> Any:
        if inspect.isawaitable(value):
            value = await value
        if self._operation != "transport":
            return answer_of(self._operation, value)
        if not isinstance(value, AsyncIterable):
            if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
                raise self._unusable(value)
            value = _asynchronous(value)
        chunks = aiter(value)
        try:
            async for chunk in chunks:
                if not self._emit(_bytes(chunk)):
                    break
        finally:
            close = getattr(chunks, "aclose", None)
            if close is not None:
                await close()
        return None

    def _unusable(self, value: Any) -> ProtocolError:
        return ProtocolError(
            f"a transport must give the response in pieces, not {type(value).__name__}; yield bytes"
        )


async def _asynchronous(values: Iterable[Any]) -> Any:
    for value in values:
        yield value


def _bytes(chunk: Any) -> bytes:
    if isinstance(chunk, str):
        return chunk.encode()
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return bytes(chunk)
    raise ProtocolError(f"a transport must yield bytes, not {type(chunk).__name__}")


def _request(payload: dict[str, Any], token: CancellationToken) -> TransportRequest:
    return TransportRequest(
        payload["url"],
        payload["path"],
        payload["headers"],
        payload["body"].encode(),
        payload["deadline_at"],
        token,
    )
