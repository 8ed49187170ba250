"""A model that answers what a test says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _native
from ..model_request import ModelRequest
from .expectation import expect
from .functions import Function
from .turn import described


class ScriptedModel:
    """A model without a server: it answers each request with the next turn of a script, and keeps the requests.

        model = ScriptedModel({"tool": lookup, "input": {"topic": "refunds"}}, "You have 30 days.")
        run = Agent(model=model, tools=[lookup]).ask("Can I get a refund?")
        assert len(model.requests) == 2
        model.verify()

    It is the `model` of an agent, or stands in for every agent's with `use_model`. Safe to use from any thread.
    """

    __slots__ = ("_functions", "_native")

    def __init__(
        self,
        *turns: Any,
        repeat: bool = False,
        capabilities: Mapping[str, Any] | None = None,
    ) -> None:
        """Checks the script.

        Args:
            *turns: One for each request: a text, a dict as `Turn` describes it, an exception or its class, or a
                function of the `ModelRequest` that returns one of these and may be a coroutine function.
            repeat: Whether the last turn answers any number of further requests.
            capabilities: What the model differs in from one that can do everything, such as
                `{"native_structured_output": False}`.

        Raises:
            ValueError: Something cannot be a turn.
            TypeError: A value that JSON cannot express.
        """
        self._functions: list[Function] = []
        self._native = _native.ScriptedModel(
            {
                "turns": [described(turn, self._functions) for turn in turns],
                "repeat": repeat,
                "capabilities": None if capabilities is None else dict(capabilities),
            }
        )

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request so far, in order, those beyond the script included."""
        return [ModelRequest.from_dict(request) for request in self._native.requests()]

    def verify(self) -> None:
        """Checks that the model was asked exactly as often as the script says.

        Raises:
            UnmetExpectation: It was not.
        """
        expect(self._native.verify)

    def _to_engine(self) -> dict[str, int]:
        """The model as an agent's answer names it."""
        return {"native": self._native.id}

    def _over(self, runtime: _native.Runtime) -> _native.Runtime:
        return runtime.with_model(self._native)
