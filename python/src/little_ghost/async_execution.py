"""A run in the background of an event loop."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from .async_pump import AsyncPump
from .errors import AgentInterjectionError, DeadlineExceededError
from .invocation_reader import read_deadline
from .steps import take_steps

if TYPE_CHECKING:
    import datetime
    from types import TracebackType

    from typing_extensions import Unpack

    from .event import StreamEvent
    from .interjection import InterjectionAnswer, InterjectionOptions
    from .invocation import MessageLike
    from .run import Run


class AsyncExecution:
    """Runs as a task of the running loop while the caller does other things.

        async with agent.start_execution_async("Investigate transfer 481") as execution:
            ...
            run = await execution.wait(timeout=30)

    The task gets a copy of the caller's context variables.
    """

    __slots__ = ("_closing", "_error", "_interjecting", "_run", "_started", "_task")

    def __init__(self, run: Run, on_event: Callable[[StreamEvent], object] | None = None) -> None:
        """Starts at once; made by `Agent.start_execution_async`."""
        self._run = run
        self._error: BaseException | None = None
        self._started = False
        self._closing = False
        self._interjecting: set[asyncio.Future[Any]] = set()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            run.close()
            raise
        self._task = loop.create_task(self._work(AsyncPump(run), on_event))

    async def _work(
        self, pump: AsyncPump, on_event: Callable[[StreamEvent], object] | None
    ) -> None:
        self._started = True
        try:
            if on_event is None:
                await pump.drive()
            else:
                await _deliver(pump, on_event)
        except asyncio.CancelledError:
            # The loop ends, or somebody took the task: it counts as a cancelled run.
            raise
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                raise

    @property
    def run(self) -> Run:
        """The run."""
        return self._run

    @property
    def state(self) -> Literal["pending", "running", "finished"]:
        """How far it is."""
        if self.finished:
            return "finished"
        return "running" if self._started else "pending"

    @property
    def active(self) -> bool:
        """Whether it, or an interjection, is not finished."""
        return not self.finished

    @property
    def finished(self) -> bool:
        """Whether it is finished, with all interjections."""
        return self._task.done() and not self._interjecting

    @property
    def error(self) -> BaseException | None:
        """What the event callback or a clean-up raised; a failed run is not meant."""
        return self._error

    def cancel(self) -> AsyncExecution:
        """Asks the run to stop.

        Returns:
            The execution itself.
        """
        self._run.cancel()
        return self

    async def interject(
        self,
        message: MessageLike | Mapping[str, Any],
        **options: Unpack[InterjectionOptions],
    ) -> InterjectionAnswer:
        """Says something to the running agent, and waits for what it answers right away.

        Args:
            message: What to say, or a dict with `message` and options. Hooks see all of it, and may
                change it.
            **options: See `InterjectionOptions`.

        Returns:
            The agent's immediate answer; its work may go on after it.

        Raises:
            AgentInterjectionError: No agent is there to listen, or the execution is being closed.
            CancelledError, DeadlineExceededError: Nobody waits for the answer any more.
        """
        from .interjection import interjection_payload, prepare_interjection

        if self._closing:
            raise AgentInterjectionError("the execution is being closed")
        under_way: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._interjecting.add(under_way)
        try:
            payload = interjection_payload(message, options)
            prepared = take_steps(prepare_interjection(self._run, payload))
            if inspect.isawaitable(prepared):
                prepared = await prepared
            return await self._run.interject_async(**prepared)
        finally:
            self._interjecting.discard(under_way)
            if not under_way.done():
                under_way.set_result(None)

    async def wait(
        self,
        timeout: float | None = None,
        *,
        deadline_at: datetime.datetime | float | None = None,
    ) -> Run:
        """Waits for the end, and for interjections that are under way.

        Args:
            timeout: Seconds to wait at most; the run goes on after them.
            deadline_at: The same as a moment: a `datetime` or Unix seconds.

        Returns:
            The run.

        Raises:
            DeadlineExceededError: The time is up.
            BaseException: `error`, if there is one.
        """
        until = read_deadline(deadline_at, timeout)
        while self.active:
            left = None if until is None else max(0.0, until - time.time())
            _, pending = await asyncio.wait({self._task, *self._interjecting}, timeout=left)
            if pending and until is not None and time.time() >= until:
                raise DeadlineExceededError("the execution did not finish in time; it goes on")
        if self._error is not None:
            raise self._error
        return self._run

    async def close(
        self,
        timeout: float | None = None,
        *,
        deadline_at: datetime.datetime | float | None = None,
    ) -> None:
        """Cancels the run and waits until its resources are closed. Doing it again is fine.

        Args:
            timeout: Seconds to wait at most.
            deadline_at: The same as a moment.

        Raises:
            DeadlineExceededError: The time is up.
            BaseException: `error`, if there is one.
        """
        self._closing = True
        self.cancel()
        await self.wait(timeout, deadline_at=deadline_at)

    async def __aenter__(self) -> AsyncExecution:
        """The execution itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the execution."""
        await self.close()


async def _deliver(pump: AsyncPump, on_event: Callable[[StreamEvent], object]) -> None:
    try:
        while True:
            event = await pump.next_event()
            if event is None:
                return
            value = on_event(event)
            if inspect.isawaitable(value):
                await value
    except BaseException as error:
        if pump.started and not pump.driver.finished:
            # Into the pump, so that the run counts as failed by it.
            await pump.abandon(error)
        raise
