"""Results of model calls and runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .message import Message
from .usage import Usage


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


@dataclass(frozen=True, slots=True)
class RunResult:
    """The final value of one run.

    Attributes:
        message: The final assistant message, or None when there was none.
        stop_reason: Why the last model call stopped.
        usage: Token counts of the whole run.
        messages: The complete conversation, system message first.
        state: The run's working state, the same dict that tools changed.
    """

    message: Message | None
    stop_reason: str
    usage: Usage
    messages: tuple[Message, ...]
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Text of the final message, or empty."""
        return "" if self.message is None else self.message.text

    @property
    def output(self) -> Any:
        """The structured value when there is one, else `text`."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-like data, without the state."""
        return {
            "message": None if self.message is None else self.message.to_dict(),
            "stop_reason": self.stop_reason,
            "usage": self.usage.to_dict(),
            "messages": [message.to_dict() for message in self.messages],
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], state: dict[str, Any]) -> RunResult:
        """Reads the engine's description; the state is the host's."""
        message = value["message"]
        return cls(
            None if message is None else Message.from_dict(message),
            value["stop_reason"],
            Usage.from_dict(value["usage"]),
            tuple(Message.from_dict(item) for item in value["messages"]),
            state,
        )
