"""Sandboxes that the engine has itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from .._native import Sandbox as NativeSandbox
from ..job import answer, answer_async
from .capabilities import Capabilities
from .engine_programs import EnginePrograms
from .limits import Limits
from .network_policy import NetworkPolicy
from .policy import Policy
from .sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..network.attached import Attached
    from ..run import Run
    from ..workspace import Workspace
    from .wrapping import Wrapping


class EngineSandbox(EnginePrograms, Sandbox):
    """What those have in common."""

    _provider: ClassVar[str]

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy | Mapping[str, Any] | None = None,
        *,
        profiles: Mapping[str, Mapping[str, Any] | Callable[..., Mapping[str, Any]]] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        **own: Any,
    ) -> None:
        Sandbox.__init__(self, workspace, policy, profiles=profiles, limits=limits)
        self._wrapping = _wrapping(own.get("command_wrapper"), self)
        if self._wrapping is not None:
            own["command_wrapper"] = self._wrapping.declared
        given = {name: _plain(value) for name, value in own.items() if value is not None}
        self._attached = _attached(self.policy.network)
        asked = self.policy._declared()
        if self._attached is not None:
            asked["network"] = self._attached.declared
        declared = {"policy": asked, "limits": self.limits.to_dict()}
        native = NativeSandbox.build(self._provider, workspace._native, {**declared, **given})
        EnginePrograms.__init__(self, native)
        info = native.info()
        self._capabilities = Capabilities.from_dict(info["capabilities"])
        self._effective = _effective(info["effective_policy"], self.policy)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self._capabilities

    @property
    def effective_policy(self) -> Policy:
        """What it enforces."""
        return self._effective

    def open(self, run: Run | None = None) -> Self:
        """Makes it ready; the workspace is open by then.

        Raises:
            DependencyError: Something that it needs is missing, or the kernel refuses it.
        """
        self._attend()
        try:
            answer(self._native.perform({"op": "open"}))
        except BaseException:
            self._dismiss()
            raise
        return self

    async def open_async(self, run: Run | None = None) -> Self:
        """`open` for asyncio."""
        self._attend()
        try:
            await answer_async(self._native.perform({"op": "open"}))
        except BaseException:
            self._dismiss()
            raise
        return self

    def close(self) -> None:
        """Releases what it holds. Runs close it before its workspace."""
        try:
            answer(self._native.perform({"op": "close"}))
        finally:
            self._dismiss()

    async def close_async(self) -> None:
        """`close` for asyncio."""
        try:
            await answer_async(self._native.perform({"op": "close"}))
        finally:
            self._dismiss()

    def _attend(self) -> None:
        for answering in (self._attached, self._wrapping):
            if answering is not None:
                answering.start()

    def _dismiss(self) -> None:
        for answering in (self._attached, self._wrapping):
            if answering is not None:
                answering.stop()

    @property
    def _files(self) -> NativeSandbox:
        return self._native

    @property
    def _is_engine(self) -> bool:
        return True


def _attached(network: NetworkPolicy | None) -> Attached | None:
    """Objects of the application in the policy, as far as there are some."""
    if network is None or (network.gateway is None and network.authorizer is None):
        return None
    from ..network.attached import Attached

    return Attached(network)


def _wrapping(wrapper: Any, sandbox: Sandbox) -> Wrapping | None:
    """A command wrapper that is code; words are the engine's to put in front."""
    if not callable(wrapper):
        return None
    from .wrapping import Wrapping

    return Wrapping(wrapper, sandbox)


def _effective(value: dict[str, Any], asked: Policy) -> Policy:
    # Objects of the application are known by number there: what was asked has them.
    network = value["network"]
    own = asked.network
    if network is not None and own is not None and network["mode"] == own.mode:
        network = own
    walls = frozenset(value.pop("walls", ()))
    return replace(Policy.of({**value, "network": network}), walls=walls)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value
