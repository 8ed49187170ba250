"""Event loops: many runs, leaving early, loops that end."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import pytest
from scripted import ENDLESS, SILENT, calls, says

from little_ghost import (
    AsyncRunStream,
    CancelledError,
    CleanupError,
    InvocationError,
    RunContext,
    tool,
)


async def test_ask_and_stream(scenario: Any) -> None:
    provider = scenario(says(["Hel", "lo"]), cycle=True)
    agent = provider.agent()
    assert (await agent.ask_async("x")).response == "Hello"
    stream = agent.stream_async("x")
    assert [event.type async for event in stream][-1] == "run_stop"
    assert stream.run.response == "Hello"
    assert [event async for event in stream] == []
    await stream.aclose()


async def test_bad_input_is_raised(scenario: Any) -> None:
    agent = scenario().agent()
    with pytest.raises(InvocationError):
        await agent.ask_async(" ")
    with pytest.raises(InvocationError):
        agent.stream_async(" ")


async def test_a_failed_run_is_returned(scenario: Any) -> None:
    run = await scenario({"status": 400, "body": {}}).agent().ask_async("x")
    assert run.failed


async def test_anext_and_aclose(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    async with provider.agent().stream_async("x") as stream:
        while (await stream.__anext__()).type != "text_delta":
            pass
        assert stream.run.outcome is None
    assert stream.run.cancelled
    provider.wait(disconnects=1)


async def test_a_break_cancels_at_once_and_closes_soon(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    closed = asyncio.Event()
    stream = provider.agent().stream_async("x")

    async def close(_: str) -> None:
        closed.set()

    stream.run.register("resource", close)
    async for event in stream:
        if event.type == "text_delta":
            break
    provider.wait(disconnects=1)
    await asyncio.wait_for(closed.wait(), 5)
    await stream.aclose()
    assert stream.run.cancelled


async def test_a_dropped_stream_cancels_its_run(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    stream = provider.agent().stream_async("x")
    while (await stream.__anext__()).type != "text_delta":
        pass
    del stream
    gc.collect()
    provider.wait(disconnects=1)


async def test_a_stream_dropped_in_another_thread(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    holder = [provider.agent().stream_async("x")]
    while (await holder[0].__anext__()).type != "text_delta":
        pass
    await asyncio.to_thread(holder.clear)
    await asyncio.to_thread(provider.wait, disconnects=1)


async def test_an_unused_stream_closes_its_resources(scenario: Any) -> None:
    closed: list[str] = []
    stream = scenario().agent().stream_async("x")
    stream.run.register("resource", closed.append)
    await stream.aclose()
    assert closed == ["resource"]
    with pytest.raises(StopAsyncIteration):
        await stream.__anext__()
    assert stream.run.outcome is None


@pytest.mark.parametrize("answer", [SILENT, ENDLESS])
async def test_cancelling_the_task_cancels_the_run(scenario: Any, answer: Any) -> None:
    provider = scenario(answer)
    task = asyncio.ensure_future(provider.agent().ask_async("x"))
    await asyncio.to_thread(provider.wait, requests=1)
    begun = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - begun < 1
    await asyncio.to_thread(provider.wait, disconnects=1)


async def test_wait_for_gives_up_in_time(scenario: Any) -> None:
    provider = scenario(SILENT)
    begun = time.perf_counter()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(provider.agent().ask_async("x"), 0.2)
    assert time.perf_counter() - begun < 1.2
    await asyncio.to_thread(provider.wait, disconnects=1)


async def test_a_task_cancelled_before_it_begins(scenario: Any) -> None:
    provider = scenario()
    task = asyncio.ensure_future(provider.agent().ask_async("x"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert provider.journal() == []


async def test_a_second_cancellation_while_closing_leaves_the_closers_running(
    scenario: Any,
) -> None:
    provider = scenario(SILENT)
    closing, go_on, closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    stream = provider.agent().stream_async("x")

    async def close(_: str) -> None:
        closing.set()
        await go_on.wait()
        closed.set()

    stream.run.register("resource", close)

    async def consume() -> None:
        async for _ in stream:
            pass

    task = asyncio.ensure_future(consume())
    await asyncio.to_thread(provider.wait, requests=1)
    task.cancel()
    await closing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await asyncio.wait_for(closed.wait(), 5)


async def test_a_failed_closer_is_raised(scenario: Any) -> None:
    async def fail(_: str) -> None:
        raise OSError("disk")

    stream = scenario(says("a")).agent().stream_async("x")
    stream.run.register("resource", fail)
    with pytest.raises((CleanupError, OSError)):
        async for _ in stream:
            pass
    assert stream.run.failed


async def test_only_one_task_reads_a_stream(scenario: Any) -> None:
    provider = scenario(SILENT)
    stream = provider.agent().stream_async("x")
    for _ in range(3):
        await stream.__anext__()
    first = asyncio.ensure_future(stream.__anext__())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="one task at a time"):
        await stream.__anext__()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


def test_one_agent_in_fifty_loops(scenario: Any) -> None:
    provider = scenario(says("a"), cycle=True)
    agent = provider.agent()
    for _ in range(50):
        assert asyncio.run(agent.ask_async("x")).response == "a"


def test_one_agent_in_two_loops_in_two_threads(scenario: Any) -> None:
    provider = scenario(says(["a", "b"]), cycle=True)
    agent = provider.agent()
    results: list[str] = []

    async def several() -> None:
        for _ in range(20):
            results.append((await agent.ask_async("x")).response)

    threads = [threading.Thread(target=lambda: asyncio.run(several())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == ["ab"] * 40


async def test_two_hundred_runs_at_once(scenario: Any) -> None:
    @tool
    async def note(word: str, context: RunContext) -> str:
        """Note a word."""
        await asyncio.sleep(0)
        context.state.setdefault("words", []).append(word)
        return context.run.invocation.session_id

    # Each run asks twice, and the runs ask in any order.
    provider = scenario(
        *[{"match": {"body_contains": f'"call_{n}"'}, **says(f"answer {n}")} for n in range(200)],
        *[
            {
                "match": {"body_contains": f"question {n}."},
                "chat": {
                    "tool_calls": [
                        {"id": f"call_{n}", "name": "note", "arguments": {"word": f"w{n}"}}
                    ]
                },
            }
            for n in range(200)
        ],
        unordered=True,
    )
    agent = provider.agent(tools=[note])
    runs = await asyncio.gather(
        *(agent.ask_async(f"question {n}.", session_id=f"s{n}") for n in range(200))
    )
    for number, run in enumerate(runs):
        assert run.response == f"answer {number}", run.error
        assert run.state == {"words": [f"w{number}"]}
        assert run.result is not None
        assert run.result.messages[-2].to_dict()["content"][0]["content"] == f"s{number}"


def test_a_loop_that_is_closed_while_work_is_pending(scenario: Any) -> None:
    # With -W error, an unraisable error would fail this test.
    provider = scenario(SILENT, SILENT, SILENT)
    agent = provider.agent()
    loop = asyncio.new_event_loop()
    logged: list[Any] = []
    loop.set_exception_handler(lambda _, context: logged.append(context["message"]))
    stream = agent.stream_async("x")
    for _ in range(3):
        loop.run_until_complete(stream.__anext__())
    held: list[Any] = [loop.create_task(agent.ask_async("x")), stream]
    loop.run_until_complete(asyncio.to_thread(provider.wait, requests=2))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    del stream
    held.clear()
    gc.collect()
    provider.wait(disconnects=2)
    # What asyncio itself says about any task that nobody awaited.
    assert set(logged) <= {"Task was destroyed but it is pending!"}


def test_asyncio_run_ends_with_a_run_in_flight(scenario: Any) -> None:
    provider = scenario(SILENT)
    agent = provider.agent()
    tasks: list[asyncio.Task[Any]] = []

    async def main() -> None:
        tasks.append(asyncio.ensure_future(agent.ask_async("x")))
        await asyncio.to_thread(provider.wait, requests=1)

    asyncio.run(main())
    assert tasks[0].cancelled()
    provider.wait(disconnects=1)


async def test_cancel_from_the_token_ends_with_an_event(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    stream = provider.agent().stream_async("x")
    types = []
    async for event in stream:
        types.append(event.type)
        if event.type == "text_delta":
            stream.run.cancel()
    assert types[-1] == "run_cancel"
    assert isinstance(stream.run.error, CancelledError)


async def test_a_loop_does_not_spin_while_the_consumer_is_busy(scenario: Any) -> None:
    provider = scenario({"chat": {"text": ["a", {"wait_for": "go"}, "b"]}})
    stream = provider.agent().stream_async("x")
    while (await stream.__anext__()).type != "text_delta":
        pass
    provider.signal("go")
    await asyncio.to_thread(provider.wait, answered=1)
    begun = time.process_time()
    await asyncio.sleep(0.3)
    assert time.process_time() - begun < 0.15
    assert [event.type async for event in stream][-1] == "run_stop"


@pytest.mark.parametrize("tools", [0, 1, 2])
async def test_closing_a_stream_that_another_task_reads(scenario: Any, tools: int) -> None:
    begun, closed = asyncio.Event(), []

    @tool
    async def forever() -> None:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()

    async def close(name: str) -> None:
        await asyncio.sleep(0)
        closed.append(name)

    async def read() -> None:
        async for event in stream:
            if event.type == "text_delta":
                begun.set()

    answer = calls(*[("forever", {})] * tools) if tools else ENDLESS
    stream = scenario(answer).agent(tools=[forever]).stream_async("x")
    stream.run.register("resource", close)
    reader = asyncio.ensure_future(read())
    await begun.wait()
    await asyncio.wait_for(stream.aclose(), 10)
    assert (stream.run.outcome, closed) == ("cancelled", ["resource"])
    await asyncio.wait_for(reader, 10)


async def test_a_reader_that_is_cancelled_while_the_stream_closes(scenario: Any) -> None:
    closed: list[str] = []

    async def read() -> None:
        async for _ in stream:
            pass

    stream = scenario(SILENT).agent().stream_async("x")
    stream.run.register("resource", closed.append)
    reader = asyncio.ensure_future(read())
    await asyncio.sleep(0.1)
    closing = asyncio.ensure_future(stream.aclose())
    await asyncio.sleep(0)
    reader.cancel()
    await asyncio.wait_for(closing, 10)
    assert closed == ["resource"]
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_a_second_reader_is_refused_and_the_first_goes_on(scenario: Any) -> None:
    provider = scenario({"chat": {"text": ["a", {"wait_for": "go"}, "b"]}})
    stream = provider.agent().stream_async("x")
    while (await stream.__anext__()).type != "text_delta":
        pass
    with pytest.raises(RuntimeError, match="another event loop"):
        await asyncio.to_thread(asyncio.run, _next(stream))
    first = asyncio.ensure_future(stream.__anext__())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="only one task"):
        await stream.__anext__()
    provider.signal("go")
    assert (await first).type == "text_delta"
    assert [event.type async for event in stream][-1] == "run_stop"


async def _next(stream: AsyncRunStream) -> None:
    await stream.__anext__()


def test_without_a_loop_nothing_begins(scenario: Any) -> None:
    agent = scenario(says("ok")).agent()
    stream = agent.stream_async("x")
    coroutine = stream.__anext__()
    with pytest.raises(RuntimeError, match="no running event loop"):
        coroutine.send(None)

    async def read() -> list[str]:
        return [event.type async for event in stream]

    assert asyncio.run(read())[-1] == "run_stop"
