"""Code mode without an agent: sessions of the library's own engines, brokers, catalogs, frames."""

from __future__ import annotations

import asyncio
import io
import threading
from typing import Any

import pytest
from premises import needs_bubblewrap
from test_code_mode import Naming, Owning, add, fail

import little_ghost
from little_ghost import (
    CancellationToken,
    CancelledError,
    ConfigurationError,
    DeadlineExceededError,
    ProtocolError,
    RunContext,
    Tool,
    ToolError,
    ToolRegistry,
    tool,
)
from little_ghost.code_mode import (
    Broker,
    BuiltInSession,
    CallResult,
    Catalog,
    JavascriptEngine,
    ProgramResult,
    PythonEngine,
    RubyEngine,
    protocol,
    resolve_engine,
)


@tool
async def double(n: int) -> dict[str, int]:
    """Doubles, in a coroutine."""
    await asyncio.sleep(0)
    return {"twice": n * 2}


def opened(*tools: Any, sandbox: Any = "unrestricted", **limits: Any) -> BuiltInSession:
    return PythonEngine().open_session(Broker(tools), sandbox, limits)


SOURCE = """
sums = tools.parallel(lambda: tools.add(a=1, b=2), lambda: tools.double(n=2))
try:
    tools.fail()
except Exception as error:
    text(str(error))
[sums[0]["sum"], sums[1]["twice"], FRAME["left"]]
"""


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_programs_run_without_an_agent(asynchronous: bool) -> None:
    session = opened(add, double, fail)
    given: Any = {"frame": {"left": 5}}
    if asynchronous:
        async with session:
            result = await session.execute_async(SOURCE, **given)
    else:
        with session:
            result = await asyncio.to_thread(session.execute, SOURCE, **given)
    assert (result.status, result.value) == ("completed", [3, 4, 5]), result
    assert result.completed and not result.still_working
    assert "not today" in result.output


def test_a_javascript_program() -> None:
    source = "const all = await Promise.all([1, 2].map((n) => tools.double({n}))); all.map((one) => one.twice)"
    with JavascriptEngine().open_session(Broker([double]), "unrestricted") as session:
        assert session.execute(source).value == [2, 4]


@needs_bubblewrap
def test_the_native_sandbox_contains_programs() -> None:
    source = "import os\n[os.path.exists('/home'), tools.add(a=1, b=2)['sum']]"
    with PythonEngine().open_session(Broker([add])) as session:
        assert session.execute(source).value == [False, 3]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_calls_overlap(asynchronous: bool) -> None:
    together = threading.Barrier(2, timeout=30)

    @tool
    def meet(n: int) -> int:
        """Waits for the other."""
        together.wait()
        return n

    source = "tools.parallel(lambda: tools.meet(n=1), lambda: tools.meet(n=2))"
    session = opened(meet)
    if asynchronous:
        assert (await session.execute_async(source)).value == [1, 2]
        await session.close_async()
    else:
        assert (await asyncio.to_thread(session.execute, source)).value == [1, 2]
        session.close()


def test_failures() -> None:
    with pytest.raises(ValueError, match="surprise"):
        opened(surprise=1)
    session = opened(add, programs=2)
    with pytest.raises(ToolError):
        session.wait()
    broken = session.execute("raise OSError('no')")
    assert broken.status == "error" and "no" in (broken.error or "")
    caught = session.execute("try:\n    tools.add(a='x')\nexcept Exception:\n    text('caught')")
    assert caught.output == "caught"
    with pytest.raises(ToolError):
        session.execute("1")
    session.close()
    session.close()
    with pytest.raises(ToolError):
        session.execute("1")


def test_a_caller_that_leaves_leaves_the_program() -> None:
    token = CancellationToken()

    @tool
    def leave() -> None:
        """Has the caller leave."""
        token.cancel()

    with opened(leave) as session:
        endless = "tools.leave()\nwhile True: pass"
        with pytest.raises(CancelledError):
            session.execute(endless, context=RunContext(cancellation_token=token))
        assert session.stop().status == "terminated"
        with pytest.raises(DeadlineExceededError):
            session.execute("while True: pass", context=RunContext(deadline_at=1.0))


async def test_a_cancelled_task_leaves_the_program() -> None:
    begun = asyncio.Event()

    @tool
    async def begin() -> None:
        """Says that it begins."""
        begun.set()

    async with opened(begin) as session:
        task = asyncio.create_task(session.execute_async("tools.begin()\nwhile True: pass"))
        await begun.wait()
        with pytest.raises(ToolError, match="one of these calls at a time"):
            await session.wait_async()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await session.stop_async()).status == "terminated"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_ends_a_run_ends_the_program(asynchronous: bool) -> None:
    raised = CancelledError("enough")

    @tool
    def give_up() -> None:
        """Gives up."""
        raise raised

    session = opened(give_up)
    with pytest.raises(CancelledError) as caught:
        if asynchronous:
            await session.execute_async("tools.give_up()")
        else:
            session.execute("tools.give_up()")
    assert caught.value is raised
    session.close()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_sandboxes_of_the_application(asynchronous: bool) -> None:
    closed: list[str] = []

    class Noting(Owning):
        def close(self) -> None:
            closed.append("closed")
            super().close()

    def make(workspace: little_ghost.Workspace) -> Noting:
        return Noting(workspace, policy={"files": {"root": "read_write"}})

    session = opened(add, sandbox=make)
    source = "text('seen')\ntools.add(a=40, b=2)['sum']"
    if asynchronous:
        result = await session.execute_async(source)
        await session.close_async()
    else:
        result = await asyncio.to_thread(session.execute, source)
        session.close()
    assert (result.output, result.value) == ("seen", 42)
    assert closed == ["closed"]


