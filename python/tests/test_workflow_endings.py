"""Workflows that fail, take too long or are left, and the threads that they use."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from participants import WAYS, ResearchAgent, SupportAgent, agent

import little_ghost
from little_ghost import (
    Agent,
    Run,
    RunContext,
    Swarm,
    Workflow,
    WorkflowInvocation,
    testing,
    tool,
    workflow,
)
from little_ghost.testing import ScriptedModel


class Broken(Exception):
    pass


@pytest.mark.parametrize("way", WAYS)
def test_a_failure_reaches_the_body_as_the_very_exception(way: str) -> None:
    broken = Broken("no")
    failing, last = agent("failing", broken), agent("last", "saved")
    caught: list[BaseException] = []

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        try:
            flow.invoke(failing).output()
        except Broken as error:
            caught.append(error)
        return flow.invoke(last)

    run = WAYS[way](flow, "go")
    assert caught == [broken]
    assert run.response == "saved"


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_of_the_body_fails_the_run(way: str) -> None:
    broken = Broken("no")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        raise broken

    run = WAYS[way](flow, "go")
    assert (run.outcome, run.error) == ("failed", broken)


def test_the_body_must_return_an_invocation_that_nobody_read() -> None:
    one = agent("one", "1", repeat=True)

    @workflow
    def text(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(one).output()  # type: ignore[no-any-return]

    @workflow
    def read(flow: Workflow) -> WorkflowInvocation:
        invocation = flow.invoke(one)
        invocation.output()
        return invocation

    for assembly in (text, read):
        error = assembly.ask("go").error
        assert isinstance(error, little_ghost.ProtocolError)
        assert "perform must return its final invocation" in str(error)

    class Unfinished(Workflow):
        pass

    assert isinstance(Unfinished.ask("go").error, little_ghost.AbstractMethodError)
    with pytest.raises(little_ghost.Error, match="only perform can use it"):
        Workflow().invoke(one)


def test_retries_are_for_the_named_failures_only() -> None:
    flaky = agent("flaky", Broken("first"), Broken("second"), "third")
    other = agent("other", KeyError("no"), "never")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(flaky, retries=2, retry_on=Broken, retry_delay=0.001)

    events = list(flow.stream("go"))
    retried = [event.data for event in events if event.type == "assembly_step_retry"]
    assert [(data["attempt"], data["error_type"]) for data in retried] == [
        (1, "Broken"),
        (2, "Broken"),
    ]
    result = events[-1].data["result"]
    assert [attempt.status for attempt in result.steps[0].attempts] == [
        "failed",
        "failed",
        "completed",
    ]

    @workflow
    def strict(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(other, retries=2, retry_on=[Broken])

    assert isinstance(strict.ask("go").error, KeyError)

    @workflow
    def unsafe(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(flaky, retries=1)

    assert "retries need retry_on" in str(unsafe.ask("go").error)

    @workflow
    def mistaken(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(flaky, retries=1, retry_on="Broken")

    assert isinstance(mistaken.ask("go").error, TypeError)


@pytest.mark.parametrize("way", WAYS)
def test_a_step_that_takes_too_long_is_told(way: str) -> None:
    given_up = threading.Event()

    @tool
    def work(context: RunContext) -> str:
        """Works for ever."""
        while not context.cancellation_token.cancelled:
            time.sleep(0.001)
        given_up.set()
        return "late"

    slow = agent("slow", {"tool": work, "input": {}}, tools=[work])
    last = agent("last", "saved")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        try:
            # Beside another, so that it has a thread of its own.
            flow.invoke(slow, timeout=0.05).output()
        except little_ghost.AssemblyStepTimeoutError:
            return flow.invoke(last)
        raise AssertionError

    if way == "ask" or way == "stream" or way == "start_execution":
        # A plain tool that is alone runs in the thread that drives the run, which cannot see the time pass.
        slow.tools = [exclusive_wait(given_up)]
        slow.model = ScriptedModel({"tool": slow.tools[0], "input": {}})
    run = WAYS[way](flow, "go")
    assert run.response == "saved"
    assert given_up.wait(10)


def exclusive_wait(given_up: threading.Event) -> Any:
    @tool
    async def work() -> str:
        """Works for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
        return "never"

    return work


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_deadline_ends_a_body_that_waits(asynchronous: bool, way: str) -> None:
    never = agent("never", {"tool": "wait", "input": {}}, tools=[exclusive_wait(threading.Event())])
    never.model = ScriptedModel({"tool": never.tools[0], "input": {}})  # type: ignore[index]
    unwound = threading.Event()

    @workflow
    def plain(flow: Workflow) -> WorkflowInvocation:
        try:
            flow.invoke(never).output()
        finally:
            unwound.set()
        raise AssertionError

    @workflow
    async def coroutine(flow: Workflow) -> WorkflowInvocation:
        try:
            await flow.invoke(never)
        finally:
            unwound.set()
        raise AssertionError

    assembly = coroutine if asynchronous else plain
    request = little_ghost.Invocation(
        little_ghost.Message("user", "go"), deadline_at=time.time() + 0.1
    )
    run = WAYS[way](assembly, request)  # type: ignore[arg-type]
    assert run.outcome == "partial"
    assert unwound.wait(10)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_leaving_a_stream_ends_the_body(asynchronous: bool) -> None:
    unwound = threading.Event()
    never = Agent(name="never")
    never.tools = [exclusive_wait(threading.Event())]
    never.model = ScriptedModel({"tool": never.tools[0], "input": {}})

    @workflow
    def plain(flow: Workflow) -> WorkflowInvocation:
        try:
            flow.invoke(never).output()
        finally:
            unwound.set()
        raise AssertionError

    @workflow
    async def coroutine(flow: Workflow) -> WorkflowInvocation:
        try:
            await flow.invoke(never)
        finally:
            unwound.set()
        raise AssertionError

    for assembly in (plain, coroutine):
        unwound.clear()
        never.model = ScriptedModel({"tool": never.tools[0], "input": {}})
        if asynchronous:

            async def leave(assembly: Any = assembly) -> Run:
                async with assembly.stream_async("go") as stream:
                    async for event in stream:
                        if event.type == "assembly_step_start":
                            break
                run: Run = stream.run
                return run

            run = asyncio.run(leave())
        else:
            with assembly.stream("go") as stream:
                for event in stream:
                    if event.type == "assembly_step_start":
                        break
            run = stream.run
        assert run.outcome == "cancelled"
        assert unwound.wait(10)


