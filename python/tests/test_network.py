"""Network gateways of sandboxes."""

from __future__ import annotations

import os
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

import little_ghost
from little_ghost import Workspace
from little_ghost.network import Decision, EnvoyGateway, ExternalGateway, Gateway, Mount, Request

ALLOWLIST = {"mode": "allowlist", "allow": ["api.example.com:443"]}


def test_decisions_are_normalized() -> None:
    allowed = Decision.allow(
        set_headers={"Authorization": "Bearer hush"}, remove_headers=["X-Trace"]
    )
    assert allowed.set_headers == {"authorization": "Bearer hush"}
    assert allowed.remove_headers == ("x-trace",)
    assert "hush" not in repr(allowed)
    assert Decision.deny() == Decision(False, 403)
    assert Decision.deny(status=451, reason="not here").reason == "not here"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Decision.deny(status=302),
        lambda: Decision.deny(reason="two\nlines"),
        lambda: Decision(True, 500),
        lambda: Decision(False, 403, set_headers={"a": "b"}),
        lambda: Decision.allow(set_headers={"Host": "evil.example"}),
        lambda: Decision.allow(set_headers={"a": "b\r\nc: d"}),
    ],
)
def test_impossible_decisions_are_refused(make) -> None:
    with pytest.raises(ValueError):
        make()


def test_requests_are_normalized() -> None:
    request = Request("get", "HTTPS", "API.example.com", 443, "/a?token=hush", {"X-A": "hush"})
    assert (request.method, request.scheme, request.host) == ("GET", "https", "api.example.com")
    assert request.headers == {"x-a": "hush"}
    assert "hush" not in repr(request)
    with pytest.raises(ValueError):
        Request("GET", "https", "a", 0, "/")


def test_gateways_enforce_allowlists() -> None:
    with Gateway(ALLOWLIST) as gateway:
        assert (gateway.mounts, gateway.environment) == ((), {})
    with pytest.raises(little_ghost.PolicyError):
        Gateway({"mode": "none"})
    with pytest.raises(little_ghost.PolicyError):
        EnvoyGateway({"mode": "allowlist", "allow": ["10.0.0.1:443"]})
    with pytest.raises(little_ghost.PolicyError):
        EnvoyGateway({**ALLOWLIST, "inspection": "http"})


def test_a_missing_envoy_is_named() -> None:
    gateway = EnvoyGateway(ALLOWLIST, envoy="/nowhere/envoy", runtime="native")
    with pytest.raises(little_ghost.DependencyError, match="/nowhere/envoy"):
        gateway.open()


def test_envoy_lets_allowed_destinations_through() -> None:
    envoy = os.environ.get("LITTLE_GHOST_ENVOY")
    if envoy is None:
        pytest.skip("LITTLE_GHOST_ENVOY names no Envoy; script/install/envoy fetches one")
    with socket.create_server(("127.0.0.1", 0)) as server:
        allowed = f"localhost:{server.getsockname()[1]}"
        with EnvoyGateway({"mode": "allowlist", "allow": [allowed]}, envoy=envoy) as gateway:
            gateway.validate()
            assert gateway.environment["https_proxy"] == "http://127.0.0.1:3128"
            path = Path(gateway.proxy_socket or "")
            assert _status(path, "other.example:443") == "403"
            assert _status(path, allowed) == "200"
        gateway.close()
        assert not path.parent.parent.exists()
        with pytest.raises(little_ghost.DependencyError):
            gateway.validate()


def _status(path: Path, destination: str) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(path))
        client.sendall(f"CONNECT {destination} HTTP/1.1\r\nhost: {destination}\r\n\r\n".encode())
        return client.recv(64).split()[1].decode()


def test_authorizers_decide_in_threads_of_their_own() -> None:
    envoy = os.environ.get("LITTLE_GHOST_ENVOY")
    if envoy is None:
        pytest.skip("LITTLE_GHOST_ENVOY names no Envoy; script/install/envoy fetches one")
    seen: list[Request] = []

    async def authorize(request: Request) -> Decision:
        seen.append(request)
        return Decision.deny(status=451, reason="not here")

    policy = {**ALLOWLIST, "inspection": "http"}
    with EnvoyGateway(policy, authorizer=authorize, envoy=envoy) as gateway:
        path = Path(gateway.proxy_socket or "")
        context = ssl.create_default_context(cafile=str(path.with_name("authority.pem")))
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(20)
            plain.connect(str(path))
            plain.sendall(
                b"CONNECT api.example.com:443 HTTP/1.1\r\nhost: api.example.com:443\r\n\r\n"
            )
            assert plain.recv(4096).startswith(b"HTTP/1.1 200")
            with context.wrap_socket(plain, server_hostname="api.example.com") as client:
                client.sendall(
                    b"GET /a?b HTTP/1.1\r\nhost: api.example.com\r\nconnection: close\r\n\r\n"
                )
                answer = b"".join(iter(lambda: client.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 451") and b"not here" in answer
    assert [(request.method, request.path) for request in seen] == [("GET", "/a?b")]


def external(workspace: Workspace, **options: Any) -> ExternalGateway:
    socket_path = workspace.root / "proxy" / "proxy.sock"
    given = {"runtime_paths": ["proxy"], "proxy_mount_path": socket_path, **options}
    return ExternalGateway(ALLOWLIST, workspace=workspace, **given)


def test_a_proxy_that_runs_already(tmp_path: Path) -> None:
    asked: list[str] = []

    def check() -> object:
        asked.append("checked")
        return object()

    with Workspace(tmp_path, {"proxy": "proxy"}) as workspace:
        made = external(workspace, environment={"PROXY_TOKEN": "t"}, validate=check)
        assert made.runtime_paths == ("proxy",) and made.mounts == ()
        with pytest.raises(little_ghost.DependencyError, match="not open"):
            made.validate()
        with made as gateway:
            folder = str(workspace.path("proxy"))
            assert list(gateway.mounts) == [Mount(folder, folder)]
            assert gateway.environment == {"PROXY_TOKEN": "t"}
            assert gateway.proxy_mount_path == f"{folder}/proxy.sock"
            made.validate()
            assert asked == ["checked"]
            (tmp_path / "proxy").rename(tmp_path / "moved")
            (tmp_path / "proxy").symlink_to(tmp_path / "moved")
            with pytest.raises(little_ghost.DependencyError, match="replaced"):
                made.validate()
        made.close()
        assert asked == ["checked"] and made.mounts == ()


def test_what_is_checked_may_be_a_coroutine(tmp_path: Path) -> None:
    async def check() -> None:
        raise little_ghost.DependencyError("the proxy is down")

    with (
        Workspace(tmp_path, {"proxy": "proxy"}) as workspace,
        external(workspace, validate=check) as gateway,
        pytest.raises(little_ghost.DependencyError, match="the proxy is down"),
    ):
        gateway.validate()


@pytest.mark.parametrize(
    "options",
    [
        {"runtime_paths": []},
        {"runtime_paths": ["other"]},
        {"proxy_mount_path": "proxy/proxy.sock"},
        {"environment": {"A": 1}},
    ],
)
def test_impossible_external_gateways_are_refused(tmp_path: Path, options: Any) -> None:
    with pytest.raises(little_ghost.PolicyError):
        external(Workspace(tmp_path, {"proxy": "proxy"}), **options)
