"""Code that has the thread or the task that drives a run, when the time of its participant is up."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from participants import WAYS, agent

from little_ghost import (
    Agent,
    AssemblyStepTimeoutError,
    Model,
    RunContext,
    Runtime,
    StreamEvent,
    Workflow,
    WorkflowInvocation,
    before_tool,
    tool,
)

PATIENCE = 10.0
"""Seconds after which code gives up that should have been told to stop."""


class Work:
    """A participant that works for ever, and how it ended."""

    def __init__(self, *, asynchronous: bool = False) -> None:
        self.began = False
        self.ended = ""

        @tool
        def plain(context: RunContext) -> str:
            """Works until it is told to stop."""
            self.began = True
            self.ended = until(lambda: context.cancellation_token.cancelled)
            return "late"

        @tool
        async def coroutine() -> str:
            """Works until it is cancelled."""
            self.began = True
            try:
                await asyncio.sleep(PATIENCE)
            except asyncio.CancelledError:
                self.ended = "told"
                raise
            return "late"

        chosen = coroutine if asynchronous else plain
        self.agent = agent("slow", {"tool": chosen, "input": {}}, "late", tools=[chosen])


def until(told: Callable[[], bool]) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if told():
            return "told"
        time.sleep(0.001)
    return "never told"


def bounded(slow: Any, *beside: Any, **options: Any) -> Workflow:
    """A workflow that gives `slow` a moment and then goes on."""

    class Flow(Workflow):
        def perform(self) -> WorkflowInvocation:
            try:
                self.parallel(self.invoke(slow, timeout=0.3), *map(self.invoke, beside))
            except AssemblyStepTimeoutError:
                return self.invoke(agent("last", "saved"))
            raise AssertionError("it was in time")

    return Flow(**options)


@pytest.mark.parametrize("concurrency", ["inline", "thread"])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_tools_stop_with_their_participant(way: str, asynchronous: bool, concurrency: Any) -> None:
    work = Work(asynchronous=asynchronous)
    run = WAYS[way](bounded(work.agent, runtime=Runtime(concurrency=concurrency)), "go")
    assert (run.response, run.error) == ("saved", None)
    # On a machine that is busy enough the time is up before it begins, and then it does not begin.
    if work.began:
        # A thread of its own may see it a moment after the run has ended.
        assert until(lambda: work.ended != "") == "told"
        assert work.ended == "told"


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_answers_that_come_too_late_are_dropped(way: str) -> None:
    @tool
    def deaf() -> str:
        """Takes its time."""
        time.sleep(0.6)
        return "late"

    slow = agent("slow", {"tool": deaf, "input": {}}, "done after all", tools=[deaf])
    run = WAYS[way](bounded(slow, runtime=Runtime(concurrency="inline")), "go")
    assert run.response == "saved"
    assert len(slow.model.requests) == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_what_was_given_up_does_not_begin(way: str) -> None:
    begun: list[int] = []

    @tool
    def take(number: int) -> str:
        """Takes longer than there is."""
        begun.append(number)
        time.sleep(0.6)
        return "done"

    turn = {"tools": [{"tool": take, "input": {"number": number}} for number in range(4)]}
    slow = agent("slow", turn, "late", tools=[take])
    run = WAYS[way](bounded(slow, runtime=Runtime(concurrency="inline")), "go")
    assert run.response == "saved"
    assert begun == [0]


class Endless(Model):
    """A model that says a word again and again."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def stream(self, request: Any) -> Iterator[StreamEvent]:
        try:
            yield StreamEvent("message_start", {})
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                time.sleep(0.001)
                yield StreamEvent("text_delta", {"text": "so "})
        finally:
            self.closed.set()


@pytest.mark.parametrize("way", ["ask", "ask_async"])
def test_models_stop_with_their_participant(way: str) -> None:
    model = Endless()
    began = time.monotonic()
    slow = Agent(name="slow", model=model)
    run = WAYS[way](bounded(slow, runtime=Runtime(concurrency="inline")), "go")
    assert run.response == "saved", run.error
    assert model.closed.is_set()
    assert time.monotonic() - began < PATIENCE


def test_callbacks_stop_with_their_participant() -> None:
    ended: list[str] = []

    class Careful(Agent):
        @before_tool
        def wait(self, payload: Any, context: RunContext) -> None:
            ended.append(until(lambda: context.cancellation_token.cancelled))

    work = Work().agent
    slow = Careful(name="slow", model=work.model, tools=work.tools)
    run = bounded(slow).ask("go")
    assert run.response == "saved", run.error
    assert ended == ["told"]
