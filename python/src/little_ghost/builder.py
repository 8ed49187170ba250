"""Agents that are put together while the program runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .agent import Agent
from .callbacks import Declaration
from .declaration import DECLARED, Declarations, check_declaration, unknown_declaration
from .errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from typing_extensions import Unpack

    from .async_execution import AsyncExecution
    from .callbacks import F
    from .declaration import ModelChoice, Tools
    from .event import StreamEvent
    from .execution import Execution
    from .invocation import Invocation, MessageLike, RunOptions
    from .run import Run
    from .runtime import Runtime
    from .stream import AsyncRunStream, RunStream


class AgentBuilder:
    """A definition of an agent that can still be changed.

        builder = AgentBuilder(name="customer_support")
        builder.model = "openrouter:openai/gpt-5.6-luna"
        builder.system_prompt = "Answer customer questions clearly."

        @builder.on(before_tool)
        def check(payload: BeforeTool) -> None: ...

        builder.ask("Where is my order?")

    It has every attribute that an `Agent` class declares. Changing the builder changes the agents
    that it builds later, and none that it built before.
    """

    if TYPE_CHECKING:
        name: str | None
        description: str | None
        model: ModelChoice | Callable[..., ModelChoice | None] | None
        system_prompt: str | Callable[..., str | Awaitable[str | None] | None] | None
        tools: Tools | None
        max_turns: int | None
        max_tool_calls: int | None
        max_tool_result_tokens: int | None
        model_settings: Mapping[str, Any] | None
        callbacks: Sequence[Callable[..., Any]] | None
        capture_diagnostics: bool | None

    def __init__(
        self,
        base: type[Agent] = Agent,
        *,
        runtime: Runtime | None = None,
        **declared: Unpack[Declarations],
    ) -> None:
        """Begins with the declarations of a class.

        Args:
            base: The class to build instances of.
            runtime: Connections and models of its own, instead of the shared ones.
            **declared: Attributes of the agent.

        Raises:
            TypeError: An attribute that no agent has.
            ConfigurationError: A value of a wrong type.
        """
        given: Any = base
        if not isinstance(given, type) or not issubclass(given, Agent):
            raise ConfigurationError(
                f"AgentBuilder takes an Agent class as its base, not {type(base).__name__}"
            )
        check_declaration(type(self).__name__, {"runtime": runtime})
        self.__dict__.update(_base=base, _runtime=runtime, _declared={})
        for name, value in declared.items():
            if name not in DECLARED:
                raise TypeError(unknown_declaration(name))
            setattr(self, name, value)

    def on(self, callback: Declaration, *, prepend: bool = False) -> Callable[[F], F]:
        """Declares a callback, as a decorator.

        Args:
            callback: Which, such as `before_tool`.
            prepend: Call it before those that are declared already.

        Raises:
            ConfigurationError: It is no callback, or what it decorates is no function.
        """
        given: Any = callback
        if not isinstance(given, Declaration):
            raise ConfigurationError(
                f"on takes a callback, such as on(before_tool) with little_ghost.before_tool, not {given!r}"
            )

        def declare(function: F) -> F:
            # A function of its own, so that a shared one is declared for this builder alone.
            self.callbacks = (*(self.callbacks or ()), callback.standing_alone(function, prepend))
            return function

        return declare

    def build(self, *, runtime: Runtime | None = None) -> Agent:
        """An agent as it is declared now.

        Args:
            runtime: What it works with; the builder's by default.
        """
        declared: Any = {name: _own(value) for name, value in self._declarations.items()}
        return self._base(runtime=runtime or self._runtime, **declared)

    def ask(self, message: MessageLike | Invocation, **options: Unpack[RunOptions]) -> Run:
        """`Agent.ask` of the agent as it is declared now."""
        return self.build().ask(message, **options)

    async def ask_async(
        self, message: MessageLike | Invocation, **options: Unpack[RunOptions]
    ) -> Run:
        """`Agent.ask_async` of the agent as it is declared now."""
        return await self.build().ask_async(message, **options)

    def stream(self, message: MessageLike | Invocation, **options: Unpack[RunOptions]) -> RunStream:
        """`Agent.stream` of the agent as it is declared now."""
        return self.build().stream(message, **options)

    def stream_async(
        self, message: MessageLike | Invocation, **options: Unpack[RunOptions]
    ) -> AsyncRunStream:
        """`Agent.stream_async` of the agent as it is declared now."""
        return self.build().stream_async(message, **options)

    def start_execution(
        self,
        message: MessageLike | Invocation,
        on_event: Callable[[StreamEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> Execution:
        """`Agent.start_execution` of the agent as it is declared now."""
        return self.build().start_execution(message, on_event, **options)

    def start_execution_async(
        self,
        message: MessageLike | Invocation,
        on_event: Callable[[StreamEvent], object] | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncExecution:
        """`Agent.start_execution_async` of the agent as it is declared now."""
        return self.build().start_execution_async(message, on_event, **options)

    @property
    def _declarations(self) -> dict[str, Any]:
        declared: dict[str, Any] = self.__dict__["_declared"]
        return declared

    def __getattr__(self, name: str) -> Any:
        """A declaration, or the base's."""
        if name not in DECLARED:
            raise AttributeError(f"an agent has no attribute {name}")
        if name in self._declarations:
            return self._declarations[name]
        return getattr(self._base, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Declares something; None goes back to the base's."""
        if name not in DECLARED:
            raise AttributeError(unknown_declaration(name))
        check_declaration(type(self).__name__, {name: value})
        if value is None:
            self._declarations.pop(name, None)
        else:
            self._declarations[name] = value

    def __repr__(self) -> str:
        """Names the base and what is declared."""
        return f"<AgentBuilder {self._base.__name__} {', '.join(sorted(self._declarations))}>"

    if TYPE_CHECKING:
        _base: type[Agent]
        _runtime: Runtime | None


def _own(value: Any) -> Any:
    if isinstance(value, list):
        return list(value)
    return dict(value) if isinstance(value, dict) else value
