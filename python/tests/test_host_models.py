"""Agents whose model is written in Python."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from scripted import says

from little_ghost import (
    Agent,
    CancellationToken,
    ConfigurationError,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    ProtocolError,
    Run,
    Runtime,
    StreamEvent,
    ToolUse,
    Usage,
    events,
    tool,
)

Answer = Callable[[ModelRequest], Iterator[StreamEvent]]


def delta(text: str) -> StreamEvent:
    return StreamEvent("text_delta", {"text": text})


def stop(*content: Any, reason: str = "end_turn") -> StreamEvent:
    response = ModelResponse(Message("assistant", list(content)), reason, Usage(3, 2))
    return StreamEvent("message_stop", {"response": response})


class PlainModel(Model):
    """Answers with what its function yields."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []
        self.thread: int | None = None

    def stream(self, request: ModelRequest) -> Iterator[StreamEvent]:
        self.requests.append(request)
        self.thread = threading.get_ident()
        yield from self.answer(request)


class AsyncModel(PlainModel):
    """The same from an asynchronous generator."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:  # type: ignore[override]
        self.requests.append(request)
        for event in self.answer(request):
            await asyncio.sleep(0)
            yield event


KINDS = (PlainModel, AsyncModel)
WAYS = ("ask", "ask_async")


def ask(model: Model, way: str = "ask", **options: Any) -> Run:
    agent = Agent(model=model, runtime=Runtime(providers={}), system_prompt="Brief.", **options)
    return agent.ask("Hi") if way == "ask" else asyncio.run(agent.ask_async("Hi"))


def hello(request: ModelRequest) -> Iterator[StreamEvent]:
    yield StreamEvent("message_start", {"id": "1", "model": "python"})
    yield delta("Hel")
    yield delta("lo")
    yield StreamEvent("usage", {"usage": Usage(3, 2)})
    yield stop("Hello")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_it_answers(kind: type[PlainModel], way: str) -> None:
    model = kind(hello)
    run = ask(model, way)
    run.raise_for_outcome()
    assert (run.response, run.usage.total_tokens) == ("Hello", 5)
    assert [message.text for message in model.requests[0].messages] == ["Brief.", "Hi"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_calls_tools(kind: type[PlainModel]) -> None:
    @tool
    def double(number: int) -> int:
        """Double a number."""
        return number * 2

    def answer(request: ModelRequest) -> Iterator[StreamEvent]:
        last = request.messages[-1]
        if last.role == "tool":
            yield stop(f"It is {last.content[0].content}.")  # type: ignore[union-attr]
            return
        call = ToolUse("call_1", "double", {"number": 21})
        yield StreamEvent("tool_call_start", {"index": 0, "id": "call_1", "name": "double"})
        yield StreamEvent("tool_call_stop", {"index": 0, "tool_use": call})
        yield stop(call, reason="tool_use")

    model = kind(answer)
    assert ask(model, tools=[double]).response == "It is 42."
    assert [offered["name"] for offered in model.requests[0].tools] == ["double"]


@pytest.mark.parametrize("kind", KINDS)
def test_deltas_arrive_while_the_model_works(kind: type[PlainModel]) -> None:
    seen = threading.Event()

    def answer(request: ModelRequest) -> Iterator[StreamEvent]:
        yield delta("first")
        assert seen.wait(10)
        yield stop("first")

    agent = Agent(model=kind(answer), runtime=Runtime(providers={}))
    with agent.stream("Hi") as stream:
        for event in stream:
            if event.type == "text_delta":
                seen.set()
    assert stream.run.response == "first"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_its_exceptions_fail_the_run(kind: type[PlainModel], way: str) -> None:
    failure = KeyError("no such thing")

    def broken(request: ModelRequest) -> Iterator[StreamEvent]:
        yield delta("a")
        raise failure

    assert ask(kind(broken), way).error is failure

    def silent(request: ModelRequest) -> Iterator[StreamEvent]:
        yield delta("a")

    assert isinstance(ask(kind(silent), way).error, ProtocolError)

    def strange(request: ModelRequest) -> Iterator[Any]:
        yield "text"

    assert isinstance(ask(kind(strange), way).error, ProtocolError)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_cancelling_closes_it(kind: type[PlainModel], way: str) -> None:
    token = CancellationToken()
    closed = threading.Event()

    def answer(request: ModelRequest) -> Iterator[StreamEvent]:
        try:
            token.cancel()
            while True:
                time.sleep(0.001)
                yield delta("a")
        finally:
            closed.set()

    agent = Agent(model=kind(answer), runtime=Runtime(providers={}))
    if way == "ask":
        run = agent.ask("Hi", cancellation_token=token)
    else:
        run = asyncio.run(agent.ask_async("Hi", cancellation_token=token))
    assert run.cancelled
    assert closed.wait(10)


def test_inline_it_runs_on_the_callers_thread() -> None:
    model = PlainModel(hello)
    own = Runtime(providers={}, concurrency="inline")
    assert Agent(model=model, runtime=own).ask("Hi").response == "Hello"
    assert model.thread == threading.get_ident()


def test_what_it_says_of_itself() -> None:
    model = PlainModel(hello)
    assert (model.target, model.model_id, model.role) == ("python:plain_model", "plain_model", None)
    assert not model.details.known
    assert model.capabilities.known


def test_an_unknown_model_works_with_one_warning(scenario: Any) -> None:
    heard: list[Any] = []

    def listen(event: Any) -> None:
        if event.name == "little_ghost.model.unknown":
            heard.append(event.payload["target"])

    provider = scenario(says("a"), says("b"))
    agent = provider.agent()
    events.subscribe(listen)
    try:
        assert [agent.ask("x").response for _ in range(2)] == ["a", "b"]
    finally:
        events.unsubscribe(listen)
    assert heard == ["scripted:scripted-model"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "stream, complaint",
    [
        (lambda _: None, "Odd.stream must be a generator of StreamEvent, but it gave NoneType"),
        (lambda _: [StreamEvent("usage", None)], "data of usage must be a dict, not NoneType"),
        (
            lambda _: [StreamEvent("text_delta", {"text": object()})],
            "data of text_delta is unusable",
        ),
        (
            lambda _: [
                StreamEvent(
                    "message_stop",
                    {"response": ModelResponse(Message("assistant", "x"), "end_turn", None)},
                )
            ],
            "must have a Usage as usage, not NoneType",
        ),
    ],
)
def test_what_is_no_stream_of_events(way: str, stream: Any, complaint: str) -> None:
    odd = type("Odd", (Model,), {"stream": lambda _, request: stream(request)})
    run = ask(odd(), way)
    assert isinstance(run.error, ProtocolError) and complaint in str(run.error)


def test_a_class_is_no_model() -> None:
    with pytest.raises(ConfigurationError, match=r"instance of the model, such as PlainModel\(\)"):
        Agent(model=PlainModel)
    run = Agent(model=lambda: PlainModel, runtime=Runtime(providers={})).ask("x")
    assert "model of Agent gave the class PlainModel" in str(run.error)


def test_properties_of_a_model_are_checked() -> None:
    odd = type("Odd", (PlainModel,), {"capabilities": 5})
    assert "Odd.capabilities must be a ModelCapabilities" in str(ask(odd(hello)).error)
