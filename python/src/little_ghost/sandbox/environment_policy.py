"""The environment variables of child processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._native import Sandbox as NativeSandbox


@dataclass(frozen=True, slots=True)
class EnvironmentPolicy:
    """Which environment variables child processes start with.

    Attributes:
        inherit: Whether a program may inherit the variables of this process. It has to ask for them as well.
        values: Variables that every program gets. Not shown: they may be secrets.
    """

    inherit: bool = False
    values: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        normal = NativeSandbox.normalize("environment", self._declared())
        object.__setattr__(self, "values", normal["set"])

    def __hash__(self) -> int:
        return hash((self.inherit, tuple(self.values.items())))

    @classmethod
    def of(cls, value: Any) -> EnvironmentPolicy:
        """The policy that a declaration means: `{"inherit": ..., "set": {...}}`, or variables by name.

        Raises:
            PolicyError: It means none.
        """
        if isinstance(value, cls):
            return value
        normal = NativeSandbox.normalize("environment", _plain(value))
        return cls(normal["inherit"], normal["set"])

    def _declared(self) -> dict[str, Any]:
        return {"inherit": self.inherit, "set": dict(self.values)}


def _plain(value: Any) -> Any:
    return (
        {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value
    )
