"""What the application puts in front of programs, when it is code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _native
from ..calling import call_with, settle
from ..network.answering import Answering, keys

if TYPE_CHECKING:
    from .sandbox import Sandbox


class Wrapping:
    """Has the engine know the command wrapper of one sandbox by number, and answers for it."""

    __slots__ = ("_answering", "_registered", "_sandbox", "_wrapper")

    def __init__(self, wrapper: Callable[..., Any], sandbox: Sandbox) -> None:
        self._wrapper = wrapper
        self._sandbox = sandbox
        self._answering = Answering(self._wrap)
        self._registered = _native.CommandWrapper(next(keys), self._answering.questions)

    @property
    def declared(self) -> dict[str, Any]:
        """How the options of the sandbox name it."""
        return self._registered.declaration()

    def start(self) -> None:
        """Begins to answer."""
        self._answering.start(self)

    def stop(self) -> None:
        """Answers no more."""
        self._answering.stop(self)

    def _wrap(self, question: dict[str, Any]) -> Any:
        left = question["scope"]
        if left is not None:
            closed = (left["network"] or {}).get("mode") == "none"
            left = self._sandbox.scope(**{**left, "network": False if closed else None})
        made = call_with(
            self._wrapper, argv=question["command"], workspace=self._sandbox.workspace, scope=left
        )
        return settle(made, "it runs in no event loop")
