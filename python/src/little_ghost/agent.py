"""Agents: one model-driven behaviour each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .configuration import shared_runtime
from .declaration import (
    DECLARED,
    Declarations,
    ModelChoice,
    check_declaration,
    check_spelling,
    unknown_declaration,
)
from .entrypoint import Entrypoint
from .naming import snake_case

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .async_execution import AsyncExecution
    from .context_management import ContextManagement
    from .declaration import Tools
    from .event import StreamEvent
    from .execution import Execution
    from .invocation import Invocation, MessageLike, RunOptions
    from .result_schema import ResultSchema
    from .run import Run
    from .runtime import Runtime
    from .stream import AsyncRunStream, RunStream
    from .tool_loop import ToolLoop


class Agent:
    """A model with instructions, tools and limits.

    Subclass it for a role of your application:

        class SupportAgent(Agent):
            model = "openrouter:openai/gpt-5.6-luna"
            system_prompt = "Answer customer questions clearly."
            tools = [order_status]

        run = SupportAgent.ask("Where is order 481?")

    or make one on the spot: `Agent(model=..., system_prompt=..., tools=[...])`. An agent holds no
    request: use one for any number of calls, from any thread or event loop. Attributes are inherited, and an
    argument of the constructor wins over the class.

    Attributes:
        name: Identifier in events; by default the class name in snake case, without `_agent`.
        description: What the agent is for.
        model: Which model answers: a role, a `connection:model-id`, a dict with `provider`, `model` and
            settings, a `Model`, or a callable that chooses one from the `Invocation`. By default the configured one.
        system_prompt: The instructions, or a callable or method that gives them. It may take the
            `RunContext`, and may be a coroutine function.
        system_template: A template with the instructions, such as `"support/system"`. Without both, the
            template `system` in the agent's own folder is used where there is one: for `SupportAgent` the
            file `app/prompts/support/system.j2`.
        prompt_locals: What templates may use besides `invocation`, `run` and `agent`: values by name, or
            functions that give them in each run. Methods with `@prompt_local` add to them.
        tools: What the model may call: functions with `@tool`, `Tool` classes and their instances, and
            providers, whose method `tools(binding)` gives such a list. Or a method or function of the
            `Binding` that gives the list for one run; it may be a coroutine function.
        max_turns: Model calls per run; 100 by default.
        max_tool_calls: Tool calls per run; 1,000 by default.
        max_tool_result_tokens: Size of a tool result that the model sees; 10,000 by default.
        model_settings: Settings of every model call, such as `temperature`.
        callbacks: Functions with `@before_tool` and the like, which are called after the methods that
            the class declares so.
        capture_diagnostics: Whether content may show in diagnostics, where the application captures it.
        result: What the agent must return instead of prose: a dataclass, TypedDict or Pydantic model, a JSON
            Schema, or a `ResultSchema`. `run.result.output` is then an instance of the class, or the dict.
        context_management: Summarises older messages before a conversation outgrows the context window.
        tool_loop: Fails a run that repeats a tool call without progress.
    """

    name: str | None = None
    description: str | None = None
    model: ModelChoice | Callable[..., ModelChoice | None] | None = None
    system_prompt: str | Callable[..., str | Awaitable[str | None] | None] | None = None
    system_template: str | None = None
    prompt_locals: Mapping[str, Any] | None = None
    tools: Tools | None = ()
    max_turns: int | None = None
    max_tool_calls: int | None = None
    max_tool_result_tokens: int | None = None
    model_settings: Mapping[str, Any] | None = None
    callbacks: Sequence[Callable[..., Any]] | None = None
    capture_diagnostics: bool | None = True
    result: type | Mapping[str, Any] | ResultSchema | None = None
    context_management: ContextManagement | None = None
    tool_loop: ToolLoop | None = None

    _checked: ClassVar[bool] = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Checks the class attributes."""
        super().__init_subclass__(**keywords)
        check_declaration(
            cls.__name__, {name: cls.__dict__[name] for name in DECLARED if name in cls.__dict__}
        )

    def __init__(self, *, runtime: Runtime | None = None, **declared: Unpack[Declarations]) -> None:
        """Makes an agent; what is left out comes from the class.

        Args:
            runtime: Connections and models of its own, instead of the shared ones.
            **declared: Attributes of the class, of the same names. None is left out.

        Raises:
            TypeError: An argument that no agent takes.
            ConfigurationError: An argument of a wrong type.
        """
        for name in declared:
            if name not in DECLARED:
                raise TypeError(unknown_declaration(name))
        given = {name: value for name, value in declared.items() if value is not None}
        check_declaration(type(self).__name__, {**given, "runtime": runtime})
        self.__dict__.update(given)
        self._runtime = runtime

    @property
    def agent_id(self) -> str:
        """Identifier in events."""
        if self.name:
            return self.name
        return snake_case(type(self).__name__).removesuffix("_agent") or "agent"

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
        return self._begin(message, options).stream()

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
        return self._begin(message, options).stream_async()

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
        from .execution import Execution

        return Execution(self._begin(message, options), on_event)

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
        from .async_execution import AsyncExecution

        return AsyncExecution(self._begin(message, options), on_event)

    def _begin(self, message: MessageLike | Invocation, options: RunOptions) -> Run:
        return self.runtime.build_run(message, agent=self, **options)

    def _check(self) -> None:
        """Looks at the class as a whole, once: what is declared may be misspelt."""
        cls = type(self)
        if "_checked" not in cls.__dict__:
            check_spelling(cls, Agent)
            cls._checked = True

    def __repr__(self) -> str:
        """Names the agent and its model."""
        model = self.model if isinstance(self.model, str) else None
        return f"<{type(self).__name__} {self.agent_id!r} model={model!r}>"
