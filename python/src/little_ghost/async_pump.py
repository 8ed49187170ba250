"""Drives a run on an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ._native import CALL, CANCELLED, DONE, EVENT, PART_OVER
from .driver import ASIDE, NEVER_INLINE, Aside, Driver, interruption, is_cancellation
from .event import StreamEvent
from .nesting import Within
from .observation import observe
from .pump import start_thread
from .steps import take_steps
from .supervision import Supervised
from .waker import MisuseError, Waker

if TYPE_CHECKING:
    from .assembly.body import Body
    from .run import Run

_endings: set[asyncio.Task[None]] = set()
"""Runs whose closers still work after their consumer left; a loop alone would forget them."""


class AsyncPump:
    """Waits for the engine on the running loop, delivers events, and runs user code.

    Coroutine tools run on this loop: one that is alone in the consumer's own task, others as tasks. Plain
    tools run in threads, so that the loop goes on. Both see the caller's context variables.
    """

    __slots__ = ("_ending", "_left", "_tasks", "_waker", "driver", "started")

    def __init__(self, run: Run) -> None:
        self.driver = Driver(run, asynchronous=True)
        self.started = False
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ending: asyncio.Task[None] | None = None
        self._left: asyncio.Future[None] | None = None
        self._waker: Waker | None = None

    async def drive(self) -> None:
        """Runs to the end, dropping events."""
        await self.next_event(deliver=False)

    async def next_event(self, *, deliver: bool = True) -> StreamEvent | None:
        """The next event, or None after the last one. Cancelling the task cancels the run.

        Raises:
            CleanupError: A resource failed to close.
            Error: The run was started before.
        """
        driver = self.driver
        if driver.abandoned:
            return None
        if not self.started:
            # Before the start: without a running loop nothing may begin.
            made = Waker(driver.native, deliver=deliver)
            driver.start(deliver=deliver)
            self.started = True
            self._waker = made
        waker = self._waking
        items = waker.items
        try:
            while True:
                while items:
                    item = items.popleft()
                    if type(item) is StreamEvent:
                        return item
                    if item[0] == EVENT:
                        return driver.event(item[1], item[2])
                    await self._handle(item)
                if driver.finished:
                    driver.raise_failure()
                    return None
                await waker.wait()
        except MisuseError:
            # Of another reader than the one that drives the run.
            raise
        except GeneratorExit:
            # The coroutine is thrown away, with its loop perhaps: nothing can be awaited here.
            self.drop()
            raise
        except BaseException as error:
            self._leave()
            if not driver.finished:
                await self.abandon(error)
            raise
        finally:
            self._leave()

    def _leave(self) -> None:
        """Lets a task go on that closes the run while this one reads."""
        left = self._left
        if left is not None and not left.done():
            left.set_result(None)

    async def finish_dormant(self) -> None:
        """Drives the closers of a run that was never started."""
        self.started = True
        self._waker = Waker(self.driver.native, deliver=False)
        await self._finish()
        self.driver.raise_failure()

    async def abandon(self, error: BaseException | None = None) -> None:
        """The consumer is gone: only closers and the end still come.

        Args:
            error: What made it leave.
        """
        driver = self.driver
        if asyncio.get_running_loop() is not self._waking.loop:
            self.drop()
            return
        driver.native.interrupt(None if error is None else interruption(driver, error))
        driver.abandoned = True
        # Cancelled once more: the closers go on without us. What failed is in `run.error`.
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await asyncio.shield(self._end())

    def drop(self) -> None:
        """Cancels the run at once, from any thread; its closers run if the loop still does."""
        driver, waker = self.driver, self._waker
        if driver.finished or waker is None:
            return
        driver.native.interrupt(None)
        if driver.abandoned:
            waker.dispose()
            return
        driver.abandoned = True
        driver.give_up_bodies()
        # The task is made on the loop itself: a loop that never runs again gets no coroutine
        # that would complain about never having been awaited.
        try:
            waker.loop.call_soon_threadsafe(self._end)
        except RuntimeError:
            waker.dispose()

    def _end(self) -> asyncio.Task[None]:
        """The task that drives the run to its end; made once."""
        ending = self._ending
        if ending is None:
            ending = self._ending = asyncio.get_running_loop().create_task(self._finish())
            _endings.add(ending)
            ending.add_done_callback(_endings.discard)
        return ending

    async def _finish(self) -> None:
        driver, waker = self.driver, self._waking
        items = waker.items
        self._give_up_bodies()
        if waker.busy:
            self._left = waker.loop.create_future()
            await self._left
        try:
            while not driver.finished:
                while items and not driver.finished:
                    item = items.popleft()
                    if type(item) is not StreamEvent and item[0] != EVENT:
                        await self._handle(item)
                if not driver.finished:
                    await waker.wait()
        finally:
            waker.dispose()

    @property
    def _waking(self) -> Waker:
        if self._waker is None:
            raise RuntimeError("the run has not begun")
        return self._waker

    async def _handle(self, item: tuple[Any, ...]) -> None:
        driver = self.driver
        if item[0] == CALL:
            _, call, kind, payload = item
            # What closes may have processes of the application's sandboxes to end.
            if kind in ("close", "sandbox") or not driver.abandoned:
                await self._call(call, kind, payload)
        elif item[0] == CANCELLED:
            driver.withdraw(item[1])
            task = self._tasks.get(item[1])
            if task is not None:
                task.cancel()
        elif item[0] == PART_OVER:
            driver.part_over(item[1])
        elif item[0] == DONE:
            await self._leave_session()
            driver.finish()
            self._waking.dispose()
        else:
            observe(item)

    # -- bodies of workflows ----------------------------------------------------------------------

    def _start_body(self, call: int, payload: dict[str, Any]) -> None:
        """Has a workflow's body run beside the run, which goes on."""
        driver = self.driver
        try:
            body = driver.assemblies.begin(call, payload)
        except Exception as error:
            driver.fail(call, error)
            return
        if not body.is_async:
            start_thread(f"little-ghost {body.workflow.assembly_id}", self._work_body, call, body)
            return
        task = asyncio.get_running_loop().create_task(self._await_body(call, body))
        self._tasks[call] = task
        task.add_done_callback(lambda _: self._tasks.pop(call, None))

    async def _await_body(self, call: int, body: Body) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                ticket = await body.run_async()
        except BaseException as error:
            driver.fail_aside(call, error)
        else:
            driver.complete(call, ticket)
        finally:
            driver.assemblies.end(call)

    def _work_body(self, call: int, body: Body) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                ticket = body.run()
        except BaseException as error:
            driver.fail_aside(call, error)
        else:
            driver.complete(call, ticket)
        finally:
            driver.assemblies.end(call)

    def _give_up_bodies(self) -> None:
        driver = self.driver
        for call, task in tuple(self._tasks.items()):
            if driver.has_body(call):
                task.cancel()
        driver.give_up_bodies()

    async def _leave_session(self) -> None:
        left = take_steps(self.driver.sessions.close())
        if inspect.isawaitable(left):
            # The run is over; whoever waits for its end cannot do better than to know it.
            with contextlib.suppress(Exception):
                await left

    async def _call(self, call: int, kind: str, payload: dict[str, Any]) -> None:
        if kind == "tool" and not self.driver.inline and not self.driver.tool(payload).is_async:
            name = f"little-ghost {payload['name']}"
            thread = start_thread(name, self._perform_aside, call, payload)
            self.driver.keep_runner(payload, thread)
        elif kind in ASIDE:
            self._ask_aside(call, kind, payload)
        elif kind == "perform":
            self._start_body(call, payload)
        elif kind == "tool" and self.driver.overlaps(payload):
            task = asyncio.get_running_loop().create_task(self._perform(call, kind, payload))
            self._tasks[call] = task
            task.add_done_callback(lambda _: self._tasks.pop(call, None))
        elif kind == "close":
            # Not in the consumer's own task: what is half closed when that is cancelled would stay so.
            task = asyncio.get_running_loop().create_task(self._perform(call, kind, payload))
            self._tasks[call] = task
            task.add_done_callback(lambda _: self._tasks.pop(call, None))
            await self._await_inline(call, asyncio.shield(task))
        else:
            await self._perform(call, kind, payload)

    def _ask_aside(self, call: int, kind: str, payload: dict[str, Any]) -> None:
        """Has a model or a part of a provider answer that is the application's.

        Aside, so that what it brings is delivered meanwhile.
        """
        driver = self.driver
        complete = driver.complete if kind == "model" else driver.complete_part
        try:
            asked: Aside = driver.asked_aside(call, kind, payload)
        except Exception as error:
            driver.fail(call, error)
            return
        if asked.is_async:
            task = asyncio.get_running_loop().create_task(self._await_aside(call, asked, complete))
            self._tasks[call] = task
            task.add_done_callback(lambda _: self._tasks.pop(call, None))
        elif driver.inline and kind not in NEVER_INLINE:
            self._run_aside(call, asked, complete)
        else:
            thread = start_thread(f"little-ghost {kind}", self._run_aside, call, asked, complete)
            driver.keep_runner(payload, thread)

    async def _await_aside(
        self, call: int, asked: Aside, complete: Callable[[int, Any], None]
    ) -> None:
        try:
            answer = await asked.run_async()
        except BaseException as error:
            self.driver.fail_aside(call, error)
        else:
            complete(call, answer)

    def _run_aside(self, call: int, asked: Aside, complete: Callable[[int, Any], None]) -> None:
        try:
            answer = asked.run()
        except BaseException as error:
            self.driver.fail_aside(call, error)
        else:
            complete(call, answer)

    async def _perform(self, call: int, kind: str, payload: dict[str, Any]) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                value = driver.perform(call, kind, payload)
                if inspect.isawaitable(value):
                    value = await (
                        value if call in self._tasks else self._await_inline(call, value)
                    )
        except Exception as error:
            driver.fail(call, error)
        except BaseException as error:
            if call in self._tasks:
                driver.fail_aside(call, error)
            elif is_cancellation(error) and _is_cancelling() is False:
                # Of something that the coroutine waited for: this task goes on.
                driver.fail(call, error)
            else:
                # The consumer is cancelled, or it is an exit: no call stays unanswered.
                driver.native.interrupt(None)
                driver.fail(call, error)
                raise
        else:
            driver.complete(call, value)

    async def _await_inline(self, call: int, awaitable: Awaitable[Any]) -> Any:
        """Awaits in this task; nobody else looks at the queue meanwhile."""
        waker = self._waking
        supervised = Supervised(awaitable)

        def receive() -> None:
            if (CANCELLED, call) in waker.items:
                supervised.withdraw()

        waker.watch(receive)
        try:
            return await supervised
        except asyncio.CancelledError:
            if supervised.withdrawn and not _is_cancelling():
                return None
            raise
        finally:
            waker.watch(None)

    def _perform_aside(self, call: int, payload: dict[str, Any]) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                value = driver.perform(call, "tool", payload)
                if inspect.isawaitable(value):
                    # A plain function that returns a coroutine.
                    value = asyncio.run(_awaited(value))
        except BaseException as error:
            driver.fail_aside(call, error)
        else:
            driver.complete(call, value)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _is_cancelling() -> bool | None:
    """Whether the current task itself was cancelled; None under Python 3.10, which cannot tell."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return None if cancelling is None else bool(cancelling())
