"""Code mode: what agents declare, programs in Python for real, engines of the application."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from premises import needs_bubblewrap
from test_sandbox import Counting

import little_ghost
from little_ghost import (
    Agent,
    CodeMode,
    Configuration,
    ConfigurationError,
    Runtime,
    ToolError,
    tool,
)
from little_ghost.code_mode import (
    Broker,
    Engine,
    ProgramResult,
    PythonEngine,
    SandboxFactory,
    Session,
    default_limits,
    register_engine,
)
from little_ghost.sandbox.capabilities import DEFAULT_FEATURES, Capabilities
from little_ghost.testing import ScriptedModel

UNRESTRICTED = {"sandbox": "unrestricted"}


@tool
def add(a: int, b: int) -> dict[str, int]:
    """Adds."""
    return {"sum": a + b}


@tool
def fail() -> None:
    """Fails."""
    raise ToolError("not today")


def programs(*sources: str) -> ScriptedModel:
    turns: list[Any] = [{"tool": "exec", "input": {"source": source}} for source in sources]
    return ScriptedModel(*turns, {"text": "Done"})


def reports(model: ScriptedModel) -> list[Any]:
    """What the model read of its programs."""
    told = [
        block.content
        for message in model.requests[-1].messages
        for block in message.content
        if type(block).__name__ == "ToolResult"
    ]
    texts = [text if isinstance(text, str) else text[0].text for text in told]
    return [json.loads(text) if text.startswith("{") else text for text in texts]


def test_declarations_are_checked() -> None:
    assert CodeMode.of(True) == CodeMode()
    assert CodeMode.of(None) is None and CodeMode.of(False) is None
    assert CodeMode.of({"engine": "ruby"}) == CodeMode(engine="ruby")
    over = CodeMode(limits={"programs": 1}).over(CodeMode("ruby", limits={"wall_seconds": 1}))
    assert over == CodeMode("ruby", limits={"programs": 1})
    for unusable in (1, {"weather": 1}, {"excluding": "confirm"}, {"limits": 1}, {"engine": 1}):
        with pytest.raises(ConfigurationError):
            CodeMode.of(unusable)
        with pytest.raises(ConfigurationError):
            Agent(code_mode=unusable)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError):
            Configuration(code_mode=unusable)  # type: ignore[typeddict-item]


def test_limits_have_defaults() -> None:
    limits = default_limits("python")
    assert limits["wall_seconds"] == 3_600 and limits["programs"] == 8
    with pytest.raises(ConfigurationError):
        default_limits("latin")


SOURCE = """
sums = tools.parallel(lambda: tools.add(a=1, b=2), lambda: tools.call("add", {"a": 3, "b": 4}))
text([found["sum"] for found in sums])
try:
    tools.fail()
except Exception as error:
    text(str(error))
