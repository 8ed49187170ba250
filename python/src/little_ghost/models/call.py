"""One request of the engine to a model that is written in Python."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..content import Content
from ..errors import ProtocolError
from ..event import StreamEvent
from ..message import Message
from ..model_request import ModelRequest
from ..result import ModelResponse
from ..usage import Usage

if TYPE_CHECKING:
    from .._native import CancellationToken
    from .model import Model

Emit = Callable[[list[dict[str, Any]]], None]


class ModelCall:
    """Passes the events of one request on, and finds its response.

    Attributes:
        is_async: Its events come from an asynchronous generator.
    """

    __slots__ = ("_emit", "_model", "_request", "_response", "_token", "is_async")

    def __init__(
        self, model: Model, payload: dict[str, Any], token: CancellationToken, emit: Emit
    ) -> None:
        self._model = model
        self._token = token
        self._emit = emit
        self._request = ModelRequest.from_dict(payload["request"], token)
        self._response: ModelResponse | None = None
        function = model.stream
        self.is_async = inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(
            function
        )

    def run(self) -> dict[str, Any] | None:
        """Works off a plain generator; the response, or None when there was none."""
        stream: Any = self._model.stream(self._request)
        if hasattr(stream, "__aiter__") or inspect.isawaitable(stream):
            import asyncio

            return asyncio.run(self._collect(stream))
        try:
            self._pass_on(self._iterated(stream, Iterable))
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        return self._answer()

    def run_async(self) -> Any:
        """Works off an asynchronous generator; an awaitable of the response."""
        return self._collect(self._model.stream(self._request))

    def _pass_on(self, stream: Iterable[StreamEvent]) -> None:
        for event in stream:
            if self._token.cancelled:
                return
            self._take(event)

    async def _collect(self, stream: Any) -> dict[str, Any] | None:
        if inspect.isawaitable(stream):
            stream = await stream
        events: AsyncIterator[StreamEvent] = aiter(self._iterated(stream, AsyncIterable))
        try:
            async for event in events:
                if self._token.cancelled:
                    break
                self._take(event)
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()
        return self._answer()

    def _iterated(self, stream: Any, kind: type) -> Any:
        if not isinstance(stream, kind):
            wanted = "an asynchronous generator" if self.is_async else "a generator"
            raise ProtocolError(
                f"{type(self._model).__name__}.stream must be {wanted} of StreamEvent, "
                f"but it gave {type(stream).__name__}"
            )
        return stream

    def _take(self, event: Any) -> None:
        if not isinstance(event, StreamEvent):
            raise ProtocolError(
                f"{type(self._model).__name__}.stream must yield StreamEvent, "
                f"not {type(event).__name__}"
            )
        if not isinstance(event.data, Mapping):
            raise ProtocolError(
                f"{type(self._model).__name__}.stream: data of {event.type} must be a dict, "
                f"not {type(event.data).__name__}"
            )
        if event.type == "message_stop":
            self._response = event.data.get("response")
        else:
            data = {name: _plain(value) for name, value in event.data.items()}
            try:
                self._emit([{"type": event.type, "data": data}])
            except (TypeError, ValueError) as problem:
                raise ProtocolError(
                    f"{type(self._model).__name__}.stream: data of {event.type} is unusable: {problem}"
                ) from None

    def _answer(self) -> dict[str, Any] | None:
        response = self._response
        if response is None:
            return None
        name = type(self._model).__name__
        if not isinstance(response, ModelResponse):
            raise ProtocolError(
                f"message_stop of {name} must have a ModelResponse as response, "
                f"not {type(response).__name__}"
            )
        for field, kind in (("message", Message), ("usage", Usage), ("metadata", Mapping)):
            value = getattr(response, field)
            if not isinstance(value, kind):
                raise ProtocolError(
                    f"the ModelResponse of {name} must have a {kind.__name__} as {field}, "
                    f"not {type(value).__name__}"
                )
        return response.to_dict()


def _plain(value: Any) -> Any:
    return value.to_dict() if isinstance(value, (Content, Usage)) else value
