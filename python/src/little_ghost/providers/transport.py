"""Requests of providers that an object of the application carries."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from .._native import CancellationToken

Chunks: TypeAlias = Iterable[bytes] | AsyncIterable[bytes]
"""A response, in pieces of any size."""


@dataclass(frozen=True, slots=True)
class TransportRequest:
    """A request that a transport sends by POST.

    Attributes:
        url: Where it goes.
        path: The part of the URL below the connection's `base_url`, with the query.
        headers: Names in lower case; credentials are among them.
        body: JSON.
        deadline_at: When the answer must be there, in Unix seconds, or None.
        cancellation_token: Cancelled when nobody waits for the answer any more.
    """

    url: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    deadline_at: float | None
    cancellation_token: CancellationToken = field(repr=False, compare=False)


class Transport(Protocol):
    """What carries the requests of a provider instead of the engine.

        class Gateway:
            def stream(self, request):
                with httpx.stream("POST", request.url, headers=request.headers, content=request.body) as answer:
                    if answer.status_code != 200:
                        raise HTTPError("refused", status=answer.status_code, body=answer.read().decode())
                    yield from answer.iter_bytes()

    A plain generator runs in a thread of its own; an asynchronous one runs on the event loop of the run, or on one of
    its own in a synchronous run. It is closed when nobody waits for the answer any more. A function of the request
    will do as well.
    """

    def stream(self, request: TransportRequest) -> Chunks | Awaitable[Chunks]:
        """Gives the body of a successful response as it comes.

        Raises:
            HTTPError: The response has another status, or there is none. The engine decides by the status whether
                another attempt can help. Any other exception ends the request at once.
        """
