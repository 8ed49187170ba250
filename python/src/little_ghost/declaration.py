"""What a user declares on an agent: the attributes, and what to write instead of a bad one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

from .callbacks import is_callback
from .errors import ConfigurationError
from .subagent import check_subagent_limits, check_subagents
from .tools.base import Tool

if TYPE_CHECKING:
    from .agent import Agent
    from .builder import AgentBuilder
    from .code_mode.code_mode import CodeMode
    from .context import RunContext
    from .context_management import ContextManagement
    from .result_schema import ResultSchema
    from .settings import SandboxDeclaration, WorkspaceDeclaration
    from .subagent import Subagent, SubagentLimits
    from .tool_loop import ToolLoop
    from .tools.binding import Binding


class EngineModel(Protocol):
    """A `Model`, or one that the engine knows by itself, such as `testing.ScriptedModel`."""

    def _to_engine(self) -> dict[str, Any]: ...


ModelChoice: TypeAlias = str | Mapping[str, Any] | EngineModel
"""A role, a `connection:model-id`, a dict with `provider`, `model` and settings, a `Model`, or a scripted model."""

ToolDeclaration: TypeAlias = Any
"""A `Tool` class, an instance, a function with `@tool`, or a provider with a method `tools(binding)`."""

if TYPE_CHECKING:
    Tools: TypeAlias = (
        Sequence[ToolDeclaration]
        | Callable[[Binding], Sequence[ToolDeclaration] | Awaitable[Sequence[ToolDeclaration]]]
    )
    SubagentDeclaration: TypeAlias = Subagent | type[Agent] | Agent | AgentBuilder
    Subagents: TypeAlias = (
        Sequence[SubagentDeclaration]
        | Callable[
            [RunContext],
            Sequence[SubagentDeclaration] | Awaitable[Sequence[SubagentDeclaration]],
        ]
    )


class Declarations(TypedDict, total=False):
    """What an `Agent` class declares by attributes, and `Agent(...)` takes. See `Agent` for each."""

    name: str | None
    description: str | None
    model: ModelChoice | Callable[..., ModelChoice | None] | None
    system_prompt: str | Callable[..., str | Awaitable[str | None] | None] | None
    system_template: str | None
    prompt_locals: Mapping[str, Any] | None
    tools: Tools | None
    max_turns: int | None
    max_tool_calls: int | None
    max_tool_result_tokens: int | None
    model_settings: Mapping[str, Any] | None
    callbacks: Sequence[Callable[..., Any]] | None
    capture_diagnostics: bool | None
    result: type | Mapping[str, Any] | ResultSchema | None
    context_management: ContextManagement | None
    tool_loop: ToolLoop | None
    subagents: Subagents | None
    subagent_limits: SubagentLimits | None
    workspace: WorkspaceDeclaration | None
    sandbox: SandboxDeclaration | None
    code_mode: bool | CodeMode | Mapping[str, Any] | None


DECLARED: tuple[str, ...] = tuple(Declarations.__annotations__)


def check_declaration(owner: str, values: Mapping[str, Any]) -> None:
    """Checks attributes or arguments of an agent.

    Raises:
        ConfigurationError: One has a wrong type; the message shows a right one.
    """
    for name, value in values.items():
        # A subclass may compute any of them.
        if value is not None and not isinstance(value, property):
            problem = _CHECKS[name](value)
            if problem:
                raise ConfigurationError(f"{owner}.{name} {problem}")


def unknown_declaration(name: str) -> str:
    """What to tell about an argument that no agent takes."""
    from difflib import get_close_matches

    close = get_close_matches(name, DECLARED, 1)
    hint = f"did you mean {close[0]}?" if close else f"use runtime, {', '.join(DECLARED)}"
    return f"an agent takes no {name}; {hint}"


# Too short for a likeness to mean much.
_SHORT = {
    "tool": "tools",
    "models": "model",
    "modle": "model",
    "nmae": "name",
    "callback": "callbacks",
}


def check_spelling(cls: type, base: type) -> None:
    """Looks for attributes that were meant to be one of `base`.

    Raises:
        ConfigurationError: One is nearly spelled like it.
    """
    from difflib import get_close_matches

    long = [name for name in DECLARED if len(name) > 5]
    for owner in cls.__mro__:
        if owner is base or not issubclass(owner, base):
            continue
        for name in owner.__dict__:
            if name.startswith("_") or hasattr(base, name):
                continue
            meant = _SHORT.get(name) or next(iter(get_close_matches(name, long, 1, 0.85)), None)
            if meant is not None:
                raise ConfigurationError(
                    f"{owner.__name__}.{name} declares nothing; did you mean {meant}? "
                    f"If it is an attribute of your own, call it _{name}"
                )


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _text(example: str) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        if isinstance(value, str):
            return None
        return f"must be a str, such as {example}, not {_kind(value)}"

    return check


def _name(value: Any) -> str | None:
    if isinstance(value, str) and not value.strip():
        return 'must not be blank; give it a name, such as "support"'
    return _text('"support"')(value)


def _model(value: Any) -> str | None:
    if inspect.iscoroutinefunction(value):
        return "must be a plain function, not a coroutine function; system_prompt may be one"
    if isinstance(value, type) and hasattr(value, "_to_engine"):
        return f"must be an instance of the model, such as {value.__name__}(), not the class"
    if isinstance(value, (str, Mapping)) or _is_function(value) or hasattr(value, "_to_engine"):
        return None
    return (
        'must be a role or a "connection:model-id", such as '
        '"openrouter:openai/gpt-5.6-luna", a dict with provider and model, a Model, or a function, '
        f"not {_kind(value)}"
    )


def _prompt(value: Any) -> str | None:
    if isinstance(value, str) or _is_function(value):
        return None
    return f"must be a str, or a function or method that returns one, not {_kind(value)}"


def _locals(value: Any) -> str | None:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return None
    return (
        f'must be a dict of values by name, such as {{"company": "Northstar"}}, not {_kind(value)}'
    )


def _tools(value: Any) -> str | None:
    if not isinstance(value, Tool) and inspect.isroutine(value):
        # A method, or a function of the binding, that gives the list in each run.
        return None
    if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
        return f"must be a list of tools, such as tools = [lookup_order], not {_kind(value)}"
    for item in value:
        if isinstance(item, Tool) or (isinstance(item, type) and issubclass(item, Tool)):
            continue
        if callable(getattr(item, "tools", None)) and not _is_agent(item):
            continue
        if callable(item) and not isinstance(item, type):
            name = getattr(item, "__name__", "the function")
            return f"holds the plain function {name}; write @tool above it"
        return f"must hold functions with @tool, Tool classes or Tool instances, not {_kind(item)}"
    return None


def _limit(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return None
    shown = repr(value) if isinstance(value, int) else _kind(value)
    return f"must be an int of at least 1, not {shown}"


def _settings(value: Any) -> str | None:
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return None
    return f'must be a dict of settings, such as {{"temperature": 0.2}}, not {_kind(value)}'


def _is_agent(value: Any) -> bool:
    from .agent import Agent

    return isinstance(value, Agent) or (isinstance(value, type) and issubclass(value, Agent))


def _callbacks(value: Any) -> str | None:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
        return f"must be a list of functions, such as callbacks = [audit], not {_kind(value)}"
    for item in value:
        if not is_callback(item):
            name = getattr(item, "__name__", repr(item))
            return f"holds {name}; write @before_tool, or another callback, above it"
    return None


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"must be True or False, not {_kind(value)}"


def _result(value: Any) -> str | None:
    from .result_schema import ResultSchema

    try:
        ResultSchema.of(value)
    except ConfigurationError as problem:
        return f"is not usable: {problem}"
    return None


def _context_management(value: Any) -> str | None:
    from .context_management import ContextManagement

    if isinstance(value, ContextManagement):
        return None
    return f"must be a ContextManagement, such as ContextManagement(), not {_kind(value)}"


def _tool_loop(value: Any) -> str | None:
    from .tool_loop import ToolLoop

    if isinstance(value, ToolLoop):
        return None
    return f"must be a ToolLoop, such as ToolLoop(warning_at=3), not {_kind(value)}"


def _code_mode(value: Any) -> str | None:
    from .code_mode.code_mode import CodeMode

    try:
        CodeMode.of(value)
    except ConfigurationError as problem:
        return f"is not usable: {problem}"
    return None


def _premises(kind: str) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        from .premises import check_premises

        return check_premises(kind, value)

    return check


def _runtime(value: Any) -> str | None:
    from .runtime import Runtime

    if isinstance(value, Runtime):
        return None
    return f"must be a Runtime, such as Runtime(providers=...), not {_kind(value)}"


def _is_function(value: Any) -> bool:
    if isinstance(value, (staticmethod, classmethod)):
        return True
    return callable(value) and not isinstance(value, type)


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "name": _name,
    "description": _text('"Answers customer questions."'),
    "model": _model,
    "system_prompt": _prompt,
    "system_template": _text('"support/system"'),
    "prompt_locals": _locals,
    "tools": _tools,
    "max_turns": _limit,
    "max_tool_calls": _limit,
    "max_tool_result_tokens": _limit,
    "model_settings": _settings,
    "callbacks": _callbacks,
    "capture_diagnostics": _flag,
    "result": _result,
    "context_management": _context_management,
    "tool_loop": _tool_loop,
    "subagents": check_subagents,
    "subagent_limits": check_subagent_limits,
    "workspace": _premises("workspace"),
    "sandbox": _premises("sandbox"),
    "code_mode": _code_mode,
    "runtime": _runtime,
}
