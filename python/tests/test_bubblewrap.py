"""Programs in namespaces of Linux, for real."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from premises import WRITABLE, isolated, needs_bubblewrap

from little_ghost import CapabilityError, DependencyError, Error, Sandbox, ToolError, Workspace
from little_ghost.network import ExternalGateway, Gateway, Mount
from little_ghost.sandbox.scope import Scope
from little_ghost.sandboxes import Bubblewrap

pytestmark = needs_bubblewrap


def test_programs_see_what_the_policy_grants(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    policy = {
        "files": {"root": "read_write", "source": "read_only"},
        "runtime_paths": {"home": "read_write"},
    }
    paths = {"source": "source", "home": "home"}
    with isolated(tmp_path, policy, paths=paths) as sandbox:
        sandbox.write("a", "hello")
        assert sandbox.execute("cat a", timeout=30).stdout == "hello"
        assert not sandbox.execute(f"cat {tmp_path}/secret", timeout=30).success
        assert not sandbox.execute("touch source/x", timeout=30).success
        assert sandbox.execute("touch home/x written", timeout=30).success
        assert (sandbox.workspace.root / "written").exists()
        assert not sandbox.execute("ls /home", timeout=30).success
        with pytest.raises(ToolError):
            sandbox.read("workspace://home/x")


def test_programs_are_alone(tmp_path: Path) -> None:
    with isolated(tmp_path) as sandbox:
        assert sandbox.capabilities.isolation == "namespace"
        seen = sandbox.execute("ls /proc | grep -c '^[0-9]'", timeout=30)
        assert int(seen.stdout) < 10
        assert not sandbox.execute(f"kill -0 {os.getpid()}", timeout=30).success
        assert sandbox.execute("cat /proc/net/dev | grep -c eth", timeout=30).stdout.strip() == "0"


def test_descendants_end_with_their_program(tmp_path: Path) -> None:
    with isolated(tmp_path) as sandbox:
        line = "setsid sh -c 'while :; do date +%N > tick; sleep 0.05; done' > /dev/null 2>&1 & echo ok"
        assert sandbox.execute(line, timeout=30).stdout == "ok\n"
        tick = sandbox.workspace.root / "tick"
        last = tick.read_text() if tick.exists() else ""
        threading.Event().wait(0.3)
        assert (tick.read_text() if tick.exists() else "") == last


def test_words_in_front_of_programs(tmp_path: Path) -> None:
    with isolated(tmp_path, command_wrapper=["/usr/bin/nice", "-n", "5"]) as sandbox:
        assert sandbox.execute("nice", timeout=30).stdout == "5\n"


def test_a_function_in_front_of_programs(tmp_path: Path) -> None:
    seen: list[Any] = []

    def wrapper(argv: list[str], workspace: Workspace, scope: Scope | None) -> list[str]:
        seen.append((argv[0], workspace, None if scope is None else dict(scope.files)))
        return ["/usr/bin/nice", "-n", "4", *argv]

    with isolated(tmp_path, command_wrapper=wrapper) as sandbox:
        assert sandbox.execute("nice", timeout=30).stdout == "4\n"
        scope = sandbox.scope(files={"root": "read_only"}, network=False)
        assert scope.execute_program(["/usr/bin/nice"], timeout=30).stdout == "4\n"
        bwrap, workspace = "/usr/bin/bwrap", sandbox.workspace
        assert seen == [(bwrap, workspace, None), (bwrap, workspace, {"root": "read_only"})]


def test_a_function_in_front_that_makes_no_command(tmp_path: Path) -> None:
    made: Any = None

    async def wrapper(argv: list[str]) -> Any:
        if made is None:
            raise ToolError("not today")
        return made

    with isolated(tmp_path, command_wrapper=wrapper) as sandbox:
        with pytest.raises(ToolError, match="not today"):
            sandbox.execute("true", timeout=30)
        for made in ("nice", [], [1]):
            with pytest.raises(ValueError, match="a command wrapper must return"):
                sandbox.execute("true", timeout=30)
        sandbox.close()
        with pytest.raises(Error, match="open the sandbox"):
            sandbox.execute("true", timeout=30)


def test_scopes_narrow_programs(tmp_path: Path) -> None:
    with isolated(tmp_path) as sandbox:
        reader = sandbox.scope(files={"root": "read_only"})
        assert not reader.execute("touch x", timeout=30).success
        assert reader.execute("ls", timeout=30).success


def test_what_cannot_be_enforced_is_refused(tmp_path: Path) -> None:
    with isolated(tmp_path) as sandbox, pytest.raises(CapabilityError):
        sandbox.execute("true", timeout=30, allow_subprocesses=False)


async def test_the_native_sandbox_can_be_probed_by_coroutines() -> None:
    probe = await Sandbox.probe_async("native")
    assert probe.available
    assert probe.capabilities.supports("process_tree_ownership")


def test_a_timeout_ends_a_program(tmp_path: Path) -> None:
    with isolated(tmp_path) as sandbox:
        began = time.monotonic()
        with pytest.raises(ToolError):
            sandbox.execute("sleep 60", timeout=0.2)
        assert time.monotonic() - began < 30


class Doorkeeper(Gateway):
    """Answers whatever comes out of a sandbox itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__({"mode": "allowlist", "allow": ["example.com:443"]})
        self.said: list[str] = []
        self._socket = folder / "gateway" / "proxy.sock"

    def open(self) -> None:
        self.said.append("open")
        self._socket.parent.mkdir()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._socket))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # Closed before anybody came.
        with connection:
            connection.sendall(b"heard " + connection.recv(100))

    def validate(self) -> None:
        self.said.append("validate")

    def close(self) -> None:
        self.said.append("close")
        self._listener.close()

    @property
    def mounts(self) -> list[Mount]:
        return [Mount(str(self._socket.parent))]

    @property
    def proxy_socket(self) -> Path:
        return self._socket

    @property
    def proxy_mount_path(self) -> Path:
        return self._socket


