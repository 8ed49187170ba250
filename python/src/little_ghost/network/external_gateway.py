"""A gateway that the application runs."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..calling import settle
from .answering import Answering
from .engine_gateway import EngineGateway

if TYPE_CHECKING:
    from ..workspace import Workspace


class ExternalGateway(EngineGateway):
    """Shows a proxy of the application to programs in a sandbox.

    The application owns its policy, credentials, readiness, logs and cleanup, and nothing here
    attests that it enforces anything. What is checked before each program is that its directories
    are still those that were there when it opened, and whatever `validate` asks.

        gateway = ExternalGateway(
            {"mode": "allowlist", "allow": ["api.example.com:443"]},
            workspace=workspace,
            runtime_paths=["proxy"],
            proxy_mount_path=workspace.path("proxy") / "proxy.sock",
        )

    Attributes:
        runtime_paths: Names of the workspace's paths that it uses.
    """

    def __init__(
        self,
        policy: Mapping[str, Any],
        *,
        workspace: Workspace,
        runtime_paths: Iterable[str],
        proxy_mount_path: str | os.PathLike[str],
        environment: Mapping[str, str] | None = None,
        validate: Callable[[], Awaitable[None] | None] | None = None,
    ) -> None:
        """Describes the gateway. The proxy need not be there yet.

        Args:
            policy: `{"mode": "allowlist", "allow": ["host:port"], ...}`: what the proxy lets through.
            workspace: What has the paths.
            runtime_paths: Names of its paths that programs see and tools do not; they are the same
                inside and outside.
            proxy_mount_path: The absolute path of the proxy's Unix socket, in one of them.
            environment: Variables for programs. They win over those that name the proxy's port.
            validate: Called before each program, in a thread of its own, and raises to keep it from
                starting. It may be a coroutine function.

        Raises:
            PolicyError: The policy is no allowlist, the workspace lacks a path, or the socket's path
                is none.
        """
        names = (runtime_paths,) if isinstance(runtime_paths, str) else tuple(runtime_paths)
        self.runtime_paths: tuple[str, ...] = names
        answering = None
        if validate is not None:
            check = validate
            answering = Answering(lambda _question: _checked(check))
        options = {
            "runtime_paths": list(names),
            "proxy_mount_path": os.fspath(proxy_mount_path),
            "environment": dict(environment or {}),
        }
        super().__init__(
            policy,
            {"gateway": "external"},
            options,
            workspace=workspace,
            answering=answering,
            asks=True,
        )

    def open(self) -> None:
        """Remembers which directories its paths are. The workspace is open by then.

        Raises:
            PolicyError: The socket's path is in none of them.
        """
        super().open()

    def close(self) -> None:
        """Forgets them. The proxy stays as it is."""
        super().close()

    def validate(self) -> None:
        """Raises when it is not ready for one more program.

        Raises:
            DependencyError: It is not open, or one of its directories was replaced since.
            Exception: What `validate` raised.
        """
        super().validate()


def _checked(validate: Callable[[], Awaitable[None] | None]) -> None:
    settle(validate(), "it runs in no event loop")
