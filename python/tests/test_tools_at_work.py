"""Where tools run: in the caller's thread, side by side, on the caller's loop."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from typing import Any

import pytest
from scripted import ENDLESS, calls, says

from little_ghost import RunContext, ToolError, tool

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="none")


# -- synchronous runs -----------------------------------------------------------------------------


def test_a_tool_that_is_alone_runs_in_the_callers_thread_and_context(scenario: Any) -> None:
    @tool
    def here() -> str:
        """Look."""
        assert threading.current_thread() is caller
        seen = request_id.get()
        request_id.set("from the tool")
        return seen

    caller = threading.current_thread()
    request_id.set("r1")
    provider = scenario(calls(("here", {})), says("ok"))
    assert provider.agent(tools=[here]).ask("x").completed
    assert provider.journal()[1]["body"]["messages"][-1]["content"] == "r1"
    assert request_id.get() == "from the tool"


def test_tools_side_by_side_overlap_and_see_the_callers_context(scenario: Any) -> None:
    barrier = threading.Barrier(3, timeout=10)
    names: set[str] = set()

    @tool
    def meet(number: int) -> str:
        """Meet the others."""
        barrier.wait()
        names.add(threading.current_thread().name)
        request_id.set(f"changed by {number}")
        return f"{number}"

    @tool
    def look() -> str:
        """Look."""
        barrier.wait()
        return request_id.get()

    request_id.set("r2")
    provider = scenario(
        calls(("meet", {"number": 1}), ("look", {}), ("meet", {"number": 2})), says("ok")
    )
    assert provider.agent(tools=[meet, look]).ask("x").completed
    results = provider.journal()[1]["body"]["messages"][-3:]
    assert [result["content"] for result in results] == ["1", "r2", "2"]
    assert request_id.get() == "r2"
    assert threading.current_thread().name not in names


def test_exclusive_tools_do_not_overlap(scenario: Any) -> None:
    running: list[int] = []
    most: list[int] = []

    @tool(exclusive=True)
    def alone() -> str:
        """Be alone."""
        running.append(1)
        most.append(len(running))
        running.pop()
        return "ok"

    provider = scenario(calls(*[("alone", {})] * 8), says("ok"))
    assert provider.agent(tools=[alone]).ask("x").completed
    assert most == [1] * 8


def test_a_coroutine_tool_in_a_synchronous_run(scenario: Any) -> None:
    @tool
    async def wait(number: int) -> str:
        """Wait."""
        await asyncio.sleep(0)
        return f"{number} {request_id.get()}"

    request_id.set("r3")
    answers = [
        calls(("wait", {"number": 1})),
        calls(("wait", {"number": 2}), ("wait", {"number": 3})),
    ]
    provider = scenario(*answers, says("ok"))
    assert provider.agent(tools=[wait]).ask("x").completed
    results = provider.journal()[2]["body"]["messages"]
    assert [r["content"] for r in results if r["role"] == "tool"] == ["1 r3", "2 r3", "3 r3"]


def test_a_coroutine_tool_in_a_synchronous_run_is_cancelled_with_it(scenario: Any) -> None:
    told: list[str] = []

    @tool
    async def forever() -> None:
        """Wait."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    one = scenario(calls(("forever", {}))).agent(tools=[forever])
    assert one.ask("x", timeout=0.2).partial
    assert told == ["cancelled"]
    two = scenario(calls(("forever", {}), ("forever", {}))).agent(tools=[forever])
    assert two.ask("x", timeout=0.2).partial


def test_ask_inside_a_running_loop_works_and_blocks_it(scenario: Any) -> None:
    @tool
    async def wait() -> str:
        """Wait."""
        await asyncio.sleep(0)
        return "waited"

    provider = scenario(calls(("wait", {})), says("ok"))

    async def main() -> Any:
        return provider.agent(tools=[wait]).ask("x")

    assert asyncio.run(main()).completed


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_exit_from_a_tool_goes_through(scenario: Any, error: BaseException) -> None:
    closed: list[str] = []

    @tool
    def leave(context: RunContext) -> None:
        """Leave."""
        context.run.register("resource", closed.append)
        raise error

    provider = scenario(calls(("leave", {})), says("never"))
    stream = provider.agent(tools=[leave]).stream("x")
    with pytest.raises(type(error)) as raised:
        list(stream)
    assert raised.value is error
    assert stream.run.cancelled
    assert closed == ["resource"]


