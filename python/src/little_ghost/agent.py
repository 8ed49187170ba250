"""Agents: one model-driven behaviour each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .assembly.base import Assembly
from .declaration import (
    DECLARED,
    Declarations,
    ModelChoice,
    check_declaration,
    check_spelling,
    unknown_declaration,
)
from .naming import snake_case

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .code_mode.code_mode import CodeMode
    from .context_management import ContextManagement
    from .declaration import Subagents, Tools
    from .result_schema import ResultSchema
    from .runtime import Runtime
    from .settings import SandboxDeclaration, WorkspaceDeclaration
    from .subagent import SubagentLimits
    from .tool_loop import ToolLoop


class Agent(Assembly):
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
        subagents: Agents that the model may create, talk to and wait for: classes, agents and `Subagent`s. Or a
            method or function of the `RunContext` that gives the list for one run; it may be a coroutine function.
        subagent_limits: Bounds of them.
        workspace: The files of its runs, instead of the configured workspace; see `Settings`. A `Workspace` is opened
            and stays open; anything else makes one for each run, which closes it.
        sandbox: What governs files and programs in its runs, in the same way.
        code_mode: Whether the model writes programs that call its tools, instead of calling them one by one: True, or a
            `CodeMode`.
    """

    _kind = "agent"

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
    subagents: Subagents | None = None
    subagent_limits: SubagentLimits | None = None
    workspace: WorkspaceDeclaration | None = None
    sandbox: SandboxDeclaration | None = None
    code_mode: bool | CodeMode | Mapping[str, Any] | None = None

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
    def assembly_id(self) -> str:
        """The same as `agent_id`."""
        return self.agent_id

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
