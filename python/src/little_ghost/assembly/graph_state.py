"""What conditions and input functions of a graph see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..message import Message
from ..result import RunResult

if TYPE_CHECKING:
    from ..driver import Driver


@dataclass(frozen=True, slots=True)
class GraphState:
    """What conditions and input functions see of a request on its way through a graph.

    It is a copy: nothing in it changes the graph. Make one by hand to test a condition.

    Attributes:
        input: The request.
        history: Messages that precede it.
        context: What the application knows of the request.
        results: Results of all nodes that have ended, by name.
        predecessors: The nodes whose results supply the current one, in the order of their declaration.
        current: For a condition the node that has just ended, for an input function the one that begins.
        step: How many executions of nodes there were, counted with the current one.
        error: The failure that an error edge reacts to, or None.
    """

    input: Message
    history: tuple[Message, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, RunResult] = field(default_factory=dict)
    predecessors: tuple[str, ...] = ()
    current: str | None = None
    step: int = 0
    error: BaseException | None = None

    def result(self, node: str) -> RunResult:
        """The latest result of a node.

        Raises:
            KeyError: It has not ended.
        """
        return self.results[node]

    @property
    def incoming_results(self) -> Mapping[str, RunResult]:
        """Results of the immediate predecessors, by name."""
        return {name: self.results[name] for name in self.predecessors if name in self.results}

    @property
    def previous(self) -> str | None:
        """The predecessor, when there is exactly one."""
        return self.predecessors[0] if len(self.predecessors) == 1 else None

    @property
    def previous_result(self) -> RunResult | None:
        """The predecessor's result, when there is exactly one."""
        return None if self.previous is None else self.results.get(self.previous)

    @classmethod
    def read(cls, value: Mapping[str, Any], driver: Driver) -> GraphState:
        """Reads the engine's description."""
        error = value.get("error")
        return cls(
            Message.from_dict(value["input"]),
            tuple(Message.from_dict(message) for message in value["history"]),
            MappingProxyType(value["context"]),
            MappingProxyType(
                {name: driver.run._copied_result(result) for name, result in value["results"]}
            ),
            tuple(value["incoming"]),
            value["current"],
            value["step"],
            None if error is None else driver.exception(error),
        )
