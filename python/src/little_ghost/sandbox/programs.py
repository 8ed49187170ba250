"""Programs in a sandbox or in a scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import ToolError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..context import RunContext
    from .execution import Execution
    from .process_session import ProcessSession


class ProgramOptions(TypedDict, total=False):
    """How a program runs. None stands for the default.

    Attributes:
        environment: Variables, over those of the workspace and of the policy.
        inherit_environment: Whether it inherits the variables of this process, if the policy allows it.
        cwd: Where it starts, a path relative to the root of the workspace.
        output_bytes: How much it may write, both streams together, before it is ended.
        memory_bytes: How much memory it may use. It is sampled ten times a second where no control group
            enforces it.
        cpu_seconds: How long it may use a processor.
        file_bytes: How large a file it may write.
        tasks: How many processes and threads there may be, where a control group can enforce it.
        allow_subprocesses: Whether it may start others. A sandbox that cannot keep it from that refuses False.
    """

    environment: Mapping[str, str] | None
    inherit_environment: bool
    cwd: str | None
    output_bytes: int | None
    memory_bytes: int | None
    cpu_seconds: int | None
    file_bytes: int | None
    tasks: int | None
    allow_subprocesses: bool | None


class Programs:
    """Ways to run programs, for a sandbox or a scope.

    A context ends a program by its cancellation or its deadline; so do Ctrl-C and the cancellation of a task.
    """

    __slots__ = ()

    def start_program(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """Starts a program; the caller closes it, best by `with`.

        Args:
            command: The program and its arguments, which no shell reads.
            context: Ends the start; the program itself goes on until it is closed.
            **options: See `ProgramOptions`.

        Raises:
            ToolError: The command is none, or the scope has no programs.
            CapabilityError: The sandbox cannot enforce an option.
        """
        raise NotImplementedError(f"{type(self).__name__} does not have start_program")

    async def start_program_async(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """`start_program` for asyncio."""
        raise NotImplementedError(f"{type(self).__name__} does not have start_program_async")

    def execute_program(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """Runs a program to its end.

        Args:
            command: The program and its arguments, which no shell reads.
            timeout: Seconds that it may take.
            max_output_bytes: How much of each stream is kept; by default the sandbox's limit.
            context: Ends it.
            **options: See `ProgramOptions`.

        Raises:
            ToolError: It took too long, or exceeded a limit.
            CancelledError, DeadlineExceededError: The context said so.
        """
        raise NotImplementedError(f"{type(self).__name__} does not have execute_program")

    async def execute_program_async(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """`execute_program` for asyncio."""
        raise NotImplementedError(f"{type(self).__name__} does not have execute_program_async")

    def execute(
        self,
        line: str,
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """Runs a line of shell; what a model chose belongs into arguments of `execute_program` instead."""
        return self.execute_program(
            ["/bin/sh", "-c", line],
            timeout=timeout,
            max_output_bytes=max_output_bytes,
            context=context,
            **options,
        )

    async def execute_async(
        self,
        line: str,
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """`execute` for asyncio."""
        return await self.execute_program_async(
            ["/bin/sh", "-c", line],
            timeout=timeout,
            max_output_bytes=max_output_bytes,
            context=context,
            **options,
        )


def described(command: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """A program as the engine takes it.

    Raises:
        ToolError: The command is no program with arguments.
        TypeError: There is no such option.
    """
    if isinstance(command, str) or not isinstance(command, Sequence):
        raise ToolError("The command must be a program and its arguments, all texts.")
    if not command or not all(isinstance(word, str) for word in command):
        raise ToolError("The command must be a program and its arguments, all texts.")
    unknown = [name for name in options if name not in ProgramOptions.__annotations__]
    if unknown:
        known = ", ".join(ProgramOptions.__annotations__)
        raise TypeError(f"a program has no option {unknown[0]}; use {known}")
    program = {name: value for name, value in options.items() if value is not None}
    if "environment" in program:
        program["environment"] = dict(program["environment"])
    return {**program, "command": list(command)}
