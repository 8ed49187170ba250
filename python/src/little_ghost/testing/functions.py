"""Turns that are functions of the request, under the numbers by which the engine knows them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Generator
from typing import Any

from ..errors import Error
from ..model_request import ModelRequest
from ..steps import take_steps


class Function:
    """A function that is known for as long as somebody holds this.

    Attributes:
        number: What the engine calls it.
    """

    __slots__ = ("__weakref__", "_function", "number")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.number = next(_numbers)
        _known[self.number] = self

    def steps(self, request: ModelRequest) -> Generator[Any, Any, Any]:
        """Makes a turn of a request, and yields what may have to be awaited."""
        from .turn import described

        turn = yield self._function(request)
        while callable(turn) and not isinstance(turn, type):
            turn = yield turn(request)
        return described(turn)


_numbers = itertools.count(1)
_known: weakref.WeakValueDictionary[int, Function] = weakref.WeakValueDictionary()


def call(payload: dict[str, Any]) -> Any:
    """The turn that a function makes of a request; awaitable if the function is a coroutine function."""
    function = _known.get(payload["function"])
    if function is None:
        raise Error("the scripted model is gone: keep a reference to it while agents use it")
    return take_steps(function.steps(ModelRequest.from_dict(payload["request"])))
