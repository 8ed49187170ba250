"""What sandboxes need of a gateway."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import PolicyError


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory or file that programs see, read-only.

    Attributes:
        source: Where it is on the host.
        target: Where programs see it; by default at the same path.
    """

    source: str
    target: str | None = None


class Gateway:
    """A proxy that lets only the destinations of an allowlist through.

    Subclass it for a proxy of your own: say where its socket is, and what must be mounted.
    """

    def __init__(self, policy: Mapping[str, Any]) -> None:
        """Takes the policy to enforce.

        Args:
            policy: `{"mode": "allowlist", "allow": ["host:port"], ...}`.

        Raises:
            PolicyError: It is no allowlist.
        """
        if policy.get("mode") != "allowlist":
            raise PolicyError(
                "a network gateway enforces an allowlist: give it a policy with that mode"
            )
        self.policy: Mapping[str, Any] = dict(policy)

    def open(self) -> None:
        """Starts what it owns."""

    def close(self) -> None:
        """Stops what it owns. Closing it again does nothing."""

    def validate(self) -> None:
        """Raises when it is not ready for one more program, which is not started then."""

    @property
    def mounts(self) -> Sequence[Mount]:
        """What programs must see, above all the proxy's socket."""
        return ()

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for programs."""
        return {}

    @property
    def proxy_socket(self) -> str | os.PathLike[str] | None:
        """The path of the proxy's Unix socket on the host."""
        return None

    @property
    def proxy_mount_path(self) -> str | os.PathLike[str] | None:
        """The path of that socket as programs see it."""
        return None

    @property
    def client_network(self) -> str | None:
        """The container network that only programs of the sandbox are on."""
        return None

    def __enter__(self) -> Gateway:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
