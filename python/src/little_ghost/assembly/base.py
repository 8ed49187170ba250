"""What can be asked: one agent, or several that answer together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..configuration import shared_runtime
from ..entrypoint import Entrypoint
from ..errors import ConfigurationError
from ..naming import snake_case

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..async_execution import AsyncExecution
    from ..event import StreamEvent
    from ..execution import Execution
    from ..invocation import Invocation, MessageLike, RunOptions
    from ..run import Run
    from ..runtime import Runtime
    from ..stream import AsyncRunStream, RunStream
    from .table import HostTable
    from .tool import AssemblyTool


class Assembly:
    """One agent, or several that answer together; callers need not know which.

    Subclass `Agent`, `Workflow`, `Swarm` or `Graph`, not this. An assembly holds no request: use one for any
    number of calls, from any thread or event loop. Each call works with the declarations as they are when
    it begins.

    Attributes:
        name: Identifier in events, steps and tools; by default the class name in snake case, without the
            kind at its end.
        description: What it is for, in words for models and people.
        prompt_locals: What the templates of all agents in it may use: values by name, or functions that give them
            in each run. Methods with `@prompt_local` add to them. The closest assembly wins, and an agent's
            own wins over all.
    """

    name: str | None = None
    description: str | None = None
    prompt_locals: Mapping[str, Any] | None = None

    _kind: ClassVar[str] = "assembly"
    _runtime: Runtime | None

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Checks the class attributes."""
        super().__init_subclass__(**keywords)
        _check_name(cls, cls.__dict__.get("name"))

    @property
    def assembly_id(self) -> str:
        """Identifier in events, steps and tools."""
        if self.name is not None:
            return self.name
        return snake_case(type(self).__name__).removesuffix(f"_{self._kind}") or self._kind

    @property
    def assembly_kind(self) -> str:
        """`"agent"`, `"workflow"`, `"swarm"` or `"graph"`."""
        return self._kind

    @property
    def runtime(self) -> Runtime:
        """The connections and models in use.

        Raises:
            ConfigurationError: The environment or `configure` gave something unusable.
        """
        # A subclass with an `__init__` of its own may not have called this one.
        return self.__dict__.get("_runtime") or shared_runtime()

    @Entrypoint
    def ask(self, message: MessageLike | Invocation, **options: Unpack[RunOptions]) -> Run:
        """Asks, and waits for the end.

        Signals are handled meanwhile, and other threads run. A coroutine tool runs in an event loop of
        its own. Inside a running event loop this blocks the loop: use `ask_async` there.

        Args:
            message: The request, or an `Invocation` with all of it.
            **options: See `RunOptions`.

        Returns:
            The finished run, whatever its outcome.

        Raises:
            InvocationError: The message is blank.
            CleanupError: A resource of the run failed to close.
        """
        return self._begin(message, options).call()

    @Entrypoint
    def stream(self, message: MessageLike | Invocation, **options: Unpack[RunOptions]) -> RunStream:
        """Asks, and hands out events as they happen.

        Args:
            message: The request, or an `Invocation` with all of it.
            **options: See `RunOptions`.

        Returns:
            An iterator and context manager; the run begins with its first event.

        Raises:
            InvocationError: The message is blank.
        """
        return self._begin(message, options, watched=True).stream()

    @Entrypoint
    async def ask_async(
        self, message: MessageLike | Invocation, **options: Unpack[RunOptions]
    ) -> Run:
        """`ask` for asyncio. Cancelling the task cancels the run.

        Plain tools run in threads, coroutine tools on this loop.

        Args:
            message: The request, or an `Invocation` with all of it.
            **options: See `RunOptions`.

        Returns:
            The finished run, whatever its outcome.

        Raises:
            InvocationError: The message is blank.
            CleanupError: A resource of the run failed to close.
        """
        return await self._begin(message, options).call_async()

    @Entrypoint
    def stream_async(
        self, message: MessageLike | Invocation, **options: Unpack[RunOptions]
    ) -> AsyncRunStream:
        """`stream` for asyncio. Not a coroutine: `async for event in agent.stream_async(...)`.

        Args:
            message: The request, or an `Invocation` with all of it.
            **options: See `RunOptions`.

        Returns:
            An asynchronous iterator and context manager; the run begins with its first event.

        Raises:
            InvocationError: The message is blank.
        """
        return self._begin(message, options, watched=True).stream_async()

    @Entrypoint
    def start_execution(
        self,
        message: MessageLike | Invocation,
        on_event: Callable[[StreamEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Execution:
        """Asks in the background.

        Args:
            message: The request, or an `Invocation` with all of it.
            on_event: Called with each event, in the background thread.
            **options: See `RunOptions`.

        Returns:
            The running execution.

        Raises:
            InvocationError: The message is blank.
        """
        from ..execution import Execution

        return Execution(self._begin(message, options, watched=on_event is not None), on_event)

    @Entrypoint
    def start_execution_async(
        self,
        message: MessageLike | Invocation,
        on_event: Callable[[StreamEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncExecution:
        """Asks in the background, as a task of the running loop. Not a coroutine.

        Args:
            message: The request, or an `Invocation` with all of it.
            on_event: Called with each event; it may be a coroutine function.
            **options: See `RunOptions`.

        Returns:
            The running execution.

        Raises:
            InvocationError: The message is blank.
            RuntimeError: No event loop is running.
        """
        from ..async_execution import AsyncExecution

        return AsyncExecution(self._begin(message, options, watched=on_event is not None), on_event)

    @Entrypoint
    def as_tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        preserve_context: bool = False,
    ) -> AssemblyTool:
        """A tool by which an agent asks this: `tools = [InvestigationGraph.as_tool()]`.

        Every call gets a copy of the working state, so tools further in find the caller's context there;
        what is privileged should be checked again.

        Args:
            name: What the model calls it; by default the identifier.
            description: What the model reads; by default the description.
            preserve_context: Whether each call of a run goes on from the conversation of the one before.
        """
        from .tool import AssemblyTool

        return AssemblyTool(
            self, name=name, description=description, preserve_context=preserve_context
        )

    def _begin(
        self, message: MessageLike | Invocation, options: RunOptions, *, watched: bool = False
    ) -> Run:
        """A run that has not begun. `watched`: somebody follows its events."""
        return self.runtime._new_run(
            message, self, dict(options), agent_events=watched and self._kind != "agent"
        )

    def _declare(self, runtime: Runtime | None, **declared: Any) -> None:
        """Notes what a constructor was given; what is None is left to the class.

        Raises:
            ConfigurationError: The name is blank.
        """
        _check_name(type(self), declared.get("name"))
        self.__dict__.update({name: value for name, value in declared.items() if value is not None})
        self._runtime = runtime

    def _check(self) -> None:
        """Looks at the class as a whole, once."""

    def _describe(self, table: HostTable) -> dict[str, Any]:
        """What the engine learns of it; code is in `table`."""
        return {
            "kind": self._kind,
            "id": self.assembly_id,
            "description": self.description or "",
        }

    def __repr__(self) -> str:
        """Names it."""
        return f"<{type(self).__name__} {self.assembly_id!r}>"


def _check_name(owner: type, name: Any) -> None:
    if isinstance(name, str) and not name.strip():
        raise ConfigurationError(
            f'{owner.__name__}.name must not be blank; give it a name, such as "support"'
        )
