"""Network objects of the application, while a sandbox uses them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .. import _native
from .answering import Answering, keys
from .engine_gateway import EngineGateway
from .envoy_gateway import _decided
from .gateway import Gateway

if TYPE_CHECKING:
    from ..sandbox.network_policy import NetworkPolicy


class Attached:
    """Has the engine know an authorizer and a gateway by number, and answers for them."""

    __slots__ = ("_answering", "_engine", "_kept", "declared")

    def __init__(self, policy: NetworkPolicy) -> None:
        self._answering: list[Answering] = []
        self._kept: list[Any] = []
        self._engine: EngineGateway | None = None
        told: dict[str, Any] = policy._declared()
        authorizer, gateway = policy.authorizer, policy.gateway
        if authorizer is not None and not isinstance(authorizer, Mapping):
            decide: Callable[..., Any] = authorizer
            told["authorizer"] = self._know(
                _native.NetworkAuthorizer, lambda asked: _decided(decide, asked["request"])
            )
        if isinstance(gateway, EngineGateway):
            # It is known already, by the number that the policy tells.
            self._engine = gateway
        elif isinstance(gateway, Gateway):
            own = gateway
            told["gateway"] = self._know(
                _native.NetworkGateway.own, lambda asked: _operated(own, asked["op"])
            )
        self.declared = told

    def start(self) -> None:
        """Begins to answer."""
        for answering in self._answering:
            answering.start(self)
        if self._engine is not None:
            self._engine._attach(self)

    def stop(self) -> None:
        """Answers no more."""
        for answering in self._answering:
            answering.stop(self)
        if self._engine is not None:
            self._engine._detach(self)

    def _know(
        self, register: Callable[[int, Any], Any], code: Callable[[dict[str, Any]], Any]
    ) -> dict[str, int]:
        answering = Answering(code)
        key = next(keys)
        self._answering.append(answering)
        self._kept.append(register(key, answering.questions))
        return {"host": key}


def _operated(gateway: Gateway, operation: str) -> dict[str, Any] | None:
    getattr(gateway, operation)()
    if operation == "close":
        return None
    described = {
        "mounts": [
            {"source": os.fspath(mount.source), "target": mount.target} for mount in gateway.mounts
        ],
        "environment": dict(gateway.environment),
        "client_network": gateway.client_network,
    }
    for name in ("proxy_socket", "proxy_mount_path"):
        path = getattr(gateway, name)
        described[name] = None if path is None else os.fspath(path)
    return described