len(sums)
"""


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_python_programs_call_tools(asynchronous: bool) -> None:
    model = programs(SOURCE)
    agent = Agent(model=model, tools=[add, fail], code_mode=UNRESTRICTED)
    run = await agent.ask_async("x") if asynchronous else agent.ask("x")
    assert run.completed and run.response == "Done", run.error
    (report,) = reports(model)
    assert report["status"] == "completed" and report["value"] == 2
    assert "[3, 7]" in report["output"] and "not today" in report["output"]
    assert [one["name"] for one in model.requests[0].tools] == ["exec", "wait", "stop"]


@needs_bubblewrap
def test_python_programs_run_in_namespaces(tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    model = programs(
        f"import os\n[os.path.exists({str(secret)!r}), os.path.exists('/home'), tools.add(a=1, b=2)]",
        "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=5)",
    )
    run = Agent(model=model, tools=[add], code_mode=True).ask("x")
    assert run.completed, run.error
    first, second = reports(model)
    assert first["value"] == [False, False, {"sum": 3}]
    assert second["status"] == "error"


def test_configuration_and_agents_share_declarations() -> None:
    @tool
    def confirm() -> bool:
        """Confirm."""
        return True

    model = programs("(await tools.add({a: 1, b: 2})).sum")
    runtime = Runtime(code_mode={"engine": "javascript", "sandbox": "unrestricted"})

    class Careful(Agent):
        tools = [add, confirm]
        code_mode = CodeMode(excluding=["confirm"])

    run = Careful(runtime=runtime, model=model).ask("x")
    assert run.completed, run.error
    assert reports(model)[0]["value"] == 3
    assert {one["name"] for one in model.requests[0].tools} == {"exec", "wait", "stop", "confirm"}


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (
            {"engine": "python", "limits": {"wall_second": 5}},
            'no limit "wall_second" for python programs; use source_bytes',
        ),
        ({"engine": PythonEngine(), "limits": {"wall_second": 5}}, '"wall_second"'),
        (
            {"engine": "javascript", "limits": {"programs": 5}},
            '"programs" for javascript programs; use output_bytes',
        ),
        (
            {"engine": "ruby", "limits": {"programs": 0}},
            "programs must be a whole number above 0, not 0",
        ),
        (
            {"engine": "ruby", "limits": {"wall_seconds": "soon"}},
            'wall_seconds must be a number above 0, not "soon"',
        ),
        ({"engine": "ruby", "limits": {"wall_seconds": object()}}, "object"),
        ({"sandbox": {"provider": "native", "polcy": 1}}, '"polcy"; use policy'),
        ({"sandbox": {"files": {"docs": "read_only"}}}, '"docs"'),
        ({"sandbox": {"provider": "unrestricted", "uid": 1}}, '"uid"'),
        ({"sandbox": 5}, "not int"),
    ],
)
def test_misspelt_and_impossible_options_are_refused_where_they_are_declared(
    mode: dict[str, Any], told: str
) -> None:
    for declare in (
        lambda: CodeMode(**mode),
        lambda: Agent(code_mode=mode),
        lambda: Configuration(code_mode=mode),
    ):
        with pytest.raises(ConfigurationError, match=re.escape(told)):
            declare()


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ({"limits": {"wall_second": 5}}, "use source_bytes"),
        ({"engine": "latin"}, "'latin'; use python, javascript, ruby"),
        ({"sandbox": "moon"}, "'moon'; use bubblewrap, native"),
        ({"engine": "latin", "sandbox": {"provider": "moon"}}, "'latin'"),
    ],
)
def test_what_depends_on_the_configuration_fails_the_run_before_the_model_is_asked(
    mode: dict[str, Any], told: str
) -> None:
    model = programs()
    run = Agent(model=model, tools=[add], code_mode=mode).ask("x")
    assert run.failed and isinstance(run.error, (ConfigurationError, ValueError))
    assert told in str(run.error) and not model.requests


def test_limits_go_with_the_engine_that_the_configuration_names() -> None:
    runtime = Runtime(code_mode={"engine": "javascript", "sandbox": "unrestricted"})
    mode = CodeMode(limits={"max_concurrency": 2})
    assert Agent(runtime=runtime, model=programs(), code_mode=mode).ask("x").completed
    assert Agent(model=programs(), code_mode=mode).ask("x").failed


class Calls(Session):
    """Runs programs that are the name of a tool and its input."""

    def __init__(self, engine: Naming, broker: Broker) -> None:
        self._engine = engine
        self._broker = broker

    def execute(self, source: str, **options: Any) -> ProgramResult:
        self._engine.threads.add(threading.current_thread().name)
        assert options["catalog"][0]["name"] == "add" and not options["context"].metadata
        name, _, given = source.partition(" ")
        called = self._broker.call(name, json.loads(given), id="one")
        if called.error:
            return ProgramResult("error", error=called.error)
        return ProgramResult(output=called.id, value=called.value)

    def wait(self, **options: Any) -> ProgramResult:
        raise ToolError("No program is active.")

    def stop(self, **options: Any) -> ProgramResult:
        return ProgramResult("terminated")

    def close(self) -> None:
        self._engine.closed += 1


class AsyncCalls(Calls):
    """The same in coroutines."""

    async def execute(self, source: str, **options: Any) -> ProgramResult:  # type: ignore[override]
        name, _, given = source.partition(" ")
        called = await self._broker.call_async(name, json.loads(given), id="one")
        return ProgramResult(output=called.id, value=called.value, error=called.error)

    async def close(self) -> None:  # type: ignore[override]
        self._engine.closed += 1


class Naming(Engine):
    """An engine of the application."""

    language = "names"

    def __init__(self, session: type[Calls] = Calls) -> None:
        self.closed = 0
        self.threads: set[str] = set()
        self._session = session

    def instructions(self, catalog: Any) -> str:
        return f"Programs are names: {', '.join(tool['name'] for tool in catalog)}."

    def open_session(self, broker: Broker, sandboxes: SandboxFactory, limits: Any) -> Session:
        assert limits == {"speed": 1} and [one["name"] for one in broker.catalog] == ["add"]
        return self._session(self, broker)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("session", [Calls, AsyncCalls])
async def test_engines_of_the_application(session: type[Calls], asynchronous: bool) -> None:
    engine = Naming(session)
    model = ScriptedModel(
        {"tool": "exec", "input": {"source": 'add {"a": 1, "b": 2}'}},
        {"tool": "stop", "input": {}},
        {"tool": "wait", "input": {}},
        {"text": "Done"},
    )
    mode = CodeMode(engine, limits={"speed": 1})
    agent = Agent(model=model, tools=[add], code_mode=mode)
    run = await agent.ask_async("x") if asynchronous else agent.ask("x")
    assert run.completed, run.error
    first, second, third = reports(model)
    assert first == {"status": "completed", "output": "one", "value": {"sum": 3}}
    assert second["status"] == "terminated" and "No program is active." in third
    assert engine.closed == 1
    assert "Programs are names: add." in model.requests[0].messages[0].text


def test_engines_are_known_by_name() -> None:
    register_engine("names", Naming())
    model = programs('add {"a": 1, "b": 2}')
    mode = {"engine": "names", "limits": {"speed": 1}}
    assert Agent(model=model, tools=[add], code_mode=mode).ask("x").completed
    assert reports(model)[0]["value"] == {"sum": 3}
    with pytest.raises(ValueError, match="python"):
        register_engine("python", Naming())
    with pytest.raises(TypeError):
        register_engine("names", Naming)  # type: ignore[arg-type]


def test_inline_tools_do_not_keep_programs_waiting() -> None:
    runtime = Runtime(concurrency="inline")
    model = programs('add {"a": 1, "b": 2}')
    mode = CodeMode(Naming(), limits={"speed": 1})
    run = Agent(runtime=runtime, model=model, tools=[add], code_mode=mode).ask("x")
    assert run.completed and reports(model)[0]["value"] == {"sum": 3}, run.error


def test_sandboxes_of_programs(tmp_path: Any) -> None:
    with little_ghost.Workspace(tmp_path, {"lib": "lib"}) as workspace:
        made = SandboxFactory({"provider": "unrestricted", "network": "inherit"}).make(
            workspace, ["lib"]
        )
        assert made.policy.writable and made.policy.runtime_paths == {"lib": "read_only"}
        own = SandboxFactory(lambda workspace: little_ghost.sandboxes.Unrestricted(workspace))
        assert own.make(workspace).workspace is workspace
        with pytest.raises(ConfigurationError):
            SandboxFactory(lambda: 1).make(workspace)


class Owning(Counting):
    """Owns whatever programs start, as engines of programs demand."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities([*DEFAULT_FEATURES, "process_tree_ownership"], isolation="counting")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_programs_in_sandboxes_that_the_application_makes(asynchronous: bool) -> None:
    made: list[little_ghost.Sandbox] = []

    def counting(workspace: little_ghost.Workspace) -> Owning:
        sandbox = Owning(workspace, policy={"files": {"root": "read_write"}})
        made.append(sandbox)
        return sandbox

    def plain(workspace: little_ghost.Workspace) -> little_ghost.Sandbox:
        sandbox = little_ghost.sandboxes.Unrestricted(workspace)
        made.append(sandbox)
        return sandbox

    for make in (counting, plain):
        model = programs(SOURCE, "text('again')")
        agent = Agent(model=model, tools=[add, fail], code_mode={"sandbox": make})
        run = await agent.ask_async("x") if asynchronous else agent.ask("x")
        assert run.completed, run.error
        first, second = reports(model)
        assert first["value"] == 2 and "[3, 7]" in first["output"] and second["output"] == "again"
    counted = [one for one in made if isinstance(one, Counting)]
    assert len(made) == 4 and [one.started for one in counted] == [1, 1]


def test_javascript_in_a_sandbox_that_the_application_makes() -> None:
    seen: list[str] = []

    class Seeing(Owning):
        def start_program(self, command: Any, *, context: Any = None, **options: Any) -> Any:
            seen.extend(path.name for path in Path(self.workspace.root).iterdir())
            return super().start_program(command, context=context, **options)

    def make(files: dict[str, str]) -> Any:
        return lambda workspace: Seeing(workspace, policy={"files": files})

    for files in ({"root": "read_write"}, {"root": "read_only"}):
        model = programs("(await tools.add({a: 1, b: 2})).sum")
        mode = {"engine": "javascript", "sandbox": make(files)}
        run = Agent(model=model, tools=[add], code_mode=mode).ask("x")
        assert run.completed and reports(model)[0]["value"] == 3, (run.error, reports(model))
    assert len(seen) == 2 and all(name.startswith(".little-ghost-") for name in seen)
    model = programs("1")
    Agent(model=model, code_mode={"engine": "javascript", "sandbox": make({})}).ask("x")
    assert len(seen) == 2 and "CapabilityError" in reports(model)[0], reports(model)
