"""Programs of one of the library's own engines, without an agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import ToolError
from ..jsonable import to_jsonable
from ..managed import Closable
from .dialogue import Dialogue
from .program_result import ProgramResult
from .program_sandboxes import ProgramSandboxes
from .session import Session

if TYPE_CHECKING:
    from ..context import RunContext
    from .broker import Broker
    from .sandbox_factory import SandboxFactory


class BuiltInSession(Closable, Session):
    """Runs programs of one of the library's own engines, one at a time; made by `BuiltInEngine.open_session`.

    One operation at a time. Whoever stops waiting for one leaves the program at work: the next operation sees it,
    and answers the calls that it made meanwhile. Every operation has a form for asyncio.
    """

    def __init__(
        self,
        engine: Mapping[str, Any],
        broker: Broker,
        sandboxes: SandboxFactory,
        limits: Mapping[str, Any],
    ) -> None:
        """See `BuiltInEngine.open_session`."""
        self._broker = broker
        self._sandboxes = ProgramSandboxes(sandboxes)
        catalog = [to_jsonable(tool) for tool in broker.catalog]
        declared = sandboxes.declaration()
        native = _native.ProgramSession(dict(engine), catalog, declared, dict(limits))
        self._dialogue = Dialogue(native, broker, self._sandboxes)
        self._lock = threading.Lock()

    def execute(
        self,
        source: str,
        *,
        catalog: Sequence[Mapping[str, Any]] | None = None,
        frame: Any = None,
        max_output_tokens: int | None = None,
        context: RunContext | None = None,
    ) -> ProgramResult:
        """Starts a fresh program, and watches it until it ends or for at most a minute.

        Args:
            source: The program.
            catalog: The tools that it may call; by default those of the broker.
            frame: Data for it, no place for secrets.
            max_output_tokens: Bounds the output of this look.
            context: Ends the wait, not the program.

        Raises:
            ToolError: A program is active, or a limit is reached.
            CancelledError, DeadlineExceededError: The context said so.
        """
        return self._operate(
            "execute", self._program(source, catalog, frame, max_output_tokens), context
        )

    async def execute_async(
        self,
        source: str,
        *,
        catalog: Sequence[Mapping[str, Any]] | None = None,
        frame: Any = None,
        max_output_tokens: int | None = None,
        context: RunContext | None = None,
    ) -> ProgramResult:
        """`execute` for asyncio."""
        program = self._program(source, catalog, frame, max_output_tokens)
        return await self._operate_async("execute", program, context)

    def wait(
        self, *, max_output_tokens: int | None = None, context: RunContext | None = None
    ) -> ProgramResult:
        """Watches the active program again; the result has the output since.

        Raises:
            ToolError: No program is active.
            CancelledError, DeadlineExceededError: The context said so.
        """
        return self._operate("wait", {"max_output_tokens": max_output_tokens}, context)

    async def wait_async(
        self, *, max_output_tokens: int | None = None, context: RunContext | None = None
    ) -> ProgramResult:
        """`wait` for asyncio."""
        return await self._operate_async("wait", {"max_output_tokens": max_output_tokens}, context)

    def stop(
        self, *, max_output_tokens: int | None = None, context: RunContext | None = None
    ) -> ProgramResult:
        """Ends the active program; the result is `"terminated"`.

        Raises:
            ToolError: No program is active.
            CleanupError: A process may still be there.
        """
        return self._operate("stop", {"max_output_tokens": max_output_tokens}, context)

    async def stop_async(
        self, *, max_output_tokens: int | None = None, context: RunContext | None = None
    ) -> ProgramResult:
        """`stop` for asyncio."""
        return await self._operate_async("stop", {"max_output_tokens": max_output_tokens}, context)

    def close(self) -> None:
        """Ends the active program, if there is one, and releases everything. Doing it again is fine.

        Raises:
            CleanupError: A process may still be there.
        """
        with self._alone():
            try:
                self._dialogue.answer("close", {}, None)
            finally:
                self._sandboxes.close()

    async def close_async(self) -> None:
        """`close` for asyncio."""
        with self._alone():
            try:
                await self._dialogue.answer_async("close", {}, None)
            finally:
                await self._sandboxes.close_async()

    def _program(
        self,
        source: str,
        catalog: Sequence[Mapping[str, Any]] | None,
        frame: Any,
        tokens: int | None,
    ) -> dict[str, Any]:
        tools = self._broker.catalog if catalog is None else catalog
        return {
            "source": source,
            "catalog": [to_jsonable(tool) for tool in tools],
            "frame": to_jsonable(frame),
            "max_output_tokens": tokens,
        }

    def _operate(
        self, operation: str, given: dict[str, Any], context: RunContext | None
    ) -> ProgramResult:
        with self._alone():
            return ProgramResult.from_dict(self._dialogue.answer(operation, given, context))

    async def _operate_async(
        self, operation: str, given: dict[str, Any], context: RunContext | None
    ) -> ProgramResult:
        with self._alone():
            answered = await self._dialogue.answer_async(operation, given, context)
            return ProgramResult.from_dict(answered)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._lock.acquire(blocking=False):
            raise ToolError(
                "Another exec, wait or stop is still going on; make one of these calls at a time."
            )
        try:
            yield
        finally:
            self._lock.release()
