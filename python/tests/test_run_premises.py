"""Workspaces and sandboxes of runs, and the tools that work in them."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from premises import WRITABLE, needs_bubblewrap, unrestricted
from scripted import calls, says
from test_sandbox import Counting

from little_ghost import (
    Agent,
    Binding,
    Configuration,
    ConfigurationError,
    PolicyError,
    Runtime,
    Sandbox,
    Workspace,
    tool,
)
from little_ghost.sandboxes import Unrestricted
from little_ghost.tools import ExclusiveFilesystem, Filesystem, Shell


def runtime(provider: Any, **settings: Any) -> Runtime:
    return Runtime(provider.runtime().settings, **settings)


@tool
def look() -> str:
    """Look."""
    return "seen"


def results(provider: Any) -> list[str]:
    """What the model read of tools."""
    messages = provider.journal()[-1]["body"]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def temporary(said: list[Path], **paths: str) -> Any:
    def make() -> Workspace:
        root = Path(tempfile.mkdtemp())
        said.append(root)
        return Workspace(root, paths, teardown=lambda workspace: shutil.rmtree(workspace.root))

    return make


FILES = calls(
    ("write_file", {"path": "notes.md", "content": "one"}),
    ("replace_in_file", {"path": "notes.md", "old_text": "one", "new_text": "two"}),
)
READ = calls(
    ("read_file", {"path": "notes.md"}),
    ("list_files", {}),
    ("read_file", {"path": "/etc/passwd"}),
    ("read_file", {"path": "workspace://nothing/x"}),
)


def test_a_run_owns_what_is_declared(scenario: Any) -> None:
    said: list[Path] = []
    provider = scenario(FILES, READ, says("ok"))
    sandbox = {"provider": "unrestricted", **WRITABLE}
    made = runtime(provider, workspace=temporary(said), sandbox=sandbox)
    run = Agent(runtime=made, tools=[ExclusiveFilesystem]).ask("x")
    assert run.completed, run.error
    read, listed, refused, unknown = results(provider)[2:]
    assert (read, listed) == ("two", "notes.md")
    assert "absolute" in refused.lower() and "unexpectedly" in unknown
    assert run.workspace is not None and run.workspace.root == said[0]
    assert not said[0].exists()
    again = scenario(says("ok"))
    Agent(runtime=runtime(again, workspace=temporary(said), sandbox=sandbox)).ask("x")
    assert len(set(said)) == 2


async def test_a_run_of_coroutines_owns_what_is_declared(scenario: Any) -> None:
    said: list[str] = []
    root = Path(tempfile.mkdtemp())

    async def setup() -> None:
        said.append("setup")

    async def teardown(workspace: Workspace, run: Any) -> None:
        said.append(f"teardown {run.invocation.message.text}")
        shutil.rmtree(workspace.root)

    async def make(invocation: Any) -> Workspace:
        said.append(f"made for {invocation.message.text}")
        return Workspace(root, setup=setup, teardown=teardown)

    provider = scenario(FILES, READ, says("ok"))
    made = runtime(provider, workspace=make, sandbox={"provider": "unrestricted", **WRITABLE})
    run = await Agent(runtime=made, tools=[ExclusiveFilesystem]).ask_async("x")
    assert run.completed, run.error
    assert results(provider)[2] == "two"
    assert said == ["made for x", "setup", "teardown x"]


def test_what_is_given_stays_the_callers(scenario: Any, tmp_path: Path) -> None:
    said: list[str] = []
    with Workspace(tmp_path, teardown=lambda: said.append("torn down")) as workspace:
        sandbox = Unrestricted(workspace, WRITABLE)
        provider = scenario(FILES, says("ok"))
        agent = provider.agent(tools=[ExclusiveFilesystem], sandbox=sandbox)
        run = agent.ask("x")
        assert run.completed and run.sandbox is sandbox and run.workspace is workspace
        assert (tmp_path / "notes.md").read_text() == "two"
        assert said == []
    assert said == ["torn down"]


def test_a_given_sandbox_brings_its_workspace(scenario: Any, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "new")
    agent = scenario(says("ok")).agent(sandbox=Unrestricted(workspace))
    assert agent.ask("x").completed and (tmp_path / "new").is_dir()


def test_an_agents_own_sandbox_wins(scenario: Any, tmp_path: Path) -> None:
    class Reader(Agent):
        tools = [Filesystem]
        sandbox = {"provider": "unrestricted", "files": {"root": "read_only"}}
        workspace = {"provider": "directory", "root": tmp_path}

    provider = scenario(says("ok"))
    settings = {"provider": "unrestricted", **WRITABLE}
    run = Reader(runtime=runtime(provider, sandbox=settings)).ask("x")
    assert run.completed, run.error
    offered = [one["function"]["name"] for one in provider.journal()[0]["body"]["tools"]]
    assert offered == ["read_file", "list_files"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_participant_has_a_sandbox_of_its_own(
    scenario: Any, tmp_path: Path, asynchronous: bool
) -> None:
    said: list[Path] = []

    class Inner(Agent):
        model = "scripted:scripted-model"
        tools = [Filesystem]
        workspace = staticmethod(temporary(said))
        sandbox = {"provider": "unrestricted", **WRITABLE}

    provider = scenario(
        calls(("inner", {"input": "Write"})),
        calls(("write_file", {"path": "inner.md", "content": "one"})),
        says("written"),
        calls(("list_files", {})),
        says("ok"),
    )
    outer = Agent(
        runtime=runtime(provider, root=tmp_path),
        tools=[Inner.as_tool(name="inner", description="Asks."), Filesystem],
    )
    run = await outer.ask_async("x") if asynchronous else outer.ask("x")
    assert run.completed, run.error
    assert results(provider) == ["written", ""]
    assert len(said) == 1 and not said[0].exists() and list(tmp_path.iterdir()) == []


def test_nothing_is_declared(scenario: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("two")
    seen: list[Any] = []

    def tools(binding: Binding) -> list[Any]:
        seen.append((binding.sandbox, binding.workspace))
        return [Filesystem]

    provider = scenario(READ, says("ok"))
    run = Agent(runtime=runtime(provider, root=tmp_path), tools=tools).ask("x")
    assert run.completed, run.error
    assert results(provider)[0] == "two"
    assert seen == [(run.sandbox, run.workspace)]
    assert run.workspace is not None and run.workspace.root == tmp_path
    plain = scenario(says("ok")).agent().ask("x")
    assert plain.sandbox is None and plain.workspace is None


def test_declarations_that_cannot_work(scenario: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="sandbox"):
        Configuration(sandbox=1)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="workspace"):
        Agent(workspace=1)  # type: ignore[arg-type]
    for declared, kind in (
        ("moon", "DependencyError"),
        ({"provider": "unrestricted", "policy": {}, "files": {}}, "PolicyError"),
        ({"provider": "unrestricted", "network": "none"}, "CapabilityError"),
        (lambda: 1, "ConfigurationError"),
    ):
        run = scenario(says("ok")).agent(sandbox=declared).ask("x")
        assert run.failed and type(run.error).__name__ == kind


def test_a_failed_opening_closes_what_was_open(scenario: Any) -> None:
    said: list[Path] = []
    run = scenario().agent(workspace=temporary(said), sandbox="moon").ask("x")
    assert run.failed and not said[0].exists()


def test_providers_of_the_application(scenario: Any, tmp_path: Path) -> None:
    Sandbox.register_provider("counting", Counting)
    Workspace.register_provider("fixed", lambda name: Workspace(tmp_path / name))
    provider = scenario(calls(("shell", {"command": ["sh", "-c", "pwd"]})), says("ok"))
    agent = provider.agent(
        tools=[Shell],
        workspace={"provider": "fixed", "name": "here"},
        sandbox={"provider": "counting", "files": {"root": "read_write"}},
    )
    run = agent.ask("x")
    assert run.completed, run.error
    assert json.loads(results(provider)[0]) == {
        "stdout": f"{tmp_path / 'here'}\n",
        "stderr": "",
        "exit_status": 0,
        "success": True,
    }
    assert isinstance(run.sandbox, Counting) and run.sandbox.started == 1
    assert Sandbox.probe("counting").available


def test_tools_can_be_tried_without_a_model(tmp_path: Path) -> None:
    with unrestricted(tmp_path) as sandbox:
        binding = Binding(sandbox=sandbox)
        (shell,) = binding.build(Shell)
        missing = json.loads(shell.execute({"command": ["nowhere-to-be-found"]}).value)
        assert missing["exit_status"] == 127
        assert shell.execute({"command": []}).status == "error"
        killed = json.loads(shell.execute({"command": ["sh", "-c", "kill -9 $$"]}).value)
        assert killed["exit_status"] is None and killed["success"] is None
        assert [one.name for one in Filesystem.tools(binding)][2:] == [
            "write_file",
            "replace_in_file",
        ]
        narrow = binding.replace(sandbox=sandbox.scope(files={"root": "read_only"}))
        assert len(Filesystem.tools(narrow)) == 2 and narrow.workspace is sandbox.workspace
    with pytest.raises(ConfigurationError):
        Filesystem.tools(Binding())


@needs_bubblewrap
def test_a_model_works_in_namespaces(scenario: Any, tmp_path: Path) -> None:
    provider = scenario(
        calls(("shell", {"command": ["sh", "-c", "echo hi > a; cat a; ls /home; id -u"]})),
        says("ok"),
    )
    agent = provider.agent(
        tools=[Shell],
        workspace={"provider": "directory", "root": tmp_path},
        sandbox={"provider": "native", **WRITABLE, "network": "none"},
    )
    run = agent.ask("x")
    assert run.completed, run.error
    report = json.loads(results(provider)[0])
    assert report["stdout"].startswith("hi\n") and "/home" in report["stderr"]


def test_a_policy_may_not_be_said_twice() -> None:
    from little_ghost.premises import split_policy

    assert split_policy({"files": {}, "uid": 1}) == {"policy": {"files": {}}, "uid": 1}
    with pytest.raises(PolicyError):
        split_policy({"files": {}, "policy": {}})
