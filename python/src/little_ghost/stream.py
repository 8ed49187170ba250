"""Streams of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from inspect import GEN_RUNNING, getgeneratorstate
from typing import TYPE_CHECKING, Final

from .errors import Error
from .managed import Closing
from .pump import Pump

if TYPE_CHECKING:
    from types import TracebackType

    from .async_pump import AsyncPump
    from .event import StreamEvent
    from .run import Run

_READ: Final = "only one thread at a time can read a run"


class RunStream(Closing, Iterator["StreamEvent"]):
    """The events of one run, as they happen.

        with agent.stream("Where is order 481?") as stream:
            for event in stream:
                if event.type == "text_delta":
                    print(event.data["text"], end="")
        print(stream.run.outcome)

    The run begins with the first event that is asked for. Leaving a `for` loop early, by `break` or
    by an exception, cancels the run and closes its connection and resources at once; so does closing or dropping the
    stream. To stop and go on later, use `next(stream)`.
    """

    __slots__ = ("_events", "_run")

    def __init__(self, run: Run) -> None:
        """Made by `Agent.stream`."""
        self._run = run
        self._events = Pump(run).events()

    @property
    def run(self) -> Run:
        """The run; complete once the stream is at its end."""
        return self._run

    def __iter__(self) -> Iterator[StreamEvent]:
        """Events to the end. Leaving the loop cancels the run."""
        # A `for` loop drops this generator when it is left, however it is left.
        # What another thread reads is not this loop's to close.
        if self._is_read:
            raise Error(_READ)
        try:
            yield from self._events
        finally:
            if not self._is_read:
                self._events.close()

    def __next__(self) -> StreamEvent:
        """The next event.

        Raises:
            StopIteration: The run is over.
            Error: Another thread is reading it.
        """
        try:
            return next(self._events)
        except ValueError:
            if self._is_read:
                raise Error(_READ) from None
            raise

    @property
    def _is_read(self) -> bool:
        return getgeneratorstate(self._events) == GEN_RUNNING

    def close(self) -> None:
        """Cancels the run unless it is over, and closes its resources.

        Where another thread reads the stream, or a tool of the run calls this, the reader does the rest.

        Raises:
            CleanupError: A resource of a run that never began failed to close.
        """
        try:
            self._events.close()
        except ValueError:  # "generator already executing"
            self._run.cancel()
            return
        self._run.close()


class AsyncRunStream(AsyncIterator["StreamEvent"]):
    """The events of one run, as they happen, under asyncio.

        async with agent.stream_async("Where is order 481?") as stream:
            async for event in stream:
                if event.type == "text_delta":
                    print(event.data["text"], end="")
        print(stream.run.outcome)

    The run begins with the first event that is asked for and belongs to the loop that asks.
    Leaving an `async for` loop early cancels the run at once; `async with` also waits until its resources are
    closed. To stop and go on later, use `anext(stream)`.
    """

    __slots__ = ("_pump", "_run")

    def __init__(self, run: Run) -> None:
        """Made by `Agent.stream_async`."""
        from .async_pump import AsyncPump

        self._run = run
        self._pump: AsyncPump = AsyncPump(run)

    @property
    def run(self) -> Run:
        """The run; complete once the stream is at its end."""
        return self._run

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        """Events to the end. Leaving the loop cancels the run."""
        return _Iteration(self)

    async def __anext__(self) -> StreamEvent:
        """The next event.

        Raises:
            StopAsyncIteration: The run is over.
        """
        event = await self._pump.next_event()
        if event is None:
            raise StopAsyncIteration
        return event

    async def aclose(self) -> None:
        """Cancels the run unless it is over, and waits until its resources are closed."""
        pump = self._pump
        if pump.driver.finished:
            return
        if pump.started:
            await pump.abandon()
        elif self._run._native.close():
            await pump.finish_dormant()

    def __del__(self) -> None:
        """A stream that is dropped cancels its run."""
        pump = getattr(self, "_pump", None)
        if pump is not None:
            pump.drop()

    async def __aenter__(self) -> AsyncRunStream:
        """The stream itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes the stream."""
        await self.aclose()


class _Iteration(AsyncIterator["StreamEvent"]):
    """One `async for` loop. The loop drops it when it is left, however it is left."""

    __slots__ = ("_pump", "_stream")

    def __init__(self, stream: AsyncRunStream) -> None:
        self._stream = stream
        self._pump = stream._pump

    async def __anext__(self) -> StreamEvent:
        event = await self._pump.next_event()
        if event is None:
            raise StopAsyncIteration
        return event

    def __del__(self) -> None:
        self._pump.drop()
