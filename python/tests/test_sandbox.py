"""Sandboxes: policies, files, scopes, providers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from premises import WRITABLE, unrestricted

from little_ghost import (
    CapabilityError,
    DependencyError,
    PolicyError,
    Sandbox,
    ToolError,
    UnsupportedPlatformError,
    Workspace,
)
from little_ghost.sandbox import (
    Capabilities,
    EnvironmentPolicy,
    Limits,
    NetworkPolicy,
    Policy,
    ProcessSession,
)
from little_ghost.sandboxes import Native, Seatbelt, Unrestricted


def test_policies_have_defaults_and_are_read_from_dicts() -> None:
    policy = Policy()
    assert policy.files == {"root": "read_only"}
    assert (policy.root_filesystem, policy.network, policy.writable) == ("isolated", None, False)
    read = Policy.of(
        {
            "files": {"root": "read_write"},
            "environment": {"inherit": True, "set": {"LANG": "C"}},
            "network": {"mode": "allowlist", "allow": ["B.example:443", "a.example:443"]},
        }
    )
    assert read.writable
    assert read.environment == EnvironmentPolicy(inherit=True, values={"LANG": "C"})
    assert read.network == NetworkPolicy("allowlist", ["a.example:443", "b.example:443"])
    assert Policy.of(read) is read
    assert Policy(environment={"A": "1"}).environment.values == {"A": "1"}  # type: ignore[arg-type]


def test_unusable_policies_are_refused() -> None:
    for unusable in (
        {"weather": 1},
        {"files": {"root": "write"}},
        {"root_filesystem": "none"},
        {"network": "sometimes"},
        {"network": {"allow": ["a:1"]}},
        {"network": {"mode": "allowlist"}},
        {"network": {"mode": "none", "allow": ["a:1"]}},
        {"network": 1},
        {"environment": {"A": []}},
        "root",
    ):
        with pytest.raises(PolicyError):
            Policy.of(unusable)


def test_secrets_are_not_shown() -> None:
    policy = Policy.of({"environment": {"TOKEN": "hunter2"}})
    assert "hunter2" not in repr(policy)


def test_limits_are_positive() -> None:
    assert Limits().to_dict()["list_entries"] == 10_000
    assert Limits.of({"read_bytes": 5}) == Limits(read_bytes=5)
    for unusable in ({"read_bytes": 0}, {"weather": 1}):
        with pytest.raises(ValueError):
            Limits.of(unusable)


def test_capabilities_know_short_names() -> None:
    capabilities = Capabilities(["read", "execute"], ["none"], "namespace")
    assert capabilities.features == {"filesystem_read", "process_execute"}
    assert capabilities.supports("read") and capabilities.supports("filesystem_read")
    assert capabilities.supports("network", "none") and not capabilities.supports("write")
    assert not capabilities.supports("network", "inherit") and not capabilities.supports("fly")
    both = capabilities.intersect(Capabilities(["read"]))
    assert (both.features, both.isolation) == ({"filesystem_read"}, "namespace")
    with pytest.raises(ValueError):
        Capabilities(["fly"])


def test_files_stay_within_the_policy(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with unrestricted(
        tmp_path,
        {"files": {"root": "read_write", "skills": "read_only"}},
        paths={"skills": "skills"},
    ) as sandbox:
        assert "5 bytes" in sandbox.write("a.txt", "hello")
        assert sandbox.read("a.txt") == "hello"
        sandbox.replace("a.txt", "hello", r"\0 \1 $&")
        assert sandbox.read("a.txt") == r"\0 \1 $&"
        assert sandbox.list() == "a.txt\nskills/"
        (sandbox.workspace.root / "link").symlink_to(tmp_path / "secret")
        for path in ("link", "../secret", str(tmp_path / "secret"), "missing", ""):
            with pytest.raises(ToolError) as caught:
                sandbox.read(path)
            assert str(sandbox.workspace.root) not in str(caught.value)
        for path in ("workspace://skills/a", "skills/a", "none/a"):
            with pytest.raises(ToolError):
                sandbox.write(path, "x")
        with pytest.raises(KeyError):
            sandbox.read("workspace://nothing/a")
        assert sandbox.allows("write", "a.txt") and not sandbox.allows("write", "skills/a")
        assert sandbox.writable


async def test_files_of_coroutines(tmp_path: Path) -> None:
    async with Workspace(tmp_path) as workspace, Unrestricted(workspace, WRITABLE) as sandbox:
        await sandbox.write_async("a", "one")
        await sandbox.replace_async("a", "one", "two")
        assert await sandbox.read_async("a") == "two"
        assert await sandbox.list_async() == "a"


def test_limits_bound_files(tmp_path: Path) -> None:
    with unrestricted(tmp_path, limits={"read_bytes": 4, "write_bytes": 6}) as sandbox:
        sandbox.write("a", "123456")
        with pytest.raises(ToolError):
            sandbox.read("a")
        with pytest.raises(ToolError):
            sandbox.write("a", "1234567")


def test_scopes_only_narrow(tmp_path: Path) -> None:
    profiles: dict[str, Any] = {
        "look": {"files": {"root": "read_only"}},
        "made": lambda policy: {"files": list(policy.files), "capabilities": ["filesystem_read"]},
        "odd": {"weather": 1},
    }
    with unrestricted(tmp_path, profiles=profiles) as sandbox:
        scope = sandbox.scope(files={"root": "read_only"})
        assert not scope.writable and scope.supports("read")
        assert scope.workspace is sandbox.workspace and scope.limits is sandbox.limits
        with pytest.raises(ToolError):
            scope.write("a", "x")
        with pytest.raises(CapabilityError):
            scope.scope(files={"root": "read_write"})
        with pytest.raises(CapabilityError):
            sandbox.scope(files=["elsewhere"])
        quiet = scope.scope(capabilities=["filesystem_list"])
        with pytest.raises(ToolError, match="filesystem_read"):
            quiet.read("a")
        with pytest.raises(ToolError, match="process_execute"):
            quiet.execute("true", timeout=5)
        assert not sandbox.scope("look").writable
        assert sandbox.scope("made").capabilities.features == {"filesystem_read"}
        with pytest.raises(PolicyError, match="weather"):
            sandbox.scope("odd")
        with pytest.raises(PolicyError, match="unheard"):
            sandbox.scope("unheard")
        with pytest.raises(ValueError, match="alone"):
            sandbox.scope("look", network=False)


def test_what_cannot_be_enforced_is_refused(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for policy in ({"network": "none"}, {"network": {"mode": "allowlist", "allow": ["a:443"]}}):
        with pytest.raises(CapabilityError):
            Unrestricted(workspace, policy)
    with pytest.raises(PolicyError):
        Unrestricted(workspace, {"files": {"elsewhere": "read_only"}})
    with pytest.raises(TypeError, match="Workspace"):
        Unrestricted(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedPlatformError):
        Native(workspace, platform="plan9")
    assert Unrestricted(workspace).effective_policy.root_filesystem == "read_write"
    assert Seatbelt(workspace, platform="macos").capabilities.isolation == "seatbelt"


def test_sandboxes_are_known_by_name() -> None:
    probe = Sandbox.probe("unrestricted")
    assert probe.available and probe.reason is None and probe.capabilities.isolation == "none"
    assert not Sandbox.probe("native", platform="plan9").available
    missing = Sandbox.probe("bubblewrap", bubblewrap="/nowhere/bwrap")
    assert not missing.available and "/nowhere/bwrap" in (missing.reason or "")
    with pytest.raises(DependencyError, match="moon"):
        Sandbox.probe("moon")
    assert Sandbox.resolve_provider("unrestricted") is Unrestricted
    with pytest.raises(DependencyError):
        Sandbox.resolve_provider("moon")


class Counting(Sandbox):
    """Runs programs without isolation, and counts them."""

    def __init__(self, workspace: Workspace, **options: Any) -> None:
        super().__init__(workspace, **options)
        self.started = 0
        self._host = Unrestricted(workspace)

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(isolation="counting")

    def start_program(self, command: Any, *, context: Any = None, **options: Any) -> ProcessSession:
        self.started += 1
        return self._host.start_program(command, context=context, **options)


def test_a_sandbox_of_the_application(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace, Counting(workspace, policy=WRITABLE) as sandbox:
        sandbox.write("a", "hello")
        left = sandbox.execute("cat a; exit 3", timeout=30)
        assert (left.stdout, left.exit_code, left.success) == ("hello", 3, False)
        assert sandbox.execute_program(["true"], timeout=30).success
        assert sandbox.started == 2
        cut = sandbox.execute("echo 123456789", timeout=30, max_output_bytes=4)
        assert cut.stdout == "1234\n[output truncated at 4 bytes]\n"
        with pytest.raises(ToolError):
            sandbox.execute("sleep 30", timeout=0.1)
        scope = sandbox.scope(files={"root": "read_only"})
        with pytest.raises(ToolError):
            scope.write("a", "x")
        with pytest.raises(CapabilityError):
            scope.execute("true", timeout=30)
        assert sandbox.scope().execute("true", timeout=30).success


async def test_a_sandbox_of_the_application_in_coroutines(tmp_path: Path) -> None:
    async with Workspace(tmp_path) as workspace, Counting(workspace) as sandbox:
        assert (await sandbox.execute_async("echo hi", timeout=30)).stdout == "hi\n"
