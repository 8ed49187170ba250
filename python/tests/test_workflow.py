"""Workflows: bodies in plain Python and in coroutines, in every way of asking."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import little_ghost
from little_ghost import (
    Agent,
    ModelRequest,
    Run,
    RunContext,
    StreamEvent,
    Swarm,
    Usage,
    Workflow,
    WorkflowInvocation,
    testing,
    tool,
    workflow,
)
from little_ghost.testing import ScriptedModel


def agent(name: str, *turns: Any, repeat: bool = False, **options: Any) -> Agent:
    """An agent that answers by a script."""
    return Agent(name=name, model=ScriptedModel(*turns, repeat=repeat), **options)


def asked(model: ScriptedModel, number: int = -1) -> str:
    """What the model was asked last, or told by its tool."""
    last = model.requests[number].messages[-1]
    content: Any = last.content[0]
    return str(content.content) if hasattr(content, "content") else last.text


class ResearchAgent(Agent):
    model = "nowhere:model"


class SupportAgent(Agent):
    model = "nowhere:model"


class ResponseWorkflow(Workflow):
    """Looks before it answers."""

    def perform(self) -> WorkflowInvocation:
        evidence = self.invoke(ResearchAgent, as_="look").output()
        return self.invoke(SupportAgent, input=f"{self.input.text} Evidence: {evidence}")


class AsyncResponseWorkflow(Workflow):
    async def perform(self) -> WorkflowInvocation:
        evidence = await self.invoke(ResearchAgent, as_="look")
        return self.invoke(SupportAgent, input=f"{self.input.text} Evidence: {evidence}")


@workflow
def respond(flow: Workflow) -> WorkflowInvocation:
    """Looks before it answers."""
    evidence = flow.invoke(ResearchAgent, as_="look").output()
    return flow.invoke(SupportAgent, input=f"{flow.input.text} Evidence: {evidence}")


@workflow(name="respond")
async def respond_async(flow: Workflow) -> WorkflowInvocation:
    evidence = await flow.invoke(ResearchAgent, as_="look")
    return flow.invoke(SupportAgent, input=f"{flow.input.text} Evidence: {evidence}")


WAYS: dict[str, Callable[[Any, str], Run]] = {
    "ask": lambda assembly, text: assembly.ask(text),
    "ask_async": lambda assembly, text: asyncio.run(assembly.ask_async(text)),
    "stream": lambda assembly, text: drained(assembly.stream(text)),
    "stream_async": lambda assembly, text: asyncio.run(drained_async(assembly.stream_async(text))),
    "start_execution": lambda assembly, text: assembly.start_execution(text).wait(),
}


def drained(stream: Any) -> Run:
    for _ in stream:
        pass
    run: Run = stream.run
    return run


async def drained_async(stream: Any) -> Run:
    async for _ in stream:
        pass
    run: Run = stream.run
    return run


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "assembly", [ResponseWorkflow, AsyncResponseWorkflow, respond, respond_async]
)
def test_a_body_reads_an_output_and_returns_the_final_invocation(assembly: Any, way: str) -> None:
    usage = Usage(input_tokens=2, output_tokens=1)
    with testing.use_model(
        {"text": "proof", "usage": usage}, {"text": "Wait.", "usage": usage}
    ) as model:
        run = WAYS[way](assembly, "Why?")
    assert (run.outcome, run.response, run.error) == ("completed", "Wait.", None)
    assert [asked(model, 0), asked(model, 1)] == ["Why?", "Why? Evidence: proof"]
    assert run.result is not None
    trajectory = run.result.trajectory
    assert [(step.participant, step.output) for step in trajectory] == [
        ("look", "proof"),
        ("support", "Wait."),
    ]
    first, second = trajectory
    assert trajectory.transitions == ((first.id, second.id),)
    assert (first.assembly_id, first.assembly_kind, first.status) == (
        "research",
        "agent",
        "completed",
    )
    assert first.attempts[0].started_at.tzinfo is not None
    assert run.usage.input_tokens == 4


def test_a_workflow_says_who_it_is() -> None:
    assert ResponseWorkflow().assembly_id == "response"
    assert ResponseWorkflow(name="other").assembly_id == "other"
    assert (respond.assembly_id, respond.description) == ("respond", "Looks before it answers.")
    assert (respond_async.assembly_id, respond.assembly_kind) == ("respond", "workflow")
    assert SupportAgent().assembly_id == "support"


def test_the_final_answer_streams_live_and_every_agent_is_heard() -> None:
    release = threading.Event()

    def last(request: ModelRequest) -> str:
        assert release.wait(10)
        return "Wait."

    research, support = agent("research", {"text": ["pro", "of"]}), agent("support", last)

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        flow.invoke(research).output()
        return flow.invoke(support, as_="answer")

    heard: list[tuple[str, str]] = []
    plain: list[str] = []
    for event in flow.stream("Why?"):
        if event.type != "agent_stream":
            plain.append(event.type)
            continue
        source, inner = event.data["source"], event.data["event"]
        assert isinstance(inner, StreamEvent)
        heard.append((source.assembly_path[-1].participant, inner.type))
        if inner.type == "invocation_start":
            assert event.data["input"].text == "Why?"
        if heard[-1] == ("answer", "model_start"):
            # The first participant's words came while the body was still at work.
            assert ("research", "text_delta") in heard
            release.set()
    assert ("answer", "text_delta") in heard
    assert plain[:3] == ["run_start", "assembly_step_start", "assembly_step_stop"]
    assert plain[-2:] == ["assembly_step_stop", "run_stop"]
    assert plain.count("invocation_start") == 1
    kinds = [event.type for event in flow_of_two().stream("Why?", include_agent_events=False)]
    assert "agent_stream" not in kinds


def flow_of_two() -> Workflow:
    one, two = agent("one", "1"), agent("two", "2")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        flow.invoke(one).output()
        return flow.invoke(two)

    return flow


def test_an_agent_alone_can_say_whose_its_events_are() -> None:
    alone = agent("alone", "Hi", repeat=True)
    assert "agent_stream" not in {event.type for event in alone.stream("Hi")}
    events = list(alone.stream("Hi", include_agent_events=True))
    wrapped = [event for event in events if event.type == "agent_stream"]
    assert wrapped[0].data["source"].assembly_path == ()
    assert wrapped[-1].data["event"].data["result"].text == "Hi"
    with pytest.raises(TypeError, match="include_agent_events must be True or False"):
        alone.stream("Hi", include_agent_events="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("way", WAYS)
def test_parallel_calls_are_at_work_at_once(way: str) -> None:
    together = threading.Barrier(2, timeout=10)

    @tool
    def wait() -> str:
        """Waits for the other."""
        together.wait()
        return "met"

    def member(name: str) -> Agent:
        return agent(name, {"tool": wait, "input": {}}, name, tools=[wait])

    one, two, last = member("one"), member("two"), agent("last", "done")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        outputs = flow.parallel(flow.invoke(one), flow.invoke(two), max_concurrency=2)
        return flow.invoke(last, input=", ".join(outputs))

    run = WAYS[way](flow, "go")
    assert (run.error, run.response) == (None, "done")
    assert run.result is not None
    steps = {step.participant: step for step in run.result.steps}
    assert run.result.trajectory.concurrent(steps["one"].id, steps["two"].id)
    assert not run.result.trajectory.concurrent(steps["one"].id, steps["last"].id)
    assert asked(last.model) == "one, two"  # type: ignore[arg-type]
    assert [asked(each.model) for each in (one, two)] == ["met", "met"]  # type: ignore[arg-type]


def test_coroutines_gather_invocations() -> None:
    one, two, last = agent("one", "1"), agent("two", "2"), agent("last", "done", "done")

    @workflow
    async def gathered(flow: Workflow) -> WorkflowInvocation:
        outputs = await asyncio.gather(flow.invoke(one), flow.invoke(two))
        return flow.invoke(last, input=" ".join(outputs))

    assert asyncio.run(gathered.ask_async("go")).completed
    assert asked(last.model) == "1 2"  # type: ignore[arg-type]

    three, four = agent("three", "3"), agent("four", "4")

    @workflow
    async def parallel(flow: Workflow) -> WorkflowInvocation:
        first = flow.invoke(three)
        outputs = await flow.parallel_async(first, flow.invoke(four))
        assert await first == "3"
        return flow.invoke(last, input=" ".join(outputs))

    assert parallel.ask("go").completed
    assert asked(last.model) == "3 4"  # type: ignore[arg-type]


def test_workflows_nest_to_any_depth() -> None:
    with testing.use_model("proof", "inner", "outer"):

        @workflow
        def outer(flow: Workflow) -> WorkflowInvocation:
            inner = flow.invoke(ResponseWorkflow, as_="inside").output()
            return flow.invoke(SupportAgent, input=inner, as_="outside")

        run = outer.ask("Why?")
    assert run.response == "outer"
    assert run.result is not None
    trajectory = run.result.trajectory
    assert [step.participant for step in trajectory] == ["inside", "look", "support", "outside"]
    inside = trajectory[0]
    assert [step.participant for step in trajectory.children(inside.id)] == ["look", "support"]


def test_each_participant_has_a_state_of_its_own() -> None:
    seen: list[Any] = []

    @tool
    def note(context: RunContext) -> str:
        """Notes."""
        seen.append(dict(context.state))
        context.state["noted"] = len(seen)
        return "ok"

    def member(name: str) -> Agent:
        return agent(name, {"tool": note, "input": {}}, name, tools=[note])

    one, two, three = member("one"), member("two"), member("three")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        assert flow.context == {"tenant": "a", "list": [1]}
        flow.invoke(one).output()
        flow.invoke(two, context={}).output()
        return flow.invoke(three)

    run = flow.ask("go", context={"tenant": "a", "list": [1]})
    assert run.error is None
    assert seen == [{"tenant": "a", "list": [1]}, {}, {"tenant": "a", "list": [1]}]
    assert run.result is not None
    assert run.result.state == {"tenant": "a", "list": [1], "noted": 3}


def test_a_context_that_cannot_be_copied_is_refused() -> None:
    run = flow_of_two().ask("go", context={"client": object()})
    assert isinstance(run.error, TypeError)
    assert "'client' must be plain data, not object" in str(run.error)


def test_history_is_inherited_or_replaced() -> None:
    one, two, three = agent("one", "1"), agent("two", "2"), agent("three", "3")

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        assert [message.text for message in flow.history] == ["Before"]
        flow.invoke(one).output()
        flow.invoke(two, history=[]).output()
        return flow.invoke(three, history=[{"role": "user", "content": "Other"}])

    assert flow.ask("go", history=[{"role": "user", "content": "Before"}]).error is None
    texts = [
        [message.text for message in each.model.requests[0].messages]  # type: ignore[union-attr]
        for each in (one, two, three)
    ]
    assert texts == [["Before", "go"], ["go"], ["Other", "go"]]


@dataclass
class Verdict:
    kind: str


def test_outputs_are_of_the_declared_class() -> None:
    judge = agent("judge", {"json": {"kind": "billing"}}, result=Verdict)
    last = agent("last", {"json": {"kind": "final"}}, result=Verdict)

    @workflow
    def flow(flow: Workflow) -> WorkflowInvocation:
        invocation = flow.invoke(judge)
        verdict = invocation.output()
        assert invocation.output() is verdict
        assert verdict == Verdict("billing")
        return flow.invoke(last)

    run = flow.ask("go")
    assert run.error is None
    assert run.result is not None
    assert run.result.output == Verdict("final")


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
