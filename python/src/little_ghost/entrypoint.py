"""Methods that a class answers as well as its instances."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class Entrypoint(Generic[P, R]):
    """Binds a method to an instance, and to a new instance when it is read from the class.

    `SupportAgent.ask("...")` is `SupportAgent().ask("...")`, with the same parameters and types.
    """

    def __init__(self, function: Callable[Concatenate[Any, P], R]) -> None:
        self._function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function

    def __get__(self, instance: object | None, owner: type[Any]) -> Callable[P, R]:
        """The bound method."""
        bound = MethodType(self._function, owner() if instance is None else instance)
        return cast("Callable[P, R]", bound)
