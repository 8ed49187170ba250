"""Requests to models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._native import CancellationToken
from .message import Message


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """All that a model needs for one answer.

    To change one, use `dataclasses.replace`.

    Attributes:
        messages: The conversation, system message first.
        tools: What the model may call: dicts with `name`, `description` and `input_schema`.
        settings: Settings such as `temperature`.
        output_schema: A dict with `schema`, and perhaps `name` and `description`, or None for text.
        tool_choice: `"required"`, a dict with the `name` of a tool, or None.
        required_capabilities: What the model must be able to do.
        deadline_at: When the answer must be there, in Unix seconds, or None.
        cancellation_token: Cancelled when nobody waits for the answer any more.
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    tool_choice: str | Mapping[str, Any] | None = None
    required_capabilities: Sequence[str] = ()
    deadline_at: float | None = None
    cancellation_token: CancellationToken = field(
        default_factory=CancellationToken, repr=False, compare=False
    )

    def to_dict(self) -> dict[str, Any]:
        """The request as JSON-like data, without the token."""
        value: dict[str, Any] = {
            "messages": [message.to_dict() for message in self.messages],
            "tools": [dict(tool) for tool in self.tools],
            "settings": dict(self.settings),
            "required_capabilities": list(self.required_capabilities),
        }
        for name in ("output_schema", "tool_choice", "deadline_at"):
            given = getattr(self, name)
            if given is not None:
                value[name] = given
        return value

    @classmethod
    def from_dict(
        cls, value: Mapping[str, Any], cancellation_token: CancellationToken | None = None
    ) -> ModelRequest:
        """Reads what `to_dict` wrote."""
        return cls(
            tuple(Message.from_dict(message) for message in value["messages"]),
            tuple(value.get("tools") or ()),
            value.get("settings") or {},
            value.get("output_schema"),
            value.get("tool_choice"),
            tuple(value.get("required_capabilities") or ()),
            value.get("deadline_at"),
            cancellation_token or CancellationToken(),
        )
