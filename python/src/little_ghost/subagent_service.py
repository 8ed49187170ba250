"""The run behind a manager of subagents: nothing but their work."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from . import _native
from .agent import Agent
from .calling import in_event_loop
from .errors import CancelledError, CleanupError, Error, ToolError
from .job import answer, answer_async
from .overlay import overlaid
from .pump import Pump, start_thread
from .run import Run
from .subagent import describe_subagents

if TYPE_CHECKING:
    from ._native import CancellationToken, Job
    from .context import RunContext
    from .event import StreamEvent
    from .part import Part
    from .runtime import Runtime
    from .session import Session

Observer = Callable[[Mapping[str, Any]], object]
"""Hears what happens to subagents."""


class Desk(Agent):
    """Answers nothing itself: it lasts for as long as subagents may have work."""

    _path = "/root"

    def _serve(self, part: Part) -> dict[str, Any]:
        """What the engine is told instead of an agent."""
        described = describe_subagents(part, self.subagents or ())  # type: ignore[arg-type]
        return {"manager": {**(described or {}), "path": self._path}}


class ServiceRun(Run):
    """The run of a desk, which has no answer."""

    __slots__ = ()

    _kind: ClassVar[str] = "agent"


class Service:
    """Begins with the first use, and is driven beside its users: in a thread, or on the loop of the first one."""

    def __init__(
        self,
        desk: Desk,
        runtime: Runtime,
        *,
        session: Session | None,
        token: CancellationToken | None,
        deadline_at: float | None,
        observer: Observer | None,
    ) -> None:
        self._desk = desk
        self._runtime = runtime
        self._session = session
        self._token = _native.CancellationToken() if token is None else token.child()
        self._deadline_at = deadline_at
        self._observer = observer
        self._lock = threading.Lock()
        self._run: ServiceRun | None = None
        self._thread: threading.Thread | None = None
        self._task: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._closed = False

    def operate(
        self, name: str, given: dict[str, Any], operation: str | None, context: RunContext | None
    ) -> Any:
        """Has the engine do what the tool `name` does, and waits in this thread."""
        self._refuse_own_loop()
        return answer(self._begun(asynchronous=False).delegate(name, given, operation), context)

    async def operate_async(
        self, name: str, given: dict[str, Any], operation: str | None, context: RunContext | None
    ) -> Any:
        """`operate` for asyncio."""
        job = self._begun(asynchronous=True).delegate(name, given, operation)
        return await answer_async(job, context)

    def close(self) -> None:
        """Stops everything."""
        self._refuse_own_loop()
        run = self._closing()
        if run is None:
            return
        problem: Error | None = None
        try:
            answer(_stopping(run))
        except CancelledError:
            pass
        except Error as error:
            problem = error
        self._token.cancel()
        if self._thread is not None:
            self._thread.join()
        elif self._task is not None:
            # On the loop of another thread.
            _joined(self._task)
        self._raise(problem)

    async def close_async(self) -> None:
        """`close` for asyncio."""
        run = self._closing()
        if run is None:
            return
        problem: Error | None = None
        try:
            await answer_async(_stopping(run))
        except CancelledError:
            pass
        except Error as error:
            problem = error
        self._token.cancel()
        if self._task is not None and self._task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({self._task})
        elif self._task is not None:
            await asyncio.to_thread(_joined, self._task)
        elif self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        self._raise(problem)

    def _raise(self, problem: BaseException | None) -> None:
        problem = problem or self._failure
        if problem is not None:
            raise problem

    def _closing(self) -> ServiceRun | None:
        """The run to end, once."""
        with self._lock:
            self._closed = True
            run, self._run = self._run, None
            return run

    def _begun(self, *, asynchronous: bool) -> _native.Run:
        with self._lock:
            if self._closed:
                raise ToolError("the subagents are stopped; no more work is taken")
            if self._token.cancelled:
                raise CancelledError("the subagents were cancelled")
            if self._run is None:
                run = self._run = self._make()
                if asynchronous:
                    self._task = asyncio.get_running_loop().create_task(self._drive_async(run))
                else:
                    self._thread = start_thread("little-ghost subagents", self._drive, run)
            return self._run._native

    def _make(self) -> ServiceRun:
        runtime, session = self._runtime, self._session
        bounds = {} if self._deadline_at is None else {"deadline_at": self._deadline_at}
        invocation = runtime.parse("(subagents)", **bounds)
        native = _native.Run(overlaid(runtime._native), invocation.payload(), self._token)
        run = ServiceRun(self._desk, invocation.identified(*native.identity), runtime, native)
        if session is not None:
            run._session = session
            native.keep_subagents_with(session.id, session.actor_id, {}, session.store._engine)
        return run

    def _drive(self, run: ServiceRun) -> None:
        try:
            for event in Pump(run).events():
                self._tell(event)
        except CancelledError:
            # The usual end.
            pass
        except BaseException as error:
            self._failure = error

    async def _drive_async(self, run: ServiceRun) -> None:
        from .async_pump import AsyncPump

        pump = AsyncPump(run)
        try:
            while (event := await pump.next_event()) is not None:
                self._tell(event)
        except CancelledError:
            # The usual end.
            pass
        except Exception as error:
            self._failure = error

    def _tell(self, event: StreamEvent) -> None:
        if self._observer is not None and event.type == "subagent":
            # An observer changes nothing.
            with contextlib.suppress(Exception):
                self._observer(event.data["event"])

    def _refuse_own_loop(self) -> None:
        task = self._task
        if (
            task is not None
            and in_event_loop()
            and task.get_loop() is asyncio.get_running_loop()
            and not task.done()
        ):
            raise Error("the subagents work on this event loop; use the method that ends in _async")


def _stopping(run: ServiceRun) -> Job:
    return run._native.delegate("close", {}, None)


def _joined(task: asyncio.Task[None]) -> None:
    done = threading.Event()
    try:
        task.get_loop().call_soon_threadsafe(task.add_done_callback, lambda _: done.set())
    except RuntimeError as error:
        raise CleanupError("the event loop of the subagents is closed") from error
    done.wait()