def test_an_exit_from_a_tool_in_a_thread_goes_through(scenario: Any) -> None:
    @tool
    def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    agent = scenario(calls(("leave", {}), ("leave", {})), says("never")).agent(tools=[leave])
    with pytest.raises(SystemExit):
        agent.ask("x")


def test_a_late_answer_is_ignored(scenario: Any) -> None:
    release, done = threading.Event(), threading.Event()

    @tool
    def slow() -> str:
        """Be slow."""
        release.wait(10)
        done.set()
        return "late"

    run = scenario(calls(("slow", {}), ("slow", {}))).agent(tools=[slow]).ask("x", timeout=0.2)
    assert run.partial
    release.set()
    assert done.wait(10)


def test_a_nested_run_inside_a_tool(scenario: Any) -> None:
    inner = scenario(says("inner answer"), cycle=True).agent()

    @tool
    def delegate(question: str) -> str:
        """Ask a specialist."""
        return inner.ask(question).response

    provider = scenario(
        calls(("delegate", {"question": "a"})),
        calls(("delegate", {"question": "b"}), ("delegate", {"question": "c"})),
        says("ok"),
    )
    assert provider.agent(tools=[delegate]).ask("x").completed
    contents = [
        m["content"] for m in provider.journal()[2]["body"]["messages"] if m["role"] == "tool"
    ]
    assert contents == ["inner answer"] * 3


# -- asyncio --------------------------------------------------------------------------------------


async def test_a_coroutine_tool_that_is_alone_runs_in_the_callers_task(scenario: Any) -> None:
    @tool
    async def here() -> str:
        """Look."""
        await asyncio.sleep(0)
        assert asyncio.current_task() is caller
        seen = request_id.get()
        request_id.set("from the tool")
        return seen

    caller = asyncio.current_task()
    request_id.set("a1")
    provider = scenario(calls(("here", {})), says("ok"))
    assert (await provider.agent(tools=[here]).ask_async("x")).completed
    assert provider.journal()[1]["body"]["messages"][-1]["content"] == "a1"
    assert request_id.get() == "from the tool"


async def test_coroutine_tools_side_by_side_are_tasks_of_the_callers_loop(scenario: Any) -> None:
    met = asyncio.Event()
    arrived: list[int] = []

    @tool
    async def meet(number: int) -> str:
        """Meet."""
        assert asyncio.get_running_loop() is loop
        arrived.append(number)
        if len(arrived) == 3:
            met.set()
        await met.wait()
        return request_id.get()

    loop = asyncio.get_running_loop()
    request_id.set("a2")
    provider = scenario(calls(*[("meet", {"number": n}) for n in range(3)]), says("ok"))
    assert (await provider.agent(tools=[meet]).ask_async("x")).completed
    results = provider.journal()[1]["body"]["messages"][-3:]
    assert [result["content"] for result in results] == ["a2"] * 3


async def test_plain_tools_do_not_stall_the_loop(scenario: Any) -> None:
    @tool
    def block() -> str:
        """Block."""
        assert threading.current_thread() is not loop_thread
        time.sleep(1)
        return request_id.get()

    loop_thread = threading.current_thread()
    request_id.set("a3")
    provider = scenario(calls(("block", {})), calls(("block", {}), ("block", {})), says("ok"))
    gaps: list[float] = []

    async def heartbeat() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    beat = asyncio.ensure_future(heartbeat())
    run = await provider.agent(tools=[block]).ask_async("x")
    beat.cancel()
    assert run.completed
    contents = [
        m["content"] for m in provider.journal()[2]["body"]["messages"] if m["role"] == "tool"
    ]
    assert contents == ["a3"] * 3
    # The loop went on all the time. Single gaps belong to the machine's other work.
    assert len(gaps) > 500
    assert sorted(gaps)[int(len(gaps) * 0.99)] < 0.02


