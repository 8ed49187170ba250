"""Facts about models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """What is known about one model. What is not known is None.

    Attributes:
        target: The model, as `connection:model-id`.
        attributes: Every fact by name.
        provenance: The source of each fact, such as `"bundled:litellm+genai-prices"`.
        observed_at: The day of the observation, such as `"2026-11-30"`.
    """

    target: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    observed_at: str | None = None

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return bool(self.attributes)

    @property
    def context_window(self) -> int | None:
        """The most tokens of a prompt."""
        found = self.attributes.get("context_window", self.attributes.get("context_window_tokens"))
        return found if isinstance(found, int) else None

    @property
    def max_output_tokens(self) -> int | None:
        """The most tokens of an answer."""
        found = self.attributes.get("max_output_tokens")
        return found if isinstance(found, int) else None

    @property
    def input_modalities(self) -> tuple[str, ...] | None:
        """Forms of input: `text`, `image`, `pdf`, `file`, `audio`, `video`."""
        return self._names("input_modalities")

    @property
    def supported_parameters(self) -> tuple[str, ...] | None:
        """Request parameters and features, such as `tools`."""
        return self._names("supported_parameters")

    @property
    def pricing(self) -> Mapping[str, Any]:
        """USD for a million tokens: `input`, `output`, `cache_read`, `cache_write` and more."""
        found = self.attributes.get("pricing")
        return found if isinstance(found, Mapping) else {}

    def _names(self, attribute: str) -> tuple[str, ...] | None:
        found = self.attributes.get(attribute)
        return None if found is None else tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Every fact, and `target`, `provenance` and `observed_at`."""
        return {
            **self.attributes,
            "target": self.target,
            "provenance": dict(self.provenance),
            "observed_at": self.observed_at,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> ModelDetails:
        """Reads what `to_dict` wrote."""
        rest = ("target", "provenance", "observed_at")
        return cls(
            value["target"],
            {name: fact for name, fact in value.items() if name not in rest},
            value.get("provenance") or {},
            value.get("observed_at"),
        )
