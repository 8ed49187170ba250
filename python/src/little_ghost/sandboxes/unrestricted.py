"""No isolation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..sandbox.engine_sandbox import EngineSandbox

if TYPE_CHECKING:
    from ..sandbox.limits import Limits
    from ..sandbox.policy import Policy
    from ..workspace import Workspace


class Unrestricted(EngineSandbox):
    """Runs programs with the authority of this process. It is no security boundary.

    It is for commands that the application would run anyway, and for tests. Files that go through it stay within the
    policy, and output is bounded. It refuses the network modes `none` and `allowlist`, which it cannot enforce.
    """

    _provider = "unrestricted"

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy | Mapping[str, Any] | None = None,
        *,
        profiles: Mapping[str, Mapping[str, Any] | Callable[..., Mapping[str, Any]]] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
    ) -> None:
        """See `Sandbox`.

        Raises:
            CapabilityError: The policy asks for what it cannot enforce.
        """
        super().__init__(workspace, policy, profiles=profiles, limits=limits)
