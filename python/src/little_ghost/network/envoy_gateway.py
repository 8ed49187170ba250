"""A gateway that runs Envoy."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from .. import _native
from ..calling import settle
from .answering import Answering, keys
from .decision import Decision
from .engine_gateway import EngineGateway
from .gateway import Mount
from .request import Request

Authorizer = Callable[[Request], "Decision | Awaitable[Decision]"]


class EnvoyGateway(EngineGateway):
    """Runs one Envoy for as long as it is open, as a process or in a container of Docker.

    Without inspection it sees where connections go, not what goes through them. With
    `"inspection": "http"` it ends TLS with certificates of an authority that is made for this
    gateway and vouches for the allowed hosts only, has the authorizer decide about each request,
    and opens TLS again to the server, which must prove who it is. Programs are told to trust the
    authority by variables; those that pin certificates or have a store of their own may not work.
    """

    def __init__(
        self,
        policy: Mapping[str, Any],
        *,
        authorizer: Authorizer | None = None,
        runtime: Literal["auto", "native", "docker"] = "auto",
        envoy: str | os.PathLike[str] = "envoy",
        docker: str | os.PathLike[str] = "docker",
        image: str | None = None,
        pull: Literal["if_missing", "always", "never"] = "if_missing",
        dns: Sequence[str] = (),
    ) -> None:
        """Describes the gateway; `open` starts it.

        Args:
            policy: `{"mode": "allowlist", "allow": ["host:port"], ...}`, with DNS names.
            authorizer: Decides about inspected requests, in threads of its own, several at once. It
                may be a coroutine function. Its failures, and ten seconds without an answer, deny.
            runtime: `"auto"` takes Docker when there is no Envoy and there is an image.
            envoy: A path, or a name on the PATH.
            docker: A path, or a name on the PATH.
            image: What Docker runs, pinned by digest.
            pull: When the image is fetched.
            dns: Addresses of servers to resolve names with, in place of the system's.

        Raises:
            PolicyError: Envoy cannot enforce the policy.
        """
        declared: dict[str, Any] = {"gateway": "envoy"}
        answering = None
        if authorizer is not None:
            decide = authorizer
            answering = Answering(lambda question: _decided(decide, question["request"]))
            key = next(keys)
            self._registered = _native.NetworkAuthorizer(key, answering.questions)
            declared["authorizer"] = {"host": key}
        options = {
            "runtime": runtime,
            "envoy": os.fspath(envoy),
            "docker": os.fspath(docker),
            "image": image,
            "pull": pull,
            "dns": list(dns),
        }
        self.runtime = runtime
        super().__init__(policy, declared, options, answering=answering)

    def open(self) -> None:
        """Starts Envoy and waits until it denies what it must.

        Raises:
            DependencyError: It cannot be started.
        """
        super().open()

    def close(self) -> None:
        """Stops Envoy, and removes its sockets, keys and container."""
        super().close()

    def validate(self) -> None:
        """Raises `DependencyError` unless Envoy lives and denies."""
        super().validate()

    @property
    def mounts(self) -> Sequence[Mount]:
        """The directory with the proxy's socket. Empty before `open`."""
        return super().mounts

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that name the proxy and, with inspection, what to trust."""
        return super().environment

    @property
    def proxy_socket(self) -> str | None:
        """The path of the proxy's Unix socket on the host. None before `open`."""
        return super().proxy_socket


def _decided(authorizer: Authorizer, request: dict[str, Any]) -> dict[str, Any]:
    decision = settle(authorizer(Request(**request)), "it runs in no event loop")
    if not isinstance(decision, Decision):
        raise TypeError(f"a network authorizer returns a Decision, got {type(decision).__name__}")
    return decision.to_dict()
