"""`stream`: events, and leaving early."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import pytest
from scripted import ENDLESS, SILENT, Provider, calls, says

from little_ghost import (
    Error,
    ModelResponse,
    RunContext,
    RunResult,
    StreamEvent,
    ToolResult,
    ToolUse,
    Usage,
    tool,
)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_events_of_a_run_with_a_tool(scenario: Any) -> None:
    provider = scenario(calls(("add", {"a": 1, "b": 2})), says(["th", "ree"]))
    stream = provider.agent(tools=[add]).stream("1 + 2?")
    events = list(stream)
    assert [event.type for event in events] == [
        "run_start",
        "invocation_start",
        "model_start",
        "message_start",
        "tool_call_start",
        "tool_call_delta",
        "usage",
        "tool_call_stop",
        "message_stop",
        "model_stop",
        "tool_start",
        "tool_stop",
        "model_start",
        "message_start",
        "text_delta",
        "text_delta",
        "usage",
        "message_stop",
        "model_stop",
        "invocation_stop",
        "run_stop",
    ]
    data = {event.type: event.data for event in events}
    use = ToolUse("call_1", "add", {"a": 1, "b": 2})
    assert data["tool_call_stop"] == {"index": 0, "tool_use": use}
    assert data["tool_stop"] == {"tool_use": use, "result": ToolResult("call_1", "3")}
    assert data["usage"] == {"usage": Usage(10, 5)}
    assert data["tool_call_delta"]["arguments"] == '{"a":1,"b":2}'
    assert isinstance(data["model_stop"]["response"], ModelResponse)
    assert isinstance(data["run_stop"]["result"], RunResult)
    assert data["run_stop"]["result"] is stream.run.result
    assert data["invocation_stop"]["result"] is stream.run.result
    assert stream.run.response == "three"


def test_an_event_is_an_ordinary_frozen_dataclass(scenario: Any) -> None:
    events = list(scenario(says(["a"])).agent().stream("x"))
    delta = next(event for event in events if event.type == "text_delta")
    assert delta == StreamEvent("text_delta", {"text": "a"})
    assert repr(delta) == "StreamEvent(type='text_delta', data={'text': 'a'})"
    with pytest.raises(AttributeError):
        delta.type = "other"  # type: ignore[misc]
    match delta:
        case StreamEvent("text_delta", {"text": text}):
            assert text == "a"
        case _:
            pytest.fail("no match")


def test_nothing_is_asked_before_the_first_event(scenario: Any) -> None:
    provider = scenario(says("a"))
    stream = provider.agent().stream("x")
    assert stream.run.outcome is None
    assert provider.journal() == []
    assert next(stream).type == "run_start"
    assert [event.type for event in stream][-1] == "run_stop"
    assert list(stream) == []


def test_who_sees_the_end_sees_the_run(scenario: Any) -> None:
    stream = scenario(says("a")).agent().stream("x")
    for event in stream:
        if event.type == "run_stop":
            assert stream.run.completed
            assert stream.run.response == "a"


def test_one_failure_is_one_object(scenario: Any) -> None:
    stream = scenario({"status": 400, "body": {}}).agent().stream("x")
    events = list(stream)
    assert [event.type for event in events][-2:] == ["invocation_error", "run_error"]
    assert events[-1].data["error"] is events[-2].data["error"] is stream.run.error
    assert "test-key" not in events[-1].data["message"]


def test_a_break_ends_the_run_at_once(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    closed: list[str] = []
    stream = provider.agent().stream("x")
    stream.run.register("resource", closed.append)
    for event in stream:
        if event.type == "text_delta":
            begun = time.perf_counter()
            break
    assert time.perf_counter() - begun < 1
    assert stream.run.cancelled
    assert closed == ["resource"]
    provider.wait(disconnects=1)
    assert list(stream) == []


def test_an_exception_in_the_loop_goes_on(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    with pytest.raises(ZeroDivisionError):
        for event in provider.agent().stream("x"):
            if event.type == "text_delta":
                _ = 1 / 0
    provider.wait(disconnects=1)


def test_next_can_be_used_and_the_rest_left(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    with provider.agent().stream("x") as stream:
        while next(stream).type != "text_delta":
            pass
        assert stream.run.outcome is None
        assert next(stream).data == {"text": " second"}
    assert stream.run.cancelled
    provider.wait(disconnects=1)


def test_a_dropped_stream_cancels_its_run(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    closed: list[str] = []
    stream = provider.agent().stream("x")
    run = stream.run
    run.register("resource", closed.append)
    while next(stream).type != "text_delta":
        pass
    del stream
    gc.collect()
    provider.wait(disconnects=1)
    assert run.cancelled
    assert closed == ["resource"]


def test_a_stream_in_a_cycle_is_collected(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    stream = provider.agent().stream("x")
    while next(stream).type != "text_delta":
        pass
    cycle: list[Any] = [stream]
    cycle.append(cycle)
    del stream, cycle
    gc.collect()
    provider.wait(disconnects=1)


def test_close_before_and_after(scenario: Any) -> None:
    provider = scenario(says("a"))
    unused = provider.agent().stream("x")
    closed: list[str] = []
    unused.run.register("resource", closed.append)
    unused.close()
    assert closed == ["resource"]
    assert provider.journal() == []
    used = provider.agent().stream("x")
    assert list(used)
    used.close()
    assert used.run.completed


def test_cancel_within_the_stream_ends_with_an_event(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    stream = provider.agent().stream("x")
    types = []
    for event in stream:
        types.append(event.type)
        if event.data.get("text") == " second":
            stream.run.cancel()
    assert types[-2:] == ["invocation_error", "run_cancel"]
    assert stream.run.cancelled
    provider.wait(disconnects=1)


def test_leaving_before_the_first_byte_of_the_answer(scenario: Any) -> None:
    provider = scenario(SILENT)
    stream = provider.agent().stream("x")
    for event in stream:
        if event.type == "model_start":
            provider.wait(requests=1)
            break
    assert stream.run.cancelled
    provider.wait(disconnects=1)


def test_a_tool_is_told_that_the_run_is_over(scenario: Any) -> None:
    told: list[bool] = []

    @tool
    def cancels(context: RunContext) -> str:
        """Cancel."""
        context.run.cancel()
        while not context.cancellation_token.cancelled:
            pass
        told.append(True)
        return "late"

    run = scenario(calls(("cancels", {}))).agent(tools=[cancels]).ask("x")
    assert run.cancelled
    assert told == [True]


def test_many_streams_side_by_side(scenario: Any) -> None:
    provider = scenario(says(["a", "b", "c"]), cycle=True)
    agent = provider.agent()
    streams = [agent.stream("x") for _ in range(20)]
    texts = ["" for _ in streams]
    live = dict(enumerate(streams))
    while live:
        for index, stream in list(live.items()):
            event = next(stream, None)
            if event is None:
                del live[index]
            elif event.type == "text_delta":
                texts[index] += event.data["text"]
    assert texts == ["abc"] * 20


def test_a_large_answer_keeps_its_order(scenario: Any) -> None:
    pieces = [f"{number} " for number in range(5000)]
    stream = scenario(says(pieces)).agent().stream("x")
    text = [event.data["text"] for event in stream if event.type == "text_delta"]
    assert text == pieces
    assert stream.run.response.split() == [piece.strip() for piece in pieces]


def test_closing_a_stream_that_another_thread_reads(scenario: Any) -> None:
    provider = scenario(ENDLESS)
    stream = provider.agent().stream("x")
    closed: list[str] = []
    stream.run.register("resource", closed.append)
    types: list[str] = []
    reader = threading.Thread(target=lambda: types.extend(event.type for event in stream))
    reader.start()
    provider.wait(requests=1)
    while reader.is_alive():
        stream.close()
        reader.join(0.01)
    assert (stream.run.outcome, closed) == ("cancelled", ["resource"])


def test_only_one_thread_reads_a_stream(scenario: type[Provider]) -> None:
    provider = scenario(says(["first", {"wait_for": "go"}, " last"]))
    stream = provider.agent().stream("x")
    reached = threading.Event()
    types: list[str] = []

    def read() -> None:
        for event in stream:
            types.append(event.type)
            if event.type == "text_delta":
                reached.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert reached.wait(10)
    while not stream._is_read:
        pass
    with pytest.raises(Error, match="one thread at a time"):
        next(stream)
    with pytest.raises(Error, match="one thread at a time"):
        list(stream)
    provider.signal("go")
    reader.join(10)
    assert stream.run.response == "first last" and types[-1] == "run_stop"
