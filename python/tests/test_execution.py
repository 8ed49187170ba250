"""Runs in the background."""

from __future__ import annotations

import asyncio
import contextvars
import datetime
import threading
import time
from typing import Any

import pytest
from scripted import ENDLESS, SILENT, says

from little_ghost import Agent, DeadlineExceededError, InvocationError, StreamEvent, tool
from little_ghost.testing import ScriptedModel

request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="none")


def test_an_execution() -> None:
    events: list[StreamEvent] = []
    execution = Agent(model=ScriptedModel("a")).start_execution("x", events.append)
    run = execution.wait(10)
    assert run is execution.run
    assert (run.response, execution.state) == ("a", "finished")
    assert execution.finished and not execution.active
    assert execution.error is None
    assert events[-1].type == "run_stop"


def test_wait_gives_up_and_the_run_goes_on(scenario: Any) -> None:
    provider = scenario({"chat": {"text": [{"wait_for": "go"}, "a"]}})
    execution = provider.agent().start_execution("x")
    with pytest.raises(DeadlineExceededError):
        execution.wait(0.05)
    assert execution.active
    provider.signal("go")
    assert execution.wait(10).completed


def test_close_cancels_and_waits(scenario: Any) -> None:
    provider = scenario(SILENT)
    closed: list[str] = []
    with provider.agent().start_execution("x") as execution:
        execution.run.register("resource", closed.append)
        provider.wait(requests=1)
    assert execution.run.cancelled
    assert closed == ["resource"]
    execution.close()
    provider.wait(disconnects=1)


def test_a_callback_that_raises_fails_the_run(scenario: Any) -> None:
    error = KeyError("consumer")

    def consume(event: StreamEvent) -> None:
        if event.type == "text_delta":
            raise error

    provider = scenario(ENDLESS)
    execution = provider.agent().start_execution("x", consume)
    with pytest.raises(KeyError) as raised:
        execution.wait(10)
    assert raised.value is error is execution.error
    assert execution.run.failed
    assert execution.run.error is error
    provider.wait(disconnects=1)


def test_the_thread_has_the_callers_context() -> None:
    seen: list[Any] = []

    @tool
    def look() -> str:
        """Look."""
        seen.append((request_id.get(), threading.current_thread() is threading.main_thread()))
        return "ok"

    request_id.set("e1")
    agent = Agent(model=ScriptedModel({"tool": look}, "ok"), tools=[look])
    assert agent.start_execution("x").wait(10).completed
    assert seen == [("e1", False)]


def test_bad_input_is_raised_at_once(scenario: Any) -> None:
    with pytest.raises(InvocationError):
        scenario().agent().start_execution(" ")


def test_deadlines_of_waiting(scenario: Any) -> None:
    provider = scenario({"chat": {"text": [{"wait_for": "go"}, "a"]}})
    execution = provider.agent().start_execution("x")
    with pytest.raises(DeadlineExceededError, match="goes on"):
        execution.wait(deadline_at=time.time() + 0.05)
    with pytest.raises(DeadlineExceededError):
        execution.wait(60, deadline_at=datetime.datetime.now())
    provider.signal("go")
    assert execution.wait(deadline_at=time.time() + 10).completed


async def test_an_execution_on_a_loop(scenario: Any) -> None:
    events: list[StreamEvent] = []

    async def note(event: StreamEvent) -> None:
        await asyncio.sleep(0)
        events.append(event)

    request_id.set("e2")
    execution = scenario(says("a"), says("b")).agent().start_execution_async("x", note)
    assert execution.state == "pending" and execution.active
    run = await execution.wait(10)
    assert run is execution.run
    assert (run.response, execution.state, execution.error) == ("a", "finished", None)
    assert execution.finished and events[-1].type == "run_stop"
    await execution.close()
    # Waiting again is fine.
    assert await execution.wait() is run


async def test_waiting_on_a_loop(scenario: Any) -> None:
    provider = scenario({"chat": {"text": [{"wait_for": "go"}, "a"]}})
    execution = provider.agent().start_execution_async("x")
    with pytest.raises(DeadlineExceededError):
        await execution.wait(0.05)
    with pytest.raises(DeadlineExceededError):
        await execution.wait(deadline_at=time.time() + 0.05)
    assert execution.state == "running"
    provider.signal("go")
    assert (await execution.wait(deadline_at=time.time() + 10)).completed


async def test_closing_on_a_loop(scenario: Any) -> None:
    provider = scenario(SILENT)
    closed: list[str] = []
    async with provider.agent().start_execution_async("x") as execution:
        execution.run.register("resource", closed.append)
        await asyncio.to_thread(provider.wait, requests=1)
    assert execution.run.cancelled and closed == ["resource"]


@pytest.mark.parametrize("slow", [False, True])
async def test_a_callback_that_raises_on_a_loop(scenario: Any, slow: bool) -> None:
    error = KeyError("consumer")

    def consume(event: StreamEvent) -> Any:
        if event.type == "text_delta":
            if not slow:
                raise error

            async def later() -> None:
                raise error

            return later()
        return None

    provider = scenario(ENDLESS)
    execution = provider.agent().start_execution_async("x", consume)
    with pytest.raises(KeyError) as raised:
        await execution.wait(10)
    assert raised.value is error is execution.error is execution.run.error
    assert execution.run.failed
    await asyncio.to_thread(provider.wait, disconnects=1)


def test_a_loop_is_needed(scenario: Any) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        scenario().agent().start_execution_async("x")
