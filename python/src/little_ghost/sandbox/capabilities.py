"""What a sandbox can do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .._native import Sandbox as NativeSandbox

Feature: TypeAlias = Literal[
    "filesystem_read",
    "filesystem_list",
    "filesystem_write",
    "filesystem_replace",
    "process_execute",
    "process_spawn",
    "process_spawn_denial",
    "process_tree_ownership",
]
"""One operation, or one way to keep processes in check."""

NetworkMode: TypeAlias = Literal["none", "allowlist", "inherit"]
"""How far child processes reach: nowhere, where a gateway lets them, wherever the host does."""

DEFAULT_FEATURES: tuple[Feature, ...] = (
    "filesystem_read",
    "filesystem_list",
    "filesystem_write",
    "filesystem_replace",
    "process_execute",
    "process_spawn",
)


@dataclass(frozen=True, init=False)
class Capabilities:
    """What a sandbox can do. It is no certificate for the machine around it.

    Attributes:
        features: What it offers.
        network_modes: The network modes that it enforces.
        isolation: What isolates, such as `"namespace"`; `"none"` without isolation.
    """

    features: frozenset[str]
    network_modes: frozenset[str]
    isolation: str

    def __init__(
        self,
        features: Iterable[str] = DEFAULT_FEATURES,
        network_modes: Iterable[NetworkMode] = ("inherit",),
        isolation: str = "none",
    ) -> None:
        """Takes names; short ones of operations, such as `"read"`, will do.

        Raises:
            ValueError: An unknown name.
        """
        given = {
            "features": list(features),
            "network_modes": list(network_modes),
            "isolation": isolation,
        }
        self._take(NativeSandbox.normalize("capabilities", given))

    def _take(self, normal: dict[str, Any]) -> None:
        object.__setattr__(self, "features", frozenset(normal["features"]))
        object.__setattr__(self, "network_modes", frozenset(normal["network_modes"]))
        object.__setattr__(self, "isolation", normal["isolation"])

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Capabilities:
        """Reads what `to_dict` wrote."""
        made = cls.__new__(cls)
        made._take(value)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in a fixed order."""
        return {
            "features": sorted(self.features),
            "network_modes": sorted(self.network_modes),
            "isolation": self.isolation,
        }

    def supports(self, feature: str, mode: str | None = None) -> bool:
        """Whether a feature is offered.

        Args:
            feature: Its name or short name; or `"network"`.
            mode: Of `"network"`, the mode that has to be enforced; any by default.
        """
        if feature == "network":
            return bool(self.network_modes) if mode is None else mode in self.network_modes
        return NativeSandbox.feature(feature) in self.features

    def intersect(self, other: Capabilities) -> Capabilities:
        """What both offer; the isolation is this one's."""
        return Capabilities.from_dict(NativeSandbox.intersect(self.to_dict(), other.to_dict()))
