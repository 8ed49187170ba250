"""Checks what a user declares on an agent, and says what to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .errors import ConfigurationError
from .runtime import Runtime
from .tools.base import Tool


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


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _text(example: str) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        if isinstance(value, str):
            return None
        return f"must be a str, such as {example}, not {_kind(value)}"

    return check


def _model(value: Any) -> str | None:
    if inspect.iscoroutinefunction(value):
        return "must be a plain function, not a coroutine function; system_prompt may be one"
    if isinstance(value, (str, Mapping)) or _is_function(value):
        return None
    return (
        'must be a role or a "connection:model-id", such as '
        '"openrouter:openai/gpt-5.6-luna", a dict with provider and model, or a function, '
        f"not {_kind(value)}"
    )


def _prompt(value: Any) -> str | None:
    if isinstance(value, str) or _is_function(value):
        return None
    return f"must be a str, or a function or method that returns one, not {_kind(value)}"


def _tools(value: Any) -> str | None:
    if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
        return f"must be a list of tools, such as tools = [lookup_order], not {_kind(value)}"
    for item in value:
        if isinstance(item, Tool) or (isinstance(item, type) and issubclass(item, Tool)):
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


def _runtime(value: Any) -> str | None:
    if isinstance(value, Runtime):
        return None
    return f"must be a Runtime, such as Runtime(providers=...), not {_kind(value)}"


def _is_function(value: Any) -> bool:
    if isinstance(value, (staticmethod, classmethod)):
        return True
    return callable(value) and not isinstance(value, type)


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "name": _text('"support"'),
    "description": _text('"Answers customer questions."'),
    "model": _model,
    "system_prompt": _prompt,
    "tools": _tools,
    "max_turns": _limit,
    "max_tool_calls": _limit,
    "max_tool_result_tokens": _limit,
    "model_settings": _settings,
    "runtime": _runtime,
}
