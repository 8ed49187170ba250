"""Against a mock server of another project, which also judges how its clients take failures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Fail, Reply, StreamFault, ToolCall, ToolFault
from llmock.testing import LLMockServer
from llmock.verdict import judge

from little_ghost import Agent, HTTPError, MalformedToolCallError, ProtocolError, Run, Runtime, tool

APIS = ["chat_completions", "responses", "anthropic", "gemini"]
# What the server leaves to the SDKs to add to its address.
PATHS = {"anthropic": "/v1/", "gemini": "/v1beta/"}


@tool
def weather(city: str) -> str:
    """Look up the weather of a city."""
    return f"Sunny in {city}."


@pytest.fixture(scope="module")
def running() -> Iterator[LLMockServer]:
    """The server of all tests."""
    with LLMockServer() as running:
        yield running


@pytest.fixture
def server(running: LLMockServer) -> LLMockServer:
    """A server that answers nothing but what a test scripts."""
    running.state.reset()
    return running


def agent(server: LLMockServer, api: str, **options: Any) -> Agent:
    if api in ("anthropic", "gemini"):
        connection = {"adapter": api, "base_url": server.base_url(api) + PATHS[api]}
    else:
        base_url = server.base_url("openai")
        connection = {"adapter": "openai_compatible", "api": api, "base_url": base_url}
    connection |= {"api_key": "test-key", "max_retry_delay": 0.1, **options}
    return Agent(
        model="mock:gpt-4o", tools=[weather], runtime=Runtime(providers={"mock": connection})
    )


def judged(server: LLMockServer, run: Run, attempts: int = 1) -> Run:
    """The run, once the server has noted all attempts and found no fault with the client."""
    end = time.monotonic() + 10
    while len(server.state.journal.records()) < attempts and time.monotonic() < end:
        # An attempt is noted a moment after its answer was read.
        time.sleep(0.001)
    assert len(server.state.journal.records()) == attempts
    judge(server.state.journal.records()).assert_ok()
    return run


@pytest.mark.parametrize("api", APIS)
def test_streams_an_answer(server: LLMockServer, api: str) -> None:
    server.state.scenarios.add(Reply(text="Hello from another server."))
    stream = agent(server, api).stream("Hello")
    texts = [event.data["text"] for event in stream if event.type == "text_delta"]
    run = judged(server, stream.run)
    assert "".join(texts) == run.response == "Hello from another server."
    assert run.usage.total_tokens > 0


@pytest.mark.parametrize("api", APIS)
def test_calls_a_tool(server: LLMockServer, api: str) -> None:
    call = ToolCall("weather", {"city": "Bern"})
    server.state.scenarios.add(Reply(tool_calls=(call,)))
    server.state.scenarios.add(Reply(text="Enjoy the sun."))
    events = list(agent(server, api).stream("Weather in Bern?"))
    stops = [event.data["result"] for event in events if event.type == "tool_stop"]
    assert [(stop.status, stop.content) for stop in stops] == [("success", "Sunny in Bern.")]
    assert events[-1].data["response"] == "Enjoy the sun."


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_tries_again_as_it_should(server: LLMockServer, api: str, status: int) -> None:
    server.state.scenarios.add(Fail(status, retry_after=0.1))
    server.state.scenarios.add(Reply(text="Made it."))
    run = judged(server, agent(server, api).ask("Hello"), attempts=2)
    assert run.response == "Made it."


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("status", [400, 401, 404])
def test_does_not_repeat_what_cannot_succeed(server: LLMockServer, api: str, status: int) -> None:
    server.state.scenarios.add(Fail(status, times=None))
    run = judged(server, agent(server, api).ask("Hello"))
    assert isinstance(run.error, HTTPError)
    assert run.error.status == status


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("kind", ["disconnect", "truncate"])
def test_a_broken_stream_is_no_answer(server: LLMockServer, api: str, kind: Any) -> None:
    server.state.scenarios.add(Reply(text="one two three four five"))
    server.state.scenarios.add(StreamFault(kind, after_chunks=2))
    server.state.scenarios.add(Reply(text="whole"))
    run = judged(server, agent(server, api).ask("Hello"), attempts=2)
    assert run.response == "whole"


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_stalls_times_out(server: LLMockServer, api: str) -> None:
    server.state.scenarios.add(Reply(text="one two three four five"))
    server.state.scenarios.add(StreamFault("stall", after_chunks=2, stall_seconds=5))
    run = agent(server, api, read_timeout=0.2, max_retries=0).ask("Hello")
    assert isinstance(run.error, HTTPError)
    assert "read_timeout" in str(run.error)


@pytest.mark.parametrize("api", APIS)
def test_a_malformed_event_fails(server: LLMockServer, api: str) -> None:
    server.state.scenarios.add(Reply(text="one two three four five"))
    server.state.scenarios.add(StreamFault("malformed", after_chunks=2))
    run = agent(server, api, max_retries=0).ask("Hello")
    assert isinstance(run.error, ProtocolError)
    assert "JSON" in str(run.error)


# Gemini's arguments are no text of their own, so they cannot be malformed.
@pytest.mark.parametrize("api", APIS[:-1])
def test_malformed_arguments_fail(server: LLMockServer, api: str) -> None:
    server.state.scenarios.add(Reply(tool_calls=(ToolCall("weather", {"city": "Bern"}),)))
    server.state.scenarios.add(ToolFault("malformed_arguments"))
    run = agent(server, api).ask("Weather in Bern?")
    assert isinstance(run.error, MalformedToolCallError)
