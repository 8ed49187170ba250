"""A child process with bounded streams."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import Error
from ..job import answer, answer_async
from ..managed import Closable
from .execution import Execution, execution_from

if TYPE_CHECKING:
    from .._native import Job, Process
    from ..context import RunContext


@dataclass(frozen=True, slots=True)
class Output:
    """What a process has written since the last look.

    Attributes:
        stdout: Bytes of its output.
        stderr: Bytes of its other stream.
        eof: Whether both have ended.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    eof: bool = False


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """How a process ended.

    Attributes:
        pid: Its number on the host.
        code: Its exit code; None when a signal ended it.
        signal: The number of that signal, or None.
    """

    pid: int
    code: int | None
    signal: int | None = None

    @property
    def success(self) -> bool:
        """Whether it returned zero."""
        return self.code == 0


class ProcessSession(Closable):
    r"""A child process with bounded streams, in a process group of its own.

    Whoever started it closes it: that ends it and its ordinary descendants. One that made a group of its own is
    only ended by a sandbox that owns the process tree.

        with sandbox.start_program(["/usr/bin/sort"]) as session:
            session.write("b\na\n")
            session.close_write()
            session.wait(timeout=5)
            session.read().stdout
    """

    __slots__ = ("_native",)

    def __init__(self, native: Process) -> None:
        """Made by `Sandbox.start_program`."""
        self._native = native

    @property
    def pid(self) -> int:
        """Its number on the host."""
        return self._native.pid

    def is_alive(self) -> bool:
        """Whether it, or anything in its group, still runs.

        Raises:
            ToolError: It exceeded a limit, or can no longer be watched.
        """
        return bool(answer(self._job("alive")))

    async def is_alive_async(self) -> bool:
        """`is_alive` for asyncio."""
        return bool(await answer_async(self._job("alive")))

    def read(self, timeout: float = 0) -> Output:
        """What it has written since.

        Args:
            timeout: Seconds to wait at most for something.

        Raises:
            ToolError: It exceeded a limit.
        """
        return _output(answer(self._job("read", timeout=timeout)))

    async def read_async(self, timeout: float = 0) -> Output:
        """`read` for asyncio."""
        return _output(await answer_async(self._job("read", timeout=timeout)))

    def write(self, data: str | bytes) -> int:
        """Writes all of `data`, waiting while the process does not read; gives the number of bytes.

        Raises:
            BrokenPipeError: Nobody reads any more.
        """
        raw = _raw(data)
        try:
            answer(self._job("write", data_base64=b64encode(raw).decode()))
        except Error as error:
            raise _broken(error) from None
        return len(raw)

    async def write_async(self, data: str | bytes) -> int:
        """`write` for asyncio."""
        raw = _raw(data)
        try:
            await answer_async(self._job("write", data_base64=b64encode(raw).decode()))
        except Error as error:
            raise _broken(error) from None
        return len(raw)

    def close_write(self) -> None:
        """Ends its input."""
        answer(self._job("close_write"))

    async def close_write_async(self) -> None:
        """`close_write` for asyncio."""
        await answer_async(self._job("close_write"))

    def wait(
        self,
        timeout: float | None = None,
        *,
        context: RunContext | None = None,
        terminate: bool = True,
    ) -> ExitStatus:
        """Waits for its end.

        Args:
            timeout: Seconds to wait at most.
            context: Ends the wait by its cancellation or its deadline.
            terminate: Whether the process is ended when the wait is.

        Raises:
            ToolError: The time is up.
            CancelledError, DeadlineExceededError: The context said so.
        """
        try:
            ended = answer(self._job("wait", timeout=timeout, terminate=terminate), context)
        except BaseException:
            if terminate:
                self.terminate()
            raise
        return ExitStatus(**ended)

    async def wait_async(
        self,
        timeout: float | None = None,
        *,
        context: RunContext | None = None,
        terminate: bool = True,
    ) -> ExitStatus:
        """`wait` for asyncio; a cancelled task ends the wait as well."""
        try:
            job = self._job("wait", timeout=timeout, terminate=terminate)
            ended = await answer_async(job, context)
        except BaseException:
            if terminate:
                await self.terminate_async()
            raise
        return ExitStatus(**ended)

    def terminate(self) -> ExitStatus | None:
        """Asks it to end, forces it half a second later; gives how it ended, when that is known."""
        ended = answer(self._job("terminate"))
        return None if ended is None else ExitStatus(**ended)

    async def terminate_async(self) -> ExitStatus | None:
        """`terminate` for asyncio."""
        ended = await answer_async(self._job("terminate"))
        return None if ended is None else ExitStatus(**ended)

    def close(self) -> None:
        """Ends it if necessary and closes its streams. Doing it again is fine."""
        answer(self._job("close"))

    async def close_async(self) -> None:
        """`close` for asyncio."""
        await answer_async(self._job("close"))

    def collect(
        self, timeout: float, max_output_bytes: int, *, context: RunContext | None = None
    ) -> Execution:
        """Ends its input, waits for its end, and closes it; for sandboxes of your own.

        Args:
            timeout: Seconds that it may take.
            max_output_bytes: How much of each stream is kept.
            context: Ends it.

        Raises:
            ToolError: It took too long, or exceeded a limit.
            CancelledError, DeadlineExceededError: The context said so.
        """
        job = self._job("collect", timeout=timeout, max_output_bytes=max_output_bytes)
        try:
            return execution_from(answer(job, context))
        except BaseException:
            self.close()
            raise

    async def collect_async(
        self, timeout: float, max_output_bytes: int, *, context: RunContext | None = None
    ) -> Execution:
        """`collect` for asyncio."""
        job = self._job("collect", timeout=timeout, max_output_bytes=max_output_bytes)
        try:
            return execution_from(await answer_async(job, context))
        except BaseException:
            await self.close_async()
            raise

    def _job(self, operation: str, **more: Any) -> Job:
        return self._native.perform({"op": operation, **more})

    def __repr__(self) -> str:
        """Names the process."""
        return f"<{type(self).__name__} {self.pid}>"


def _output(read: dict[str, Any]) -> Output:
    return Output(b64decode(read["stdout_base64"]), b64decode(read["stderr_base64"]), read["eof"])


def _raw(data: str | bytes) -> bytes:
    if isinstance(data, str):
        return data.encode()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"a process reads text or bytes, not {type(data).__name__}")
    return bytes(data)


def _broken(error: Error) -> Exception:
    # What the kernel says of a pipe has no class of its own in the engine.
    return BrokenPipeError(str(error)) if type(error) is Error else error