def test_a_gateway_of_the_application_is_the_only_way_out(tmp_path: Path) -> None:
    gateway = Doorkeeper(tmp_path)
    network = {**gateway.policy, "gateway": gateway}
    with isolated(tmp_path, {**WRITABLE, "network": network}) as sandbox:
        assert sandbox.effective_policy.network is sandbox.policy.network
        talk = "exec 3<>/dev/tcp/127.0.0.1/3128; echo hello >&3; cat <&3"
        left = sandbox.execute_program(["bash", "-c", talk], timeout=30)
        assert left.stdout == "heard hello\n", left
        direct = "exec 3<>/dev/tcp/192.0.2.1/443"
        assert not sandbox.execute_program(["bash", "-c", direct], timeout=30).success
    assert gateway.said == ["open", "validate", "validate", "close"]


def test_a_closed_sandbox_does_not_wait_for_its_gateway(tmp_path: Path) -> None:
    network = {"mode": "allowlist", "allow": ["example.com:443"], "gateway": Doorkeeper(tmp_path)}
    with isolated(tmp_path, {**WRITABLE, "network": network}) as sandbox:
        pass
    with pytest.raises(Error):
        sandbox.execute_program(["true"], timeout=30)


def test_a_proxy_that_runs_already_is_the_only_way_out(tmp_path: Path) -> None:
    proxy = Doorkeeper(tmp_path)
    proxy.open()
    ready = threading.Event()

    def check() -> None:
        if not ready.is_set():
            raise DependencyError("the proxy is not ready")

    folder = proxy.proxy_socket.parent
    network = {"mode": "allowlist", "allow": ["example.com:443"]}
    with Workspace(tmp_path / "root", {"proxy": folder}) as workspace:
        gateway = ExternalGateway(
            network,
            workspace=workspace,
            runtime_paths=["proxy"],
            proxy_mount_path=proxy.proxy_socket,
            environment={"PROXY_KIND": "doorkeeper"},
            validate=check,
        )
        policy = {
            **WRITABLE,
            "runtime_paths": {"proxy": "read_only"},
            "network": {**network, "gateway": gateway},
        }
        talk = "exec 3<>/dev/tcp/127.0.0.1/3128; echo $PROXY_KIND >&3; cat <&3"
        with Bubblewrap(workspace, policy) as sandbox:
            with pytest.raises(DependencyError, match="the proxy is not ready"):
                sandbox.execute_program(["true"], timeout=30)
            ready.set()
            left = sandbox.execute_program(["bash", "-c", talk], timeout=30)
            assert left.stdout == "heard doorkeeper\n", left
            with pytest.raises(ToolError):
                sandbox.list("workspace://proxy")
        with pytest.raises(Error):
            sandbox.execute_program(["true"], timeout=30)
    proxy.close()
