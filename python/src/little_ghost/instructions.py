"""The system prompt of one run: inline, or from a template."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import Error
from .jsonable import to_jsonable
from .naming import snake_case

if TYPE_CHECKING:
    from .agent import Agent
    from .assembly.base import Assembly
    from .context import RunContext
    from .invocation import Invocation
    from .part import Part
    from .run import Run

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "_little_ghost_prompt_local"

_NOT_SHOWN = ("template_paths", "include_agent_events")


def prompt_local(method: F) -> F:
    """Makes a method's answer a local of the agent's templates, under the method's name.

        class SupportAgent(Agent):
            @prompt_local
            def policy_version(self) -> str:
                return policies.current()

    In a workflow, swarm or graph it is a local of the templates of all agents that take part. It is asked once
    for each agent at work, may take the `RunContext`, and may be a coroutine function.
    """
    setattr(method, _MARK, True)
    return method


def render_prompt(
    agent: Agent, run: Run, part: Part, context: RunContext
) -> Generator[Any, Any, str | None]:
    """The system prompt, step by step.

    An inline `system_prompt` comes first, then `system_template`, then the template `system` in the
    agent's own folder. Of a class and its bases, the nearest that says anything decides.

    Yields:
        What user code returned, awaitable or not.

    Raises:
        PromptTemplateError: A template is missing or wrong.
    """
    inline, template = _declared(agent)
    if inline is not None:
        prompt = yield call(inline, context)
        if prompt is not None and not isinstance(prompt, str):
            raise Error(f"system_prompt must give a str, not {type(prompt).__name__}")
        return prompt
    invocation = part.invocation
    prompts, paths = run.runtime.prompts, invocation.template_paths
    if template is None:
        template = _conventional(agent)
        if template is None or prompts.find(template, invocation_paths=paths) is None:
            return None
    values = _usual_locals(agent, invocation)
    values.update((yield from _locals(part, context)))
    return prompts.render(template, values, invocation_paths=paths)


def logical_path(agent: Agent) -> str | None:
    """The folder of the agent's templates: of its class, or of the name that it was given."""
    from .agent import Agent

    cls = type(agent)
    if cls is Agent:
        return agent.name
    parts = cls.__qualname__.rpartition("<locals>.")[2].split(".")
    path = "/".join(snake_case(part) for part in parts)
    return path.removesuffix("_agent") or path


def call(function: Any, context: RunContext) -> Any:
    """A declared value, or what its function gives; that may be awaitable."""
    if not callable(function):
        return function
    parameters = inspect.signature(function).parameters.values()
    takes_one = any(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters)
    return function(context) if takes_one else function()


def _declared(agent: Agent) -> tuple[Any, str | None]:
    names = ("system_prompt", "system_template")
    for scope in (agent.__dict__, *(vars(cls) for cls in type(agent).__mro__)):
        if any(scope.get(name) is not None for name in names):
            found = [
                getattr(agent, name) if scope.get(name) is not None else None for name in names
            ]
            if found[0] is not None:
                return found[0], None
            if found[1] is not None:
                return None, found[1]
    return None, None


def _conventional(agent: Agent) -> str | None:
    path = logical_path(agent)
    if path is None or not re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*", path):
        return None
    return f"{path}/system"


def _usual_locals(agent: Agent, invocation: Invocation) -> dict[str, Any]:
    return {
        "invocation": _invocation(invocation),
        "run": {
            "run_id": invocation.run_id,
            "invocation_id": invocation.invocation_id,
            "session_id": invocation.session_id,
        },
        "agent": {
            "agent_id": agent.agent_id,
            "name": agent.name,
            "description": agent.description,
        },
    }


def _locals(part: Part, context: RunContext) -> Generator[Any, Any, dict[str, Any]]:
    """What is declared by those that this agent works for, the outermost first, and its own."""
    values: dict[str, Any] = {}
    if part.around is not None:
        values.update((yield from _locals(part.around, context)))
    for assembly in (*part.assemblies, part.agent):
        for name in _marked(type(assembly)):
            values[name] = yield call(getattr(assembly, name), context)
        for name, value in (assembly.prompt_locals or {}).items():
            values[name] = yield call(value, context)
    return values


def _marked(cls: type) -> list[str]:
    # Asked of every participant of every run: `dir` and `getattr_static` would cost more than all the rest of it.
    scopes = [vars(base) for base in cls.__mro__]
    marked = {name for scope in scopes for name, value in scope.items() if _is_marked(value)}
    return sorted(name for name in marked if _is_marked(_nearest(scopes, name)))


def _nearest(scopes: Sequence[Mapping[str, Any]], name: str) -> Any:
    return next(scope[name] for scope in scopes if name in scope)


def _is_marked(value: Any) -> bool:
    return getattr(value, _MARK, None) is True


def gives_locals(assembly: Assembly) -> bool:
    """Whether an assembly has prompt locals for its agents.

    Raises:
        ConfigurationError: They are not given by name.
    """
    if assembly.prompt_locals is not None:
        from .declaration import check_declaration

        check_declaration(type(assembly).__name__, {"prompt_locals": assembly.prompt_locals})
    return bool(assembly.prompt_locals) or bool(_marked(type(assembly)))


def _invocation(invocation: Invocation) -> dict[str, Any]:
    values: dict[str, Any] = {
        "text": invocation.message.text,
        "message": invocation.message.to_dict(),
        "history": [message.to_dict() for message in invocation.history],
    }
    for field in fields(invocation):
        if field.name not in values and field.name not in _NOT_SHOWN:
            values[field.name] = _plain(to_jsonable(getattr(invocation, field.name)))
    return values


def _plain(value: Any) -> Any:
    """Without what has no plain form, such as a client that the context holds."""
    if isinstance(value, Mapping):
        return {
            key: _plain(item)
            for key, item in value.items()
            if isinstance(key, str) and _has_form(item)
        }
    if isinstance(value, list):
        return [_plain(item) for item in value if _has_form(item)]
    return value if _has_form(value) else None


def _has_form(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool, list, Mapping))
