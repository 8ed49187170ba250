"""Many assemblies at once, conversations, and interjections."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from participants import agent

from little_ghost import (
    Agent,
    AssemblyStepTimeoutError,
    CancellationToken,
    Graph,
    MemoryStore,
    ModelRequest,
    Node,
    Run,
    RunContext,
    Runtime,
    Workflow,
    WorkflowInvocation,
    tool,
    workflow,
)
from little_ghost.interjection import send, wait
from little_ghost.testing import ScriptedModel

TERMINAL = {"run_stop", "run_error", "run_partial", "run_cancel"}
BRANCHES = tuple(f"branch{number}" for number in range(8))


class Unlucky(Exception):
    pass


@tool
def work(context: RunContext) -> str:
    """Works until it is told to stop, if it has to."""
    fate = context.state.get("fate")
    if fate == "fail":
        raise Unlucky
    while fate == "wait" and not context.cancellation_token.cancelled:
        time.sleep(0.001)
    return "done"


def branch(name: str) -> Agent:
    def turn(request: ModelRequest) -> Any:
        last: Any = request.messages[-1].content[0]
        return name if hasattr(last, "content") else {"tool": work, "input": {}}

    return Agent(name=name, model=ScriptedModel(turn, repeat=True), tools=[work])


@workflow
def flow(flow: Workflow) -> WorkflowInvocation:
    flow.invoke(agent("inner", "inner")).output()
    return flow.invoke(branch("flow"))


class Wide(Graph):
    nodes = {
        "source": agent("source", "go", repeat=True),
        **{name: Node(branch(name), context=True, timeout=20) for name in BRANCHES[:-1]},
        BRANCHES[-1]: Node(flow, context=True),
        "sink": agent("sink", "joined", repeat=True),
    }
    edges = (
        *(("source", name) for name in BRANCHES),
        *((name, "sink") for name in BRANCHES),
    )
    start, finish = "source", "sink"


def chosen(seed: int) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """Context and options of a run, and how it may end."""
    fate = random.Random(seed).choice(["", "", "fail", "cancel", "deadline"])
    context = {"fate": "wait" if fate in ("cancel", "deadline") else fate}
    options: dict[str, Any] = {}
    if fate == "cancel":
        token = options["cancellation_token"] = CancellationToken()
        threading.Timer(0.02, token.cancel).start()
    if fate == "deadline":
        options["timeout"] = 0.05
    # A tool's failure is told to its model, which goes on.
    ends = {"cancel": {"run_cancel"}, "deadline": {"run_partial"}}.get(fate, {"run_stop"})
    return context, options, ends


def judge(seed: int, events: list[Any], run: Run, ends: set[str]) -> None:
    kinds = [event.type for event in events]
    assert [kind for kind in kinds if kind in TERMINAL] == kinds[-1:], seed
    assert kinds[-1] in ends, (seed, run.error)
    if kinds[-1] == "run_stop":
        assert run.result is not None
        names = [step.participant for step in run.result.steps if step.parent_id is None]
        assert sorted(names) == sorted(["source", "sink", *BRANCHES])
        assert names[-1] == "sink"


def in_threads() -> None:
    def one(seed: int) -> None:
        context, options, ends = chosen(seed)
        stream = Wide.stream("go", context=context, **options)
        judge(seed, list(stream), stream.run, ends)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(100)))


def in_tasks() -> None:
    async def one(seed: int) -> None:
        context, options, ends = chosen(seed)
        stream = Wide.stream_async("go", context=context, **options)
        judge(seed, [event async for event in stream], stream.run, ends)

    async def main() -> None:
        await asyncio.gather(*(one(seed) for seed in range(100)))
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


@pytest.mark.parametrize("work_all", [in_threads, in_tasks])
def test_many_graphs_at_once_lose_nothing(work_all: Callable[[], None]) -> None:
    work_all()
    deadline = time.monotonic() + 10
    while left := [each for each in threading.enumerate() if each.name.startswith("little-ghost")]:
        assert time.monotonic() < deadline, left
        left[0].join(1)


def test_a_conversation_keeps_what_was_said_in_public() -> None:
    runtime = Runtime(session_store=MemoryStore())
    private, public = agent("private", "secret", "secret"), agent("public", "one", "two")

    @workflow(runtime=runtime)
    def talk(flow: Workflow) -> WorkflowInvocation:
        flow.invoke(private).output()
        return flow.invoke(public, input=f"{flow.input.text} (rewritten)")

    assert talk.ask("First", session_id="s").response == "one"
    run = talk.ask("Second", session_id="s")
    assert (run.error, run.response) == (None, "two")
    stored = run.session.load()
    assert stored is not None
    assert [message.text for message in stored.messages] == ["First", "one", "Second", "two"]


def test_an_interjection_reaches_the_agent_at_work() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(request: ModelRequest) -> str:
        asked.set()
        assert go_on.wait(10)
        return "first"

    talker = agent("talker", answer, "noted")

    @workflow
    def talk(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(talker)

    with talk.start_execution("go") as execution:
        assert asked.wait(10)
        ticket = send(execution.run._native, "and y?", {})
        go_on.set()
        assert wait(*ticket).text == "noted"
        run = execution.wait(10)
    assert (run.error, run.response) == (None, "noted")


def test_partial_text_is_kept_at_the_deadline() -> None:
    slow = agent("slow", {"text": ["some", " words"], "pause": 30})

    @workflow
    def talk(flow: Workflow) -> WorkflowInvocation:
        return flow.invoke(slow)

    run = talk.ask("go", timeout=0.3)
    assert run.outcome == "partial"


def test_a_timeout_of_a_node_is_no_deadline_of_the_run() -> None:
    slow = agent("slow", {"text": "late", "delay": 30})
    graph = Graph(nodes={"slow": Node(slow, timeout=0.05)}, start="slow", finish="slow")
    assert isinstance(graph.ask("go").error, AssemblyStepTimeoutError)
