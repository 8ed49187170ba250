"""The broker of an agent at work."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..job import answer, answer_async
from ..jsonable import to_jsonable
from .broker import Broker, CallResult

if TYPE_CHECKING:
    from .._native import Job
    from .._native import Run as NativeRun
    from ..context import RunContext


class RunBroker(Broker):
    """Has the engine make the calls, as those of the agent's model."""

    def __init__(self, run: NativeRun, number: int, catalog: Sequence[Mapping[str, Any]]) -> None:
        """Takes the engine's number of the broker."""
        self._run = run
        self._number = number
        self.catalog = catalog

    def _called(
        self, name: str, arguments: Any, id: str | None, context: RunContext | None
    ) -> CallResult:
        return CallResult(**answer(self._job(name, arguments, id), context))

    async def _called_async(
        self, name: str, arguments: Any, id: str | None, context: RunContext | None
    ) -> CallResult:
        return CallResult(**await answer_async(self._job(name, arguments, id), context))

    def _job(self, name: str, arguments: Any, id: str | None) -> Job:
        given = {} if arguments is None else to_jsonable(arguments)
        return self._run.call_tool_of_program(self._number, name, given, id or str(uuid.uuid4()))
