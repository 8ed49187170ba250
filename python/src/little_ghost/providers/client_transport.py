"""Converse requests that a client of AWS's SDK carries."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import ProtocolError

if TYPE_CHECKING:
    from .transport import TransportRequest

# Their content belongs to the application.
_FOREIGN = frozenset(
    {"input", "json", "additionalModelRequestFields", "requestMetadata", "promptVariables"}
)
_BYTES = frozenset({"bytes", "redactedContent"})


class ClientTransport:
    """Asks a boto3 client, or anything else with its `converse_stream`."""

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    def stream(self, request: TransportRequest) -> Any:
        """The events of the response, as the engine reads them."""
        model = unquote(request.path.split("/")[1])
        asked = _asked(json.loads(request.body))
        response = self._client.converse_stream(modelId=model, **asked)
        if inspect.isawaitable(response):
            return self._awaited(response)
        return self._frames(response)

    async def _awaited(self, response: Awaitable[Any]) -> Any:
        return self._frames(await response)

    def _frames(self, response: Any) -> Any:
        stream = response.get("stream") if isinstance(response, Mapping) else response
        if isinstance(stream, AsyncIterable):
            return _frames_async(stream)
        if isinstance(stream, Iterable):
            return _frames(stream)
        raise ProtocolError(
            f"converse_stream of {type(self._client).__name__} must give a dict with the events as stream"
        )


def _frames(events: Iterable[Any]) -> Iterator[bytes]:
    try:
        for event in events:
            yield _frame(event)
    except Exception as error:
        yield _exception(error)
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()


async def _frames_async(events: AsyncIterable[Any]) -> AsyncIterator[bytes]:
    try:
        async for event in events:
            yield _frame(event)
    except Exception as error:
        yield _exception(error)


def _frame(event: Any) -> bytes:
    if not isinstance(event, Mapping) or not event:
        raise ProtocolError("an event of converse_stream must be a dict with its type as key")
    name, fields = next(iter(event.items()))
    data = json.dumps(fields, default=_encoded)
    return f"event: {name}\ndata: {data}\n\n".encode()


def _exception(error: Exception) -> bytes:
    """The event that the SDK made this exception of, which the engine judges as it does without an SDK.

    Raises:
        Exception: It is none of those.
    """
    response = getattr(error, "response", None)
    told = response.get("Error") if isinstance(response, Mapping) else None
    code = told.get("Code") if isinstance(told, Mapping) else None
    if not isinstance(told, Mapping) or not isinstance(code, str) or not code.isalpha():
        raise error
    return _frame({code: {"message": told.get("Message")}})


def _encoded(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def _asked(value: Any) -> Any:
    if isinstance(value, list):
        return [_asked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _field(key, item) for key, item in value.items()}


def _field(key: str, value: Any) -> Any:
    if key in _BYTES and isinstance(value, str):
        return base64.b64decode(value)
    return value if key in _FOREIGN else _asked(value)