def test_a_coroutine_must_not_block_its_loop() -> None:
    one = agent("one", "1", "2")

    @workflow
    async def flow(flow: Workflow) -> WorkflowInvocation:
        flow.invoke(one).output()
        raise AssertionError

    assert "await self.invoke" in str(flow.ask("go").error)


def test_a_plain_body_runs_in_the_thread_that_asks() -> None:
    threads: list[int] = []

    class Where(Workflow):
        def perform(self) -> WorkflowInvocation:
            self.invoke(ResearchAgent).output()
            threads.append(threading.get_ident())
            return self.invoke(SupportAgent)

    with testing.use_model("1", "2"):
        assert Where.ask("go").completed
    assert threads == [threading.get_ident()]


def test_another_thread_cannot_wait_for_an_output() -> None:
    one = agent("one", "1")
    problems: list[BaseException] = []

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        invocation = flow.invoke(one)

        def read() -> None:
            try:
                invocation.output()
            except little_ghost.Error as problem:
                problems.append(problem)

        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return flow.invoke(one)

    assert flow.ask("go").completed
    assert "use parallel" in str(problems[0])


def test_what_takes_part_must_be_an_assembly() -> None:
    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke("research")

    error = flow.ask("go").error
    assert isinstance(error, little_ghost.ConfigurationError)
    assert "must be an Agent, Workflow, Swarm or Graph" in str(error)


def test_a_swarm_takes_part_in_a_workflow() -> None:
    swarm = Swarm(name="pair", members=[agent("a", "from a"), agent("b", "from b")], start="a")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(swarm)

    assert flow.ask("go").response == "from a"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_bodies_work_where_nothing_may_have_a_thread(asynchronous: bool) -> None:
    runtime = little_ghost.Runtime(concurrency="inline")
    one, two = agent("one", "1", repeat=True), agent("two", "2", repeat=True)

    class Inner(Workflow):
        def perform(self) -> WorkflowInvocation:
            assert self.parallel(self.invoke(one), self.invoke(one)) == ["1", "1"]
            return self.invoke(two)

    class Outer(Workflow):
        def perform(self) -> WorkflowInvocation:
            assert self.parallel(self.invoke(Inner), self.invoke(Inner)) == ["2", "2"]
            return self.invoke(Inner)

    flow = Outer(runtime=runtime)
    run = asyncio.run(flow.ask_async("go")) if asynchronous else flow.ask("go")
    assert (run.error, run.response) == (None, "2")
    kinds = [event.type for event in flow.stream("go")]
    assert (kinds[0], kinds[-1]) == ("run_start", "run_stop")
    assert kinds.count("assembly_step_stop") == 12


@pytest.mark.parametrize("way", WAYS)
def test_a_coroutine_that_waits_for_something_else_ends_after_the_deadline(way: str) -> None:
    ended: list[str] = []

    class Waiting(Workflow):
        async def perform(self) -> WorkflowInvocation:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("ended")
            return self.invoke(ResearchAgent)

    run = WAYS[way](Waiting(), little_ghost.Invocation("go", deadline_at=time.time() + 0.1))
    assert run.partial
    assert isinstance(run.error, little_ghost.DeadlineExceededError)
    for _ in range(500):
        if ended:
            break
        time.sleep(0.01)
    assert ended == ["ended"]


@pytest.mark.parametrize("way", WAYS)
def test_workflows_may_be_nested_deeply_and_not_for_ever(way: str) -> None:
    last = agent("last", "saved", repeat=True)

    class Deep(Workflow):
        depth = 0
        most = 0

        def perform(self) -> WorkflowInvocation:
            if self.depth == self.most:
                return self.invoke(last)
            inner = Deep(name=f"deep_{self.depth + 1}")
            inner.depth, inner.most = self.depth + 1, self.most
            return self.invoke(inner)

    deep = Deep()
    deep.most = 50
    assert WAYS[way](deep, "go").response == "saved"
    deep.most = 1_000
    error = WAYS[way](deep, "go").error
    assert isinstance(error, little_ghost.AssemblyLimitError)


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_a_model_cannot_ask_itself_for_ever(way: str) -> None:
    again = ScriptedModel({"tool": "again", "input": {"input": "more"}}, "done", repeat=True)
    asking = Agent(name="asking", model=again)
    asking.tools = [asking.as_tool(name="again", description="Asks once more.")]
    assert WAYS[way](asking, "go").response == "done"
    told: list[str] = []

    def turn(request: little_ghost.ModelRequest) -> Any:
        block = request.messages[-1].content[0]
        if hasattr(block, "tool_use_id"):
            told.append(str(block.content))
            return "done"
        return {"tool": "again", "input": {"input": "more"}}

    asking.model = ScriptedModel(turn, repeat=True)
    assert WAYS[way](asking, "go").response == "done"
    assert told[0] == "The tool failed unexpectedly (AssemblyLimitError)."
    assert len(told) == 101
