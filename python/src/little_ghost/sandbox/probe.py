"""Whether a sandbox can be used here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a sandbox can be used here.

    Attributes:
        available: Whether it can.
        reason: Why not, or None.
        capabilities: What it can do.
    """

    available: bool
    reason: str | None
    capabilities: Capabilities

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Probe:
        """Reads what the engine says."""
        return cls(
            value["available"], value["reason"], Capabilities.from_dict(value["capabilities"])
        )
