"""Workflows: bodies in plain Python and in coroutines, in every way of asking."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from participants import WAYS, ResearchAgent, SupportAgent, agent, asked

from little_ghost import (
    Agent,
    ModelRequest,
    RunContext,
    StreamEvent,
    Usage,
    Workflow,
    WorkflowInvocation,
    testing,
    tool,
    workflow,
)


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