async def test_failures_of_coroutine_tools(scenario: Any) -> None:
    @tool
    async def fails(number: int) -> None:
        """Fail."""
        await asyncio.sleep(0)
        if number == 1:
            raise ToolError("expected")
        raise KeyError("s3cret")

    answers = [
        calls(("fails", {"number": 1})),
        calls(("fails", {"number": 1}), ("fails", {"number": 2})),
    ]
    provider = scenario(*answers, says("ok"))
    assert (await provider.agent(tools=[fails]).ask_async("x")).completed
    contents = [
        m["content"] for m in provider.journal()[2]["body"]["messages"] if m["role"] == "tool"
    ]
    assert contents[:2] == ["expected", "expected"]
    assert "KeyError" in contents[2] and "s3cret" not in contents[2]


async def test_a_deadline_cancels_coroutine_tools(scenario: Any) -> None:
    told: list[str] = []

    @tool
    async def forever() -> None:
        """Wait."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    alone = scenario(calls(("forever", {}))).agent(tools=[forever])
    assert (await alone.ask_async("x", timeout=0.2)).partial
    assert told == ["cancelled"]
    together = scenario(calls(("forever", {}), ("forever", {}))).agent(tools=[forever])
    assert (await together.ask_async("x", timeout=0.2)).partial
    await asyncio.sleep(0)
    assert told == ["cancelled"] * 3
    task = asyncio.current_task()
    assert task is not None and not getattr(task, "cancelling", int)()


async def test_a_coroutine_tool_may_use_timeouts_of_its_own(scenario: Any) -> None:
    @tool
    async def patient() -> str:
        """Wait a little."""
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0.01)
        except asyncio.TimeoutError:
            return "timed out"
        return "never"

    provider = scenario(calls(("patient", {})), says("ok"))
    assert (await provider.agent(tools=[patient]).ask_async("x")).completed
    assert provider.journal()[1]["body"]["messages"][-1]["content"] == "timed out"


async def test_a_coroutine_tool_may_ask_another_agent(scenario: Any) -> None:
    inner = scenario(says("inner"), cycle=True).agent()

    @tool
    async def delegate() -> str:
        """Ask a specialist."""
        return (await inner.ask_async("x")).response

    provider = scenario(
        calls(("delegate", {})), calls(("delegate", {}), ("delegate", {})), says("ok")
    )
    assert (await provider.agent(tools=[delegate]).ask_async("x")).completed
    contents = [
        m["content"] for m in provider.journal()[2]["body"]["messages"] if m["role"] == "tool"
    ]
    assert contents == ["inner"] * 3


async def test_a_cancelled_task_reaches_the_running_tool(scenario: Any) -> None:
    begun, told = asyncio.Event(), []

    @tool
    async def forever() -> None:
        """Wait."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            told.append("left")

    closed: list[str] = []
    stream = scenario(calls(("forever", {})), ENDLESS).agent(tools=[forever]).stream_async("x")

    async def close(name: str) -> None:
        await asyncio.sleep(0)
        closed.append(name)

    stream.run.register("resource", close)

    async def consume() -> None:
        async for _ in stream:
            pass

    task = asyncio.ensure_future(consume())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told == ["left"]
    assert closed == ["resource"]
    assert stream.run.cancelled


class Exit(BaseException):
    """Ends more than a tool."""


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("plain", [True, False])
async def test_an_exit_from_a_tool_goes_through_asyncio(
    scenario: Any, plain: bool, count: int
) -> None:
    def leave() -> None:
        """Leave."""
        raise Exit

    async def leave_later() -> None:
        """Leave."""
        raise Exit

    made = tool(name="leave")(leave if plain else leave_later)
    stream = scenario(calls(*[("leave", {})] * count)).agent(tools=[made]).stream_async("x")
    with pytest.raises(Exit):
        async for _ in stream:
            pass
    assert stream.run.cancelled


@pytest.mark.parametrize("count", [1, 2])
def test_a_cancellation_that_is_the_tools_own_is_a_failure(scenario: Any, count: int) -> None:
    @tool
    async def wait() -> None:
        """Wait."""
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    def provider() -> Any:
        return scenario(calls(*[("wait", {})] * count), says("ok"))

    def heard(provider: Any) -> str:
        content: str = provider.journal()[1]["body"]["messages"][-1]["content"]
        return content

    waiting = provider()
    assert waiting.agent(tools=[wait]).ask("x").completed
    assert "CancelledError" in heard(waiting)
    if sys.version_info >= (3, 11):  # where a task knows that nobody cancelled it
        waiting = provider()
        assert asyncio.run(waiting.agent(tools=[wait]).ask_async("x")).completed
        assert "CancelledError" in heard(waiting)
