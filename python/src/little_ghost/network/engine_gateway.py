"""What gateways of the engine share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from ..job import answer
from .answering import Answering
from .gateway import Gateway, Mount

if TYPE_CHECKING:
    from ..workspace import Workspace


class EngineGateway(Gateway):
    """A gateway that the engine runs, and that may ask code of the application."""

    def __init__(
        self,
        policy: Mapping[str, Any],
        declared: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        workspace: Workspace | None = None,
        answering: Answering | None = None,
        asks: bool = False,
    ) -> None:
        super().__init__(policy)
        self._answering = answering
        self._native = _native.NetworkGateway.declared(
            id(self),
            {**policy, **declared},
            dict(options),
            None if workspace is None else workspace._native,
            answering.questions if answering is not None and asks else None,
        )

    def open(self) -> None:
        """Makes it ready. The sandbox that it is given to does that too."""
        self._attach(self)
        try:
            answer(self._native.open())
        except BaseException:
            self._detach(self)
            raise

    def close(self) -> None:
        """Gives up what it holds."""
        try:
            answer(self._native.close())
        finally:
            self._detach(self)

    def validate(self) -> None:
        """Raises when it is not ready for one more program."""
        answer(self._native.validate())

    @property
    def mounts(self) -> Sequence[Mount]:
        """The directories that programs see. Empty before `open`."""
        return tuple(Mount(**mount) for mount in self._native.description()["mounts"])

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for programs."""
        found: dict[str, str] = self._native.description()["environment"]
        return found

    @property
    def proxy_socket(self) -> str | None:
        """The path of the proxy's Unix socket on the host, where it is another than inside."""
        found: str | None = self._native.description()["proxy_socket"]
        return found

    @property
    def proxy_mount_path(self) -> str | None:
        """The path of that socket as programs see it."""
        found: str | None = self._native.description()["proxy_mount_path"]
        return found

    def _attach(self, user: object) -> None:
        if self._answering is not None:
            self._answering.start(user)

    def _detach(self, user: object) -> None:
        if self._answering is not None:
            self._answering.stop(user)
