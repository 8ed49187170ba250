"""What programs call tools through."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..job import answer, answer_async
from ..jsonable import to_jsonable

if TYPE_CHECKING:
    from .._native import Job
    from .._native import Run as NativeRun
    from ..context import RunContext


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call.

    Attributes:
        id: The call's.
        value: What the tool returned, as plain data.
        error: What a program may know of a failure, or None.
    """

    id: str
    value: Any = None
    error: str | None = None


class Broker:
    """Makes the tool calls of programs. It stays in this process.

    A call goes the way of a direct one: the input is checked, callbacks, limits, events and traces are the
    same. Calls may overlap, from any thread.

    Attributes:
        catalog: `name`, `description` and `input_schema` of the tools that programs may call.
    """

    __slots__ = ("_number", "_run", "catalog")

    def __init__(self, run: NativeRun, number: int, catalog: Sequence[Mapping[str, Any]]) -> None:
        """Made for `Engine.open_session`."""
        self._run = run
        self._number = number
        self.catalog = catalog

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        context: RunContext | None = None,
    ) -> CallResult:
        """Calls a tool, and waits in the calling thread.

        Args:
            name: Its name, with or without a leading `tools.`.
            arguments: Its input; what a program says is not trusted.
            id: Identifies the call in events; a new one by default.
            context: Ends the wait.

        Raises:
            CancelledError, DeadlineExceededError, CleanupError: What ends the run. Every other failure is in the
                result.
        """
        return CallResult(**answer(self._job(name, arguments, id), context))

    async def call_async(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        context: RunContext | None = None,
    ) -> CallResult:
        """`call` for asyncio."""
        return CallResult(**await answer_async(self._job(name, arguments, id), context))

    def _job(self, name: str, arguments: Any, id: str | None) -> Job:
        given = {} if arguments is None else to_jsonable(arguments)
        return self._run.call_tool_of_program(self._number, name, given, id or str(uuid.uuid4()))
