"""Talking to agents at work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest
from scripted import ENDLESS, calls, says, texts

from little_ghost import (
    Agent,
    AgentInterjectionError,
    CancellationToken,
    CancelledError,
    DeadlineExceededError,
    Hook,
    InterjectionAnswer,
    Run,
    Runtime,
    tool,
)
from little_ghost.interjection import send, wait

HELD = {"chat": {"text": ["first", {"wait_for": "go"}, " part"]}}


async def queued(task: asyncio.Task[Any]) -> None:
    """Lets a task run until it waits for the engine."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()


def test_an_interjection(scenario: Any) -> None:
    provider = scenario(HELD, says("noted"))
    with provider.agent().start_execution("x") as execution:
        provider.wait(requests=1)
        ticket, token = send(execution.run._native, "and y?", {"interjection_id": "i-1"})
        provider.signal("go")
        assert wait(ticket, token) == InterjectionAnswer("noted", False, ("i-1",))
        run = execution.wait(10)
    assert run.response == "noted"
    assert "and y?" in texts(provider.journal()[1])[-1]


async def test_an_interjection_on_a_loop(scenario: Any) -> None:
    provider = scenario(HELD, says("noted"))
    async with provider.agent().start_execution_async("x") as execution:
        await asyncio.to_thread(provider.wait, requests=1)
        asking = asyncio.create_task(
            execution.interject("and y?", interjection_id="i-1", batch_key="b", metadata={"a": 1})
        )
        await queued(asking)
        assert execution.active
        provider.signal("go")
        answer = await asking
        assert (answer.text, answer.interjection_ids, answer.batch_key) == ("noted", ("i-1",), "b")
        assert (await execution.wait(10)).response == "noted"


def test_from_a_tool_of_the_same_run(scenario: Any) -> None:
    tickets: list[Any] = []

    @tool
    def pause(context: Any) -> str:
        """Pause."""
        tickets.append(send(context.run._native, "hurry", {}))
        return "ok"

    provider = scenario(calls(("pause", {})), says("hurrying"))
    run = provider.agent(tools=[pause]).ask("x")
    assert run.response == "hurrying"
    assert wait(*tickets[0]).text == "hurrying"


class Translating(Hook):
    def prepare_interjection(self, run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**payload, "message": f"{payload['message']} ({payload['language']})"}


class Waiting(Hook):
    async def prepare_interjection(  # type: ignore[override]
        self, run: Run, payload: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        await asyncio.sleep(0)
        return {**payload, "message": payload["message"].upper()}


async def test_hooks_prepare_what_is_said(scenario: Any) -> None:
    provider = scenario(HELD, says("noted"))
    runtime = provider.runtime().build(hooks=[Translating, Waiting])
    async with Agent(runtime=runtime).start_execution_async("x") as execution:
        await asyncio.to_thread(provider.wait, requests=1)
        asking = asyncio.create_task(execution.interject({"message": "and y?", "language": "en"}))
        await queued(asking)
        provider.signal("go")
        assert (await asking).text == "noted"
    assert "AND Y? (EN)" in texts(provider.journal()[1])[-1]


def test_hooks_of_an_execution_in_a_thread(scenario: Any) -> None:
    class Refusing(Hook):
        def prepare_interjection(self, run: Run, payload: Mapping[str, Any]) -> Any:
            return "nothing"

    provider = scenario(ENDLESS)
    runtime = provider.runtime().build(hooks=[Waiting, Refusing])
    with Agent(runtime=runtime).start_execution("x") as execution:
        provider.wait(requests=1)
        with pytest.raises(TypeError, match=r"Refusing\.prepare_interjection must return a dict"):
            execution.interject("x")
        assert not execution.finished


def test_when_nobody_listens(scenario: Any) -> None:
    provider = scenario(says("a"), ENDLESS)
    run = provider.agent().ask("x")
    with pytest.raises(AgentInterjectionError):
        run.interject("y")
    execution = provider.agent().start_execution("x")
    provider.wait(requests=2)
    with pytest.raises(TypeError, match="message: content must be text"):
        execution.run.interject(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes no speed"):
        execution.run.interject("y", speed=3)  # type: ignore[call-arg]
    execution.close()
    with pytest.raises(AgentInterjectionError, match="being closed"):
        execution.interject("y")


def test_waiting_for_an_answer_ends(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    with provider.agent().start_execution("x") as execution:
        provider.wait(requests=1)
        token = CancellationToken()
        ticket, _ = send(execution.run._native, "y", {"cancellation_token": token})
        token.cancel()
        with pytest.raises(CancelledError, match="interjection was cancelled"):
            wait(ticket, token)
        with pytest.raises(CancelledError):
            execution.interject("y", cancellation_token=token)
        with pytest.raises(DeadlineExceededError):
            execution.interject("y", timeout=0.05)
        ticket, none = send(execution.run._native, "z", {})
        execution.cancel()
        with pytest.raises((AgentInterjectionError, CancelledError)):
            wait(ticket, none)


async def test_waiting_on_a_loop_ends(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    async with provider.agent().start_execution_async("x") as execution:
        await asyncio.to_thread(provider.wait, requests=1)
        asking = asyncio.create_task(execution.run.interject_async("y"))
        await queued(asking)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        token = CancellationToken()
        asking = asyncio.create_task(execution.interject("y", cancellation_token=token))
        await queued(asking)
        token.cancel()
        with pytest.raises(CancelledError):
            await asking
        with pytest.raises(DeadlineExceededError):
            await execution.interject("y", deadline_at=time.time() + 0.05)
    with pytest.raises(AgentInterjectionError, match="being closed"):
        await execution.interject("y")
    assert isinstance(execution.run.runtime, Runtime)


def test_options_of_an_interjection_are_checked(scenario: Any) -> None:
    provider = scenario(HELD)
    with provider.agent().start_execution("x") as execution:
        provider.wait(requests=1)
        options: Any = {"timout": 3}
        with pytest.raises(TypeError, match="interject takes no timout; did you mean timeout"):
            execution.interject("and y?", **options)
        with pytest.raises(TypeError, match="cancellation_token must be a CancellationToken"):
            execution.interject("and y?", cancellation_token=5)
        provider.signal("go")
