"""Work of several steps, each of which may be plain or awaitable."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


def take_steps(steps: Generator[Any, Any, T]) -> T | Awaitable[T]:
    """Runs a generator that yields values of user code, and sends it what they come to.

    Nothing is awaited as long as nothing has to be, so that plain user code runs right here, outside
    of any event loop.

    Args:
        steps: Yields values, awaitable or not.

    Returns:
        What the generator returned, or an awaitable of it if a step was awaitable.
    """
    try:
        value = next(steps)
        while not inspect.isawaitable(value):
            value = steps.send(value)
    except StopIteration as done:
        result: T = done.value
        return result
    return _take_others(steps, value)


async def _take_others(steps: Generator[Any, Any, T], value: Any) -> T:
    while True:
        try:
            if inspect.isawaitable(value):
                try:
                    value = await value
                except BaseException as error:
                    value = steps.throw(error)
                    continue
            value = steps.send(value)
        except StopIteration as done:
            result: T = done.value
            return result
