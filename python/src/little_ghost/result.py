"""Results of model calls and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .message import Message
from .usage import Usage

if TYPE_CHECKING:
    from .assembly.trajectory import Step, Trajectory
    from .result_schema import ResultSchema


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """The final result of one model call.

    Attributes:
        message: The assistant message.
        stop_reason: Why the model stopped, such as `"end_turn"` or `"tool_use"`.
        usage: Token counts of this response.
        metadata: Facts such as the provider's response `id` and `model`.
    """

    message: Message
    stop_reason: str
    usage: Usage
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON-like data."""
        return {
            "message": self.message.to_dict(),
            "stop_reason": self.stop_reason,
            "usage": self.usage.to_dict(),
            "metadata": dict(self.metadata),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> ModelResponse:
        """Reads the engine's description."""
        return cls(
            Message.from_dict(value["message"]),
            value["stop_reason"],
            Usage.from_dict(value["usage"]),
            value.get("metadata") or {},
        )


@dataclass(frozen=True)
class StructuredResult:
    """A value that fits the declared schema of an agent's result.

    Attributes:
        name: Name of the schema.
        value: The checked value, as a dict.
        strategy: How the model gave it: `"provider"` or `"tool"`.
    """

    name: str
    value: Mapping[str, Any]
    strategy: str = "provider"
    _schema: ResultSchema | None = field(default=None, repr=False, compare=False)

    @cached_property
    def output(self) -> Any:
        """An instance of the class that the agent declares, or `value` when it declares a schema.

        Raises:
            Exception: What the class itself finds wrong with the value, beyond its schema.
        """
        return self.value if self._schema is None else self._schema.read(self.value)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-like data."""
        return {"name": self.name, "value": dict(self.value), "strategy": self.strategy}


@dataclass(frozen=True, slots=True)
class RunResult:
    """The final value of one run.

    Attributes:
        message: The final assistant message, or None when there was none.
        stop_reason: Why the last model call stopped.
        usage: Token counts of the whole run.
        messages: The complete conversation, system message first.
        state: The run's working state, the same dict that tools changed.
        structured: The checked value of an agent that declares a `result`, else None.
        cost: What the tokens cost in US dollars, or None when that is not known; see `Run.cost`.
        steps: The participants behind the result of a workflow, swarm or graph.
    """

    message: Message | None
    stop_reason: str
    usage: Usage
    messages: tuple[Message, ...]
    state: dict[str, Any] = field(default_factory=dict)
    structured: StructuredResult | None = None
    cost: Decimal | None = None
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        """Text of the final message, or empty."""
        return "" if self.message is None else self.message.text

    @property
    def output(self) -> Any:
        """What the agent declares as its `result`, else `text`."""
        return self.text if self.structured is None else self.structured.output

    @property
    def trajectory(self) -> Trajectory:
        """The steps, for questions about them."""
        from .assembly.trajectory import Trajectory

        return Trajectory(self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-like data, without the state."""
        value: dict[str, Any] = {
            "message": None if self.message is None else self.message.to_dict(),
            "stop_reason": self.stop_reason,
            "usage": self.usage.to_dict(),
            "cost": None if self.cost is None else format(self.cost, "f"),
            "messages": [message.to_dict() for message in self.messages],
        }
        if self.structured is not None:
            value["structured"] = self.structured.to_dict()
        if self.steps:
            value["steps"] = [step.to_dict() for step in self.steps]
        return value

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], state: dict[str, Any], schema: ResultSchema | None = None
    ) -> RunResult:
        """Reads the engine's description; the state and the class of the output are the host's."""
        message = value["message"]
        structured = value.get("structured")
        if structured is not None:
            structured = StructuredResult(
                structured["name"], structured["value"], structured["strategy"], schema
            )
        return cls(
            None if message is None else Message.from_dict(message),
            value["stop_reason"],
            Usage.from_dict(value["usage"]),
            tuple(Message.from_dict(item) for item in value["messages"]),
            state,
            structured,
            None if value.get("cost") is None else Decimal(value["cost"]),
            _steps(value.get("steps")),
        )


def _steps(values: Any) -> tuple[Step, ...]:
    if not values:
        return ()
    from .assembly.trajectory import Step

    return tuple(Step.from_dict(value) for value in values)
