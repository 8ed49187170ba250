"""A run in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from .errors import DeadlineExceededError
from .pump import Pump, start_thread

if TYPE_CHECKING:
    from types import TracebackType

    from .event import StreamEvent
    from .run import Run


class Execution:
    """Runs in a thread of its own while the caller does other things.

        with agent.start_execution("Investigate transfer 481") as execution:
            ...
            run = execution.wait(timeout=30)

    The thread gets a copy of the caller's context variables.
    """

    __slots__ = ("_error", "_finished", "_run", "_started")

    def __init__(self, run: Run, on_event: Callable[[StreamEvent], object] | None = None) -> None:
        """Starts at once; made by `Agent.start_execution`."""
        self._run = run
        self._error: BaseException | None = None
        self._started = threading.Event()
        self._finished = threading.Event()
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
        if self._finished.is_set():
            return "finished"
        return "running" if self._started.is_set() else "pending"

    @property
    def active(self) -> bool:
        """Whether it is not finished."""
        return not self._finished.is_set()

    @property
    def finished(self) -> bool:
        """Whether it is finished."""
        return self._finished.is_set()

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

    def wait(self, timeout: float | None = None) -> Run:
        """Waits for the end.

        Args:
            timeout: Seconds to wait at most; the run goes on after them.

        Returns:
            The run.

        Raises:
            DeadlineExceededError: The time is up.
            BaseException: `error`, if there is one.
        """
        if not self._finished.wait(timeout):
            raise DeadlineExceededError(f"the execution did not finish within {timeout} seconds")
        if self._error is not None:
            raise self._error
        return self._run

    def close(self, timeout: float | None = None) -> None:
        """Cancels the run and waits until its resources are closed. Doing it again is fine.

        Raises:
            DeadlineExceededError: The time is up.
            BaseException: `error`, if there is one.
        """
        self.cancel()
        self.wait(timeout)

    def __enter__(self) -> Execution:
        """The execution itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the execution."""
        self.close()
