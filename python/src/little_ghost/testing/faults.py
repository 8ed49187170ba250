"""Requests that go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from .. import _native
from .expectation import expect


class Fault(TypedDict, total=False):
    """What becomes of one request. Exactly one of the first five says what.

    Attributes:
        status: An answer with that HTTP status; nothing is sent.
        drop_after: The connection breaks after so many bytes of the answer's body.
        stall_after: Nothing comes any more after so many bytes.
        truncate_after: The answer ends after so many bytes as if it were complete.
        garbage_after: Bytes that are no event come after so many bytes.
        headers: Headers of an answer with a `status`.
        body: Its body: a str, or a value that is sent as JSON.
        delay: Seconds before anything happens.
        on: The number of the request, from 1, by default the one after the last fault's; `"always"` is for all
            requests that have no fault of their own. Retries count as requests.
    """

    status: int
    drop_after: int
    stall_after: int
    truncate_after: int
    garbage_after: int
    headers: Mapping[str, str | int]
    body: Any
    delay: float
    on: int | Literal["always"]


class Faults:
    """Requests that go wrong; see `faults`.

    with testing.faults({"status": 503, "headers": {"retry-after": 0}}, {"drop_after": 120}):
        SupportAgent.ask("Hello")  # the third request succeeds
    """

    __slots__ = ("_native",)

    def __init__(self, *faults: Fault) -> None:
        """Checks the plan.

        Args:
            *faults: What goes wrong with which request.

        Raises:
            ValueError: Something cannot be a fault.
        """
        self._native = _native.Faults(
            [dict(fault) if isinstance(fault, Mapping) else fault for fault in faults]
        )

    @property
    def requests(self) -> int:
        """How many requests were sent so far, retries included."""
        return self._native.requests

    def verify(self) -> None:
        """Checks that every planned fault happened.

        Raises:
            UnmetExpectation: A fault's request was never sent.
        """
        expect(self._native.verify)

    def _over(self, runtime: _native.Runtime) -> _native.Runtime:
        return runtime.with_faults(self._native)
