"""Programs that the engine runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ToolError
from ..job import answer, answer_async
from .execution import Execution, execution_from
from .process_session import ProcessSession
from .programs import Programs, described

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._native import Job
    from .._native import Sandbox as NativeSandbox
    from ..context import RunContext
    from .programs import ProgramOptions


class EnginePrograms(Programs):
    """Runs programs in one of the engine's sandboxes, or in a scope of one."""

    def __init__(self, native: NativeSandbox) -> None:
        self._native = native

    def start_program(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """Starts a program; the caller closes it, best by `with`. See `Programs.start_program`."""
        return self._session(answer(self._start(command, options), context))

    async def start_program_async(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """`start_program` for asyncio."""
        return self._session(await answer_async(self._start(command, options), context))

    def execute_program(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """Runs a program to its end. See `Programs.execute_program`."""
        job = self._execute(command, timeout, max_output_bytes, options)
        return execution_from(answer(job, context))

    async def execute_program_async(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """`execute_program` for asyncio."""
        job = self._execute(command, timeout, max_output_bytes, options)
        return execution_from(await answer_async(job, context))

    def _start(self, command: Sequence[str], options: Mapping[str, Any]) -> Job:
        return self._native.perform({"op": "start", **described(command, options)})

    def _session(self, started: dict[str, Any]) -> ProcessSession:
        native = self._native.process(started["process"])
        if native is None:
            raise ToolError("The process is gone.")
        return ProcessSession(native)

    def _execute(
        self,
        command: Sequence[str],
        timeout: float,
        max_output_bytes: int | None,
        options: Mapping[str, Any],
    ) -> Job:
        bounds = {"timeout": timeout, "max_output_bytes": max_output_bytes}
        return self._native.perform({"op": "execute", **described(command, options), **bounds})
