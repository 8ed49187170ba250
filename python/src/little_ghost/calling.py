"""Calling code of the application that may be plain or a coroutine function."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from typing import Any


def in_event_loop() -> bool:
    """Whether an event loop runs in this thread."""
    # Without asyncio there is none, and plain programs must not load it.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def settle(value: Any, advice: str) -> Any:
    """What user code returned to code that cannot await it.

    Args:
        value: A value or an awaitable, which gets a loop of its own where none runs.
        advice: What to use instead where one does.
    """
    if not inspect.isawaitable(value):
        return value
    if in_event_loop():
        getattr(value, "close", lambda: None)()
        raise RuntimeError(f"this code is a coroutine function; {advice}")
    import asyncio

    return asyncio.run(_waited(value))


async def _waited(value: Awaitable[Any]) -> Any:
    return await value


def call_with(function: Callable[..., Any], **offered: Any) -> Any:
    """Calls a function of the application with those keywords that it takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return function(**offered)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        taken = {
            parameter.name
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        }
        offered = {name: value for name, value in offered.items() if name in taken}
    return function(**offered)
