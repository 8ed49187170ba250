"""What a sandbox is asked to enforce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from .._native import Sandbox as NativeSandbox
from ..errors import PolicyError
from .environment_policy import EnvironmentPolicy
from .network_policy import NetworkPolicy

Access: TypeAlias = Literal["read_only", "read_write"]
RootFilesystem: TypeAlias = Literal["isolated", "read_only", "read_write"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a sandbox is asked to enforce. What it does enforce is its `effective_policy`.

    Attributes:
        files: Named paths of the workspace that tools and child processes reach, `"root"` among them.
        runtime_paths: Named paths that only child processes reach.
        root_filesystem: What child processes see of the host beyond that.
        environment: Variables of child processes; a dict is read by `EnvironmentPolicy.of`.
        network: Where child processes may connect to; a mode or a dict is read by `NetworkPolicy.of`.
            None is the sandbox's own choice.
        walls: Of an `effective_policy`, what enforces it, such as `"namespaces"` and `"seccomp"`. It cannot be
            asked for.

    Raises:
        PolicyError: A value means nothing, or values contradict each other.
    """

    files: Mapping[str, Access] = field(default_factory=lambda: {"root": "read_only"})
    runtime_paths: Mapping[str, Access] = field(default_factory=dict)
    root_filesystem: RootFilesystem = "isolated"
    environment: EnvironmentPolicy = field(default_factory=EnvironmentPolicy)
    network: NetworkPolicy | None = None
    walls: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        environment: Any = self.environment
        object.__setattr__(self, "environment", EnvironmentPolicy.of(environment or {}))
        if self.network is not None:
            object.__setattr__(self, "network", NetworkPolicy.of(self.network))
        normal = NativeSandbox.normalize("policy", self._declared())
        for name in ("files", "runtime_paths", "root_filesystem"):
            object.__setattr__(self, name, normal[name])

    @classmethod
    def of(cls, value: Any) -> Policy:
        """The policy that a declaration means: a dict of these attributes, or nothing.

        Raises:
            PolicyError: It means none.
        """
        if isinstance(value, cls):
            return value
        if value is None:
            return cls()
        if not isinstance(value, Mapping):
            raise PolicyError(f"a policy must be a dict, not {type(value).__name__}")
        unknown = sorted(set(value) - set(POLICY_KEYS))
        if unknown:
            raise PolicyError(f"a policy has no {unknown[0]!r}; use {', '.join(POLICY_KEYS)}")
        return cls(**{name: item for name, item in value.items() if item is not None})

    @property
    def writable(self) -> bool:
        """Whether tools may write anywhere."""
        return "read_write" in self.files.values()

    def _declared(self) -> dict[str, Any]:
        """As the engine takes it."""
        return {
            "files": _plain(self.files),
            "runtime_paths": _plain(self.runtime_paths),
            "root_filesystem": self.root_filesystem,
            "environment": self.environment._declared(),
            "network": None if self.network is None else self.network._declared(),
        }


POLICY_KEYS = tuple(attribute.name for attribute in fields(Policy) if attribute.name != "walls")


def _plain(paths: Any) -> Any:
    return dict(paths) if isinstance(paths, Mapping) else paths
