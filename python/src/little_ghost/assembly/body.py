"""The body of a workflow at work."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ..errors import CancelledError, Error
from .place import Place, within

if TYPE_CHECKING:
    from ..driver import Driver
    from ..invocation import Invocation
    from .workflow import Workflow

Drive = Callable[["Future[Any]"], None]


class Body:
    """One call of `perform`: prepares invocations and waits for their outputs.

    Attributes:
        workflow: The instance of this call alone.
        place: Where its participants stand.
        scope: The part of the run that it answers.
        asked: The request, with history and context.
        is_async: `perform` is a coroutine function.
        drive: Goes on driving the run in this thread until a future is done; None where another thread or
            task drives it.
    """

    __slots__ = (
        "_driver",
        "_given_up",
        "_thread",
        "_waits",
        "asked",
        "drive",
        "place",
        "scope",
        "workflow",
    )

    def __init__(
        self,
        driver: Driver,
        workflow: Workflow,
        scope: int,
        asked: Invocation,
        place: Place | None = None,
    ) -> None:
        self._driver = driver
        self._given_up = False
        self._thread = 0
        self._waits: set[Future[Any]] = set()
        self.workflow = workflow
        self.place = within(workflow, place)
        self.scope = scope
        self.asked = asked
        self.drive: Drive | None = None

    @property
    def is_async(self) -> bool:
        """Whether `perform` is a coroutine function."""
        return inspect.iscoroutinefunction(self.workflow.perform)

    def run(self) -> int | None:
        """Runs a plain body; the ticket of its final invocation, None when it returned something else."""
        self._thread = threading.get_ident()
        answer: Any = self.workflow.perform()
        if inspect.iscoroutine(answer):
            answer.close()
            raise Error(
                f"perform of {type(self.workflow).__name__} returned a coroutine; write `async def perform`"
            )
        return self._ticket(answer)

    async def run_async(self) -> int | None:
        """Runs a coroutine body; as `run`."""
        return self._ticket(await self.workflow.perform())

    def _ticket(self, answer: Any) -> int | None:
        from .workflow_invocation import WorkflowInvocation

        return answer._ticket_for(self) if isinstance(answer, WorkflowInvocation) else None

    def invoke(self, call: dict[str, Any]) -> int:
        """Prepares a call; the engine's ticket for it."""
        self._check()
        return self._driver.native.invoke(self.scope, call)

    def settle(self, tickets: Sequence[int], max_concurrency: int) -> list[Any]:
        """Makes the calls, and waits for their outputs."""
        if self.is_async:
            raise Error(
                "this would block the event loop; write `await self.invoke(...)` or "
                "`await self.parallel_async(...)` in `async def perform`"
            )
        drive = self.drive
        if drive is not None and threading.get_ident() != self._thread:
            raise Error("only the thread of perform can read outputs; use parallel there")
        number, future = self._start(tickets, max_concurrency)
        try:
            if drive is not None:
                drive(future)
            return self._outputs(future.result())
        finally:
            self._end(number, future)

    async def settle_async(self, tickets: Sequence[int], max_concurrency: int) -> list[Any]:
        """`settle` in a coroutine body."""
        import asyncio

        if not self.is_async:
            raise Error(
                "this perform is no coroutine; write `self.invoke(...).output()`, or `async def perform`"
            )
        number, future = self._start(tickets, max_concurrency)
        try:
            return self._outputs(await asyncio.wrap_future(future))
        finally:
            self._end(number, future)

    def give_up(self) -> None:
        """Nobody wants the answer any more: whatever the body waits for is over."""
        self._given_up = True
        for future in tuple(self._waits):
            conclude(future, _cancelled())

    def _check(self) -> None:
        if self._given_up:
            raise _cancelled()

    def _start(self, tickets: Sequence[int], max_concurrency: int) -> tuple[int, Future[Any]]:
        self._check()
        number = self._driver.native.settle(self.scope, list(tickets), max_concurrency)
        future = self._driver.assemblies.settlement(self.scope, number)
        self._waits.add(future)
        if self._given_up:
            conclude(future, _cancelled())
        return number, future

    def _end(self, number: int, future: Future[Any]) -> None:
        self._waits.discard(future)
        self._driver.assemblies.forget(self.scope, number)

    def _outputs(self, payload: Mapping[str, Any]) -> list[Any]:
        error = payload.get("error")
        if error is not None:
            raise self._driver.exception(error)
        outputs, scopes = payload["outputs"], payload["scopes"]
        run = self._driver.run
        return [run._output_of(scope, value) for value, scope in zip(outputs, scopes, strict=True)]


def conclude(future: Future[Any], value: Any) -> None:
    """Ends a wait, unless it has ended."""
    from concurrent.futures import InvalidStateError

    try:
        if isinstance(value, BaseException):
            future.set_exception(value)
        else:
            future.set_result(value)
    except InvalidStateError:
        pass


def _cancelled() -> CancelledError:
    return CancelledError("the workflow was given up")
