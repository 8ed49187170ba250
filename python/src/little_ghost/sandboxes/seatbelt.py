"""The sandbox of macOS."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..sandbox.engine_sandbox import EngineSandbox

if TYPE_CHECKING:
    from ..sandbox.limits import Limits
    from ..sandbox.policy import Policy
    from ..workspace import Workspace


class Seatbelt(EngineSandbox):
    """Runs each program under a profile of macOS that denies what the policy does not grant.

    macOS owns no process tree: a child that leaves its process group may outlive it.
    """

    _provider = "seatbelt"

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy | Mapping[str, Any] | None = None,
        *,
        profiles: Mapping[str, Mapping[str, Any] | Callable[..., Mapping[str, Any]]] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        executable: str | os.PathLike[str] | None = None,
        platform: str | None = None,
    ) -> None:
        """See `Sandbox` for the first four.

        Args:
            workspace: The workspace.
            policy: What to enforce.
            profiles: Named scopes.
            limits: Bounds of file operations and output.
            executable: The program; `/usr/bin/sandbox-exec` by default.
            platform: What to take this system for.

        Raises:
            PolicyError, CapabilityError: It cannot work like this.
        """
        super().__init__(
            workspace,
            policy,
            profiles=profiles,
            limits=limits,
            executable=None if executable is None else os.fspath(executable),
            platform=platform,
        )
