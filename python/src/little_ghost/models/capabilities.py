"""Optional features of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelCapabilities:
    """What a model can do beyond text.

    Attributes:
        native_structured_output: It takes a schema for its whole answer.
        tools: It takes tools.
        tool_choice: It takes an explicit choice of tool.
        supported_parameters: Request parameters that it takes, or None: no list restricts them.
        known: Whether this comes from facts rather than from their absence.
    """

    native_structured_output: bool = False
    tools: bool = False
    tool_choice: bool = False
    supported_parameters: tuple[str, ...] | None = None
    known: bool = True

    @classmethod
    def permissive(cls) -> ModelCapabilities:
        """Every feature, without restriction."""
        return cls(native_structured_output=True, tools=True, tool_choice=True)

    @classmethod
    def unknown(cls) -> ModelCapabilities:
        """No feature, because nothing is known."""
        return cls(known=False)

    def supports(self, *parameters: str) -> bool:
        """Whether the list has any of the parameters, or there is no list."""
        supported = self.supported_parameters
        return supported is None or any(name in supported for name in parameters)

    def to_dict(self) -> dict[str, Any]:
        """The capabilities as JSON-like data."""
        supported = self.supported_parameters
        return {
            "native_structured_output": self.native_structured_output,
            "tools": self.tools,
            "tool_choice": self.tool_choice,
            "supported_parameters": None if supported is None else list(supported),
            "known": self.known,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> ModelCapabilities:
        """Reads what `to_dict` wrote."""
        supported = value.get("supported_parameters")
        return cls(
            bool(value.get("native_structured_output")),
            bool(value.get("tools")),
            bool(value.get("tool_choice")),
            None if supported is None else tuple(dict.fromkeys(supported)),
            bool(value.get("known", True)),
        )
