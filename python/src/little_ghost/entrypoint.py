"""Methods that a class answers as well as its instances."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class Entrypoint(Generic[P, R]):
    """Binds a method to an instance, or has each call on the class make an instance.

    `SupportAgent.ask("...")` is `SupportAgent().ask("...")`, with the same parameters and types. Reading
    `SupportAgent.ask` makes nothing, so that tools can look at a class whose constructor takes arguments.
    """

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self._function = function
        self._on_class = _on_class(function)
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function

    def __get__(self, instance: object | None, owner: type[Any]) -> Callable[P, R]:
        """The bound method."""
        if instance is None:
            return cast("Callable[P, R]", MethodType(self._on_class, owner))
        return cast("Callable[P, R]", MethodType(self._function, instance))


def _on_class(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wait(owner: type[Any], *arguments: Any, **keywords: Any) -> Any:
            return await function(owner(), *arguments, **keywords)

        return wait

    @functools.wraps(function)
    def call(owner: type[Any], *arguments: Any, **keywords: Any) -> Any:
        return function(owner(), *arguments, **keywords)

    return call
