"""Waits for operations on the programs of a session, and answers what they ask meanwhile."""

from __future__ import annotations

import selectors
from typing import TYPE_CHECKING, Any

from .._native import CALL
from ..errors import describe_exception, error_from_value
from ..job import bound

if TYPE_CHECKING:
    import asyncio

    from .._native import Job, ProgramSession
    from ..context import RunContext
    from .broker import Broker
    from .program_sandboxes import ProgramSandboxes

# Two descriptors need none of their own to be waited for.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


class Dialogue:
    """What one session and its programs say to each other.

    Calls of a program may overlap. What it asks between two operations is answered by the next one.
    """

    __slots__ = ("_broker", "_exceptions", "_native", "_sandboxes", "_tasks")

    def __init__(self, native: ProgramSession, broker: Broker, sandboxes: ProgramSandboxes) -> None:
        self._native = native
        self._broker = broker
        self._sandboxes = sandboxes
        self._exceptions: list[BaseException] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def answer(self, operation: str, given: dict[str, Any], context: RunContext | None) -> Any:
        """The answer of an operation. Whatever makes the caller leave earlier ends the wait, not the program."""
        job = self._native.operate(operation, given)
        try:
            bound(job, context)
            with _Selector() as selector:
                for descriptor in (job.fd, self._native.fd):
                    selector.register(descriptor, selectors.EVENT_READ)
                ready: set[Any] = set()
                while job.fd not in ready:
                    ready = {key.fd for key, _ in selector.select()}
                    if self._native.fd in ready:
                        self._receive()
        except BaseException:
            job.give_up()
            raise
        return self._settled(job)

    async def answer_async(
        self, operation: str, given: dict[str, Any], context: RunContext | None
    ) -> Any:
        """`answer` for asyncio; cancelling the task ends the wait as well."""
        import asyncio

        job = self._native.operate(operation, given)
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        try:
            bound(job, context)
            loop.add_reader(job.fd, ready.set)
            loop.add_reader(self._native.fd, self._receive, loop)
            try:
                await ready.wait()
            finally:
                loop.remove_reader(job.fd)
                loop.remove_reader(self._native.fd)
        except BaseException:
            job.give_up()
            raise
        return self._settled(job)

    def _settled(self, job: Job) -> Any:
        value, error = job.outcome()
        if error is not None:
            raise error_from_value(error, self._original)
        return value

    def _original(self, identifier: int) -> BaseException | None:
        if 0 < identifier <= len(self._exceptions):
            return self._exceptions[identifier - 1]
        return None

    def _receive(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Begins to work off what waits: in threads, but calls of tools on the loop, if there is one."""
        from ..pump import start_thread

        for item in self._native.drain():
            if item[0] != CALL:
                given_up = self._tasks.get(item[1])
                if given_up is not None:
                    given_up.cancel()
                continue
            _, call, kind, payload = item
            if loop is not None and payload["op"] == "call":
                self._begin(loop, call, payload)
            else:
                start_thread("little-ghost program", self._perform, call, kind, payload)

    def _begin(self, loop: asyncio.AbstractEventLoop, call: int, payload: dict[str, Any]) -> None:
        task = self._tasks[call] = loop.create_task(self._await_tool(call, payload))
        task.add_done_callback(lambda _: self._tasks.pop(call, None))

    def _perform(self, call: int, kind: str, payload: dict[str, Any]) -> None:
        try:
            if kind == "sandbox":
                answer = self._sandboxes.answer(payload)
            elif payload["op"] == "sandbox":
                answer = self._sandboxes.make(payload)
            else:
                called = self._broker.call(payload["name"], payload["arguments"], id=payload["id"])
                answer = {"value": called.value, "error": called.error}
            self._native.complete(call, answer)
        except BaseException as error:
            self._fail(call, error)

    async def _await_tool(self, call: int, payload: dict[str, Any]) -> None:
        try:
            called = await self._broker.call_async(
                payload["name"], payload["arguments"], id=payload["id"]
            )
            self._native.complete(call, {"value": called.value, "error": called.error})
        except BaseException as error:
            self._fail(call, error)
            if not isinstance(error, Exception):
                raise

    def _fail(self, call: int, error: BaseException) -> None:
        """Ends the program; the operation that waits for it raises this very exception."""
        self._exceptions.append(error)
        self._native.fail(call, describe_exception(error, len(self._exceptions)))
