"""Drives a run in the calling thread."""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import select
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any

from ._native import CALL, CANCELLED, DONE, EVENT, PART_OVER
from .driver import ASIDE, NEVER_INLINE, Aside, Driver, interruption, is_cancellation
from .errors import Error
from .event import StreamEvent
from .nesting import Within
from .observation import observe
from .steps import take_steps

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    from .assembly.body import Body
    from .run import Run


class Pump:
    """Waits for the engine without the GIL, delivers events, and runs user code.

    A tool call that is alone, prompts and closers run right here; calls that overlap run in
    threads. A signal handler, such as Ctrl-C's, runs while it waits.
    """

    __slots__ = ("_coroutines", "_delivers", "_held", "_items", "_wait", "driver")

    def __init__(self, run: Run) -> None:
        self.driver = Driver(run)
        self._items: deque[Any] = deque()
        self._wait = waiter(run._native.fd)
        self._coroutines: dict[int, Callable[[], None]] = {}
        # Events that came while the body of a workflow drove the run.
        self._held: deque[Any] = deque()
        self._delivers = False

    def drive(self) -> None:
        """Runs to the end, dropping events."""
        for _ in self.events(deliver=False):
            pass

    def events(self, *, deliver: bool = True) -> Generator[StreamEvent, None, None]:
        """Runs to the end, delivering events. Closing the generator early cancels the run.

        Args:
            deliver: Whether anybody wants the events.

        Raises:
            CleanupError: A resource failed to close.
            Error: The run was started before, or belongs to the parent of this process.
        """
        driver, items = self.driver, self._items
        native = driver.native
        try:
            self._start(deliver)
            while not driver.finished:
                # Before waiting: in a forked child this raises, while the descriptor stays silent.
                native.drain(items, deliver)
                if not items:
                    self._wait(None)
                while items:
                    item = items[0]
                    if type(item) is StreamEvent:
                        items.popleft()
                        yield item
                    elif item[0] == EVENT:
                        items.popleft()
                        yield driver.event(item[1], item[2])
                    else:
                        # Left in place meanwhile: a signal handler may raise at any point, and
                        # no closer and no end may be forgotten then. Handling one twice is harmless.
                        self._handle(item)
                        items.popleft()
                        while self._held:
                            yield self._event(self._held.popleft())
            driver.raise_failure()
        except BaseException as error:
            if not driver.finished:
                self._abandon(error)
            raise

    def _event(self, item: Any) -> StreamEvent:
        return item if type(item) is StreamEvent else self.driver.event(item[1], item[2])

    def _start(self, deliver: bool) -> None:
        self._delivers = deliver
        try:
            self.driver.start(deliver=deliver)
        except Error:
            # It was started or closed before: this pump has nothing to end.
            self.driver.finished = True
            raise

    def finish_dormant(self) -> None:
        """Drives the closers of a run that was never started."""
        while not self.driver.finished:
            self._step()
        self.driver.raise_failure()

    def _abandon(self, error: BaseException) -> None:
        """The consumer is gone: only closers and the end still come."""
        driver = self.driver
        driver.native.interrupt(interruption(driver, error))
        driver.abandoned = True
        self._give_up_bodies()
        # A forked child cannot drive its parent's run. A clean-up failure is in `run.error`.
        with contextlib.suppress(Error):
            while not driver.finished:
                self._step()

    def _step(self) -> None:
        items = self._items
        self.driver.native.drain(items, False)
        if not items:
            self._wait(None)
        while items:
            item = items[0]
            if type(item) is not StreamEvent and item[0] != EVENT:
                self._handle(item)
            items.popleft()

    def _handle(self, item: tuple[Any, ...]) -> None:
        driver = self.driver
        if item[0] == CALL:
            _, call, kind, payload = item
            if (
                kind == "tool"
                and driver.overlaps(payload)
                and not driver.inline
                and not driver.abandoned
            ):
                name = f"little-ghost {payload['name']}"
                driver.keep_runner(payload, start_thread(name, self._perform_aside, item))
            elif kind in ASIDE and (kind == "sandbox" or not driver.abandoned):
                # What closes may have processes of the application's sandboxes to end.
                self._ask_aside(call, kind, payload)
            elif kind == "perform":
                self._start_body(item)
            elif kind == "close" or not driver.abandoned:
                self._perform(call, kind, payload)
        elif item[0] == CANCELLED:
            driver.withdraw(item[1])
            cancel = self._coroutines.pop(item[1], None)
            if cancel is not None:
                cancel()
        elif item[0] == PART_OVER:
            driver.part_over(item[1])
        elif item[0] == DONE:
            self._leave_session()
            driver.finish()
        else:
            observe(item)

    # -- bodies of workflows ----------------------------------------------------------------------

    def _start_body(self, item: tuple[Any, ...]) -> None:
        """Has the body of a workflow run: here, if nobody else needs this thread meanwhile."""
        _, call, _, payload = item
        driver = self.driver
        if driver.abandoned:
            return
        try:
            body = driver.assemblies.begin(call, payload)
        except Exception as error:
            driver.fail(call, error)
            return
        # The workflow that was asked, while nobody follows events: this thread has nothing else to do.
        alone = not self._delivers and body.scope == 0
        if body.is_async or not (alone or driver.inline):
            start_thread(f"little-ghost {body.workflow.assembly_id}", self._work_body, call, body)
            return
        body.drive = self._drive_until
        # Out of the way: the body itself handles what comes next.
        self._items.popleft()
        try:
            with Within(driver.run):
                ticket = body.run()
        except Exception as error:
            driver.fail(call, error)
        except BaseException as error:
            driver.native.interrupt(None)
            driver.fail(call, error)
            raise
        else:
            driver.complete(call, ticket)
        finally:
            self._items.appendleft(item)
            driver.assemblies.end(call)

    def _work_body(self, call: int, body: Body) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                ticket = (
                    self._run_coroutine(call, body.run_async()) if body.is_async else body.run()
                )
        except BaseException as error:
            driver.fail_aside(call, error)
        else:
            driver.complete(call, ticket)
        finally:
            driver.assemblies.end(call)

    def _drive_until(self, future: Future[Any]) -> None:
        """Goes on driving while a body in this thread waits."""
        items, native = self._items, self.driver.native
        while not future.done():
            native.drain(items, self._delivers)
            if not items:
                self._wait(None)
            while items and not future.done():
                item = items[0]
                if type(item) is StreamEvent or item[0] == EVENT:
                    self._held.append(item)
                else:
                    self._handle(item)
                items.popleft()

    def _give_up_bodies(self) -> None:
        for call, cancel in tuple(self._coroutines.items()):
            if self.driver.has_body(call):
                cancel()
        self.driver.give_up_bodies()

    def _leave_session(self) -> None:
        left = take_steps(self.driver.sessions.close())
        if inspect.isawaitable(left):
            # The run is over; whoever waits for its end cannot do better than to know it.
            with contextlib.suppress(Exception):
                self._await(0, left)

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

        def work() -> None:
            try:
                answer = (
                    self._run_coroutine(call, asked.run_async()) if asked.is_async else asked.run()
                )
            except BaseException as error:
                driver.fail_aside(call, error)
            else:
                complete(call, answer)

        if driver.inline and not asked.is_async and kind not in NEVER_INLINE:
            work()
        else:
            driver.keep_runner(payload, start_thread(f"little-ghost {kind}", work))

    def _perform(self, call: int, kind: str, payload: dict[str, Any]) -> None:
        driver = self.driver
        try:
            with Within(driver.run):
                value = driver.perform(call, kind, payload)
                if inspect.isawaitable(value):
                    value = self._await(call, value)
        except Exception as error:
            driver.fail(call, error)
        except BaseException as error:
            if is_cancellation(error):
                # Of something that the coroutine waited for: no task waits for this run.
                driver.fail(call, error)
                return
            # Ctrl-C or an exit: it goes on through the caller, and no call stays unanswered.
            driver.native.interrupt(None)
            driver.fail(call, error)
            raise
        else:
            driver.complete(call, value)

    def _perform_aside(self, item: tuple[Any, ...]) -> None:
        _, call, kind, payload = item
        driver = self.driver
        try:
            with Within(driver.run):
                value = driver.perform(call, kind, payload)
                if inspect.isawaitable(value):
                    value = self._run_coroutine(call, value)
        except BaseException as error:
            driver.fail_aside(call, error)
        else:
            driver.complete(call, value)

    # -- coroutines in a synchronous run ----------------------------------------------------------

    def _await(self, call: int, awaitable: Awaitable[Any]) -> Any:
        """Awaits in an event loop of its own, in this thread if no loop runs in it."""
        from asyncio import _get_running_loop

        # The public function would raise without a loop, and user code's exceptions would tell of it.
        if _get_running_loop() is None:
            return self._run_coroutine(call, awaitable, watch=True)
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.extend((True, self._run_coroutine(call, awaitable, watch=True)))
            except BaseException as error:
                outcome.extend((False, error))

        start_thread("little-ghost coroutine", work).join()
        if not outcome[0]:
            raise outcome[1]
        return outcome[1]

    def _run_coroutine(self, call: int, awaitable: Awaitable[Any], *, watch: bool = False) -> Any:
        import asyncio

        async def main() -> Any:
            loop = asyncio.get_running_loop()
            task: asyncio.Future[Any] = asyncio.ensure_future(awaitable)
            if not watch:
                self._coroutines[call] = lambda: _cancel_elsewhere(loop, task)
                return await task
            # Nobody else looks at the queue meanwhile: this loop sees a withdrawal itself.
            descriptor = self.driver.native.fd
            loop.add_reader(descriptor, self._look, call, task)
            try:
                return await task
            finally:
                loop.remove_reader(descriptor)

        try:
            return asyncio.run(main())
        finally:
            self._coroutines.pop(call, None)

    def _look(self, call: int, task: asyncio.Future[Any]) -> None:
        self.driver.native.drain(self._items, True)
        if (CANCELLED, call) in self._items:
            task.cancel()


def _cancel_elsewhere(loop: asyncio.AbstractEventLoop, task: asyncio.Future[Any]) -> None:
    # A loop that ended meanwhile has nothing to cancel.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(task.cancel)


def start_thread(name: str, work: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Starts a thread with the caller's context variables; it never delays the interpreter's exit."""
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(work, *arguments), name=name, daemon=True)
    thread.start()
    return thread


def waiter(descriptor: int) -> Callable[[float | None], object]:
    """A function that waits until the descriptor is readable, or so many seconds; true: it is."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return lambda seconds: poll.poll(None if seconds is None else seconds * 1000)
    return lambda seconds: select.select([descriptor], [], [], seconds)[0]