def test_sandboxes_that_cannot_be_made_are_told() -> None:
    class OwnError(Exception):
        pass

    def make(workspace: little_ghost.Workspace) -> Any:
        raise OwnError("no room")

    with opened(sandbox=make) as session, pytest.raises(OwnError, match="no room"):
        session.execute("1")


# -- brokers ------------------------------------------------------------------------------------------


class Named(Tool):
    """Adds up."""

    name = "add-up"

    def call(self, a: int) -> dict[str, int]:
        return {"sum": a + 1}


async def test_the_broker_decides_what_a_call_is() -> None:
    broker = Broker(ToolRegistry([Named, fail, double]), excluding=["double"])
    assert [one["name"] for one in broker.catalog] == ["add-up", "fail"]
    assert broker.call("tools.add-up", {"a": 1}, id="7") == CallResult("7", {"sum": 2})
    assert await broker.call_async("add-up", {"a": 2}, id="8") == CallResult("8", {"sum": 3})
    assert broker.call("fail").error == "not today"
    for name in ("exec", "double", "nothing"):
        assert "There is no tool" in (broker.call(name).error or "")
    assert "must be an object" in (broker.call("fail", [1]).error or "")  # type: ignore[arg-type]
    assert broker.call("add-up", {"a": "x"}).error is not None
    assert (await Broker([double]).call_async("double", {"n": 2})).value == {"twice": 4}


async def test_a_broker_with_a_limit_and_a_dispatch() -> None:
    seen: list[str] = []

    def dispatch(use: Any) -> Any:
        seen.append(use.name)
        return use.input["a"]

    async def later(use: Any) -> Any:
        raise ToolError("not now")

    broker = Broker([Named], dispatch=dispatch, max_calls=1)
    assert broker.call("add-up", {"a": 5}).value == 5
    assert "limit" in (broker.call("add-up", {"a": 5}).error or "")
    assert seen == ["add-up"]
    assert (await Broker([Named], dispatch=later).call_async("add-up")).error == "not now"


def test_tools_get_the_context_of_their_broker() -> None:
    @tool
    def look(context: RunContext) -> Any:
        """Looks."""
        return context.state["seen"]

    broker = Broker([look], context=RunContext(state={"seen": "this"}))
    assert broker.call("look").value == "this"
    assert broker.call("look", context=RunContext(state={"seen": "that"})).value == "that"


def test_values_that_json_cannot_express_are_failures() -> None:
    @tool
    def strange() -> Any:
        """Strange."""
        return object()

    called = Broker([strange]).call("strange")
    assert called.value is None and called.error


# -- catalogs, frames, engines ------------------------------------------------------------------------


def test_catalogs_name_tools_in_a_language() -> None:
    specifications = Broker([Named, fail]).catalog
    catalog = Catalog(specifications, lambda name: name.replace("-", "_"))
    assert list(catalog) == ["add_up", "fail"] and len(catalog) == 2
    found = catalog["add_up"]
    assert (found["canonical_name"], found["description"]) == ("add-up", "Adds up.")
    assert found["input_schema"]["type"] == "object"
    assert found["specification"]["name"] == "add-up"
    assert "add-up" not in catalog
    with pytest.raises(KeyError):
        catalog["add-up"]
    with pytest.raises(TypeError):
        found["name"] = "x"  # type: ignore[index]
    for normalize in (lambda _: "same", lambda name: name.replace("fail", "wait")):
        with pytest.raises(ConfigurationError):
            Catalog(specifications, normalize)


class Trickling(io.BytesIO):
    """A file that gives a byte at a time, as pipes may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1))


def test_frames() -> None:
    value = {"type": "text", "value": "é", "list": [1, 2.5, None]}
    frame = protocol.dump(value)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    buffer = bytearray(frame + frame[:6])
    assert protocol.extract(buffer) == value
    assert protocol.extract(buffer, "more") == "more" and len(buffer) == 6
    file = io.BytesIO()
    for _ in range(2):
        protocol.write(file, value)
    for source in (io.BytesIO(file.getvalue()), Trickling(file.getvalue())):
        assert [protocol.read(source) for _ in range(3)] == [value, value, None]
    assert protocol.read(io.BytesIO(), "end") == "end"
    long = (protocol.MAX_FRAME_BYTES + 1).to_bytes(4, "big")
    for broken in (long, b"\0\0\0\2{]", b"\0\0", b"\0\0\0\5ab"):
        with pytest.raises(ProtocolError):
            protocol.read(io.BytesIO(broken))
    with pytest.raises(ProtocolError):
        protocol.extract(bytearray(long))


def test_results_are_data() -> None:
    result = ProgramResult("error", "a", None, "b")
    assert ProgramResult.from_dict(result.to_dict()) == result
    assert not result.completed and ProgramResult("still_working").still_working


def test_engines_by_name() -> None:
    for name, kind in (
        ("python", PythonEngine),
        ("javascript", JavascriptEngine),
        ("ruby", RubyEngine),
    ):
        engine = resolve_engine(name)
        assert type(engine) is kind and engine.language == name
        assert engine.default_limits["wall_seconds"] == 3_600
        assert "add_up" in engine.instructions(Broker([Named]).catalog)
    own = Naming()
    assert resolve_engine(own) is own
    for unknown in ("cobol", 3):
        with pytest.raises(ConfigurationError):
            resolve_engine(unknown)  # type: ignore[arg-type]


def test_an_engine_with_an_interpreter_of_choice() -> None:
    session = PythonEngine("/nowhere/python3").open_session(Broker([add]), "unrestricted")
    with session, pytest.raises((little_ghost.Error, OSError)):
        session.execute("1")
