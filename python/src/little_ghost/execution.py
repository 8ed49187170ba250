"""A run in the background."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .errors import AgentInterjectionError, DeadlineExceededError
from .invocation_reader import read_deadline
from .managed import Closing
from .pump import Pump, start_thread
from .steps import take_steps

if TYPE_CHECKING:
    import datetime

    from typing_extensions import Unpack

    from .event import StreamEvent
    from .interjection import InterjectionAnswer, InterjectionOptions
    from .invocation import MessageLike
    from .run import Run

T = TypeVar("T")


class Execution(Closing):
    """Runs in a thread of its own while the caller does other things.

        with agent.start_execution("Investigate transfer 481") as execution:
            ...
            run = execution.wait(timeout=30)

    The thread gets a copy of the caller's context variables. Under asyncio, `start_execution_async`
    makes an `AsyncExecution` instead.
    """

    __slots__ = (
        "_closing",
        "_condition",
        "_error",
        "_finished",
        "_interjecting",
        "_run",
        "_started",
    )

    def __init__(self, run: Run, on_event: Callable[[StreamEvent], object] | None = None) -> None:
        """Starts at once; made by `Agent.start_execution`."""
        self._run = run
        self._error: BaseException | None = None
        self._started = threading.Event()
        self._finished = threading.Event()
        self._condition = threading.Condition()
        self._interjecting = 0
        self._closing = False
        start_thread("little-ghost execution", self._work, Pump(run), on_event)

    def _work(self, pump: Pump, on_event: Callable[[StreamEvent], object] | None) -> None:
        self._started.set()
        try:
            if on_event is None:
                pump.drive()
            else:
                self._deliver(pump, on_event)
        except BaseException as error:
            self._error = error
        finally:
            self._finished.set()

    def _deliver(self, pump: Pump, on_event: Callable[[StreamEvent], object]) -> None:
        events = pump.events()
        try:
            for event in events:
                on_event(event)
        except BaseException as error:
            if not pump.driver.finished:
                # Into the pump, so that the run counts as failed by it.
                events.throw(error)
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
        return "running" if self._started.is_set() else "pending"

    @property
    def active(self) -> bool:
        """Whether it, or an interjection, is not finished."""
        return not self.finished

    @property
    def finished(self) -> bool:
        """Whether it is finished, with all interjections."""
        return self._finished.is_set() and not self._interjecting

    @property
    def error(self) -> BaseException | None:
        """What the event callback or a clean-up raised; a failed run is not meant."""
        return self._error

    def cancel(self) -> Execution:
        """Asks the run to stop.

        Returns:
            The execution itself.
        """
        self._run.cancel()
        return self

    def interject(
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

        with self._condition:
            if self._closing:
                raise AgentInterjectionError("the execution is being closed")
            self._interjecting += 1
        try:
            payload = interjection_payload(message, options)
            prepared = take_steps(prepare_interjection(self._run, payload))
            if inspect.isawaitable(prepared):
                import asyncio

                prepared = asyncio.run(_waited(prepared))
            return self._run.interject(**prepared)
        finally:
            with self._condition:
                self._interjecting -= 1
                self._condition.notify_all()

    def wait(
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
        ended = self._finished.wait(_left(until))
        with self._condition:
            ended = ended and self._condition.wait_for(lambda: not self._interjecting, _left(until))
        if not ended:
            raise DeadlineExceededError("the execution did not finish in time; it goes on")
        if self._error is not None:
            raise self._error
        return self._run

    def close(
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
        self.wait(timeout, deadline_at=deadline_at)


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.time())


async def _waited(value: Awaitable[T]) -> T:
    return await value
