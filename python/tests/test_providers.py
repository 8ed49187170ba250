"""Providers as objects, and what an application puts in the place of their parts."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from scripted import Provider as Scripted
from scripted import says

from little_ghost import (
    AdapterLoadError,
    Agent,
    CancellationToken,
    ConfigurationError,
    ContextWindowOverflowError,
    CredentialError,
    HTTPError,
    Message,
    ModelRequest,
    ProtocolError,
    Runtime,
)
from little_ghost.providers import (
    Anthropic,
    Bedrock,
    OpenAI,
    OpenAICompatible,
    OpenRouter,
    TransportRequest,
)

QUESTION = ModelRequest([Message("user", "Hi")])


def chat(*texts: str) -> list[bytes]:
    events: list[Any] = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [*(f"data: {json.dumps(event)}\n\n".encode() for event in events), b"data: [DONE]\n\n"]


class Gateway:
    """Answers each request with the next of its replies: pieces, or an exception."""

    def __init__(self, *replies: list[bytes] | Exception) -> None:
        self._replies = list(replies)
        self.requests: list[TransportRequest] = []

    def stream(self, request: TransportRequest) -> Iterator[bytes]:
        self.requests.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        yield from reply


class AsyncGateway(Gateway):
    async def stream(self, request: TransportRequest) -> AsyncIterator[bytes]:  # type: ignore[override]
        for chunk in super().stream(request):
            await asyncio.sleep(0)
            yield chunk


def provider(transport: Any, **options: Any) -> OpenAICompatible:
    options = {"base_url": "https://models.example.test/v1", "api": "chat_completions", **options}
    return OpenAICompatible(model="m", api_key="test-key", transport=transport, **options)


def scripted(server: Scripted, **options: Any) -> OpenAICompatible:
    return OpenAICompatible(
        model="m", base_url=server.base_url, api="chat_completions", api_key="test-key", **options
    )


def test_a_provider_answers_without_an_agent() -> None:
    server = Scripted(says(["Hel", "lo"]), says("again"))
    direct = scripted(server, settings={"temperature": 0.2})
    kinds = [event.type for event in direct.stream(QUESTION)]
    assert kinds == ["message_start", "text_delta", "text_delta", "usage", "message_stop"]
    assert direct.complete(QUESTION).message.text == "again"
    request = server.journal()[0]
    assert request["headers"]["authorization"] == "Bearer test-key"
    assert request["body"]["temperature"] == 0.2


def test_a_provider_answers_on_an_event_loop() -> None:
    server = Scripted(says("Hello"), says("again"))

    async def main() -> None:
        direct = scripted(server)
        kinds = [event.type async for event in direct.stream_async(QUESTION)]
        assert kinds[-1] == "message_stop"
        assert (await direct.complete_async(QUESTION)).message.text == "again"

    asyncio.run(main())


def test_a_provider_is_the_model_of_an_agent() -> None:
    server = Scripted(says("Hello"))
    assert Agent(model=scripted(server)).ask("Hi").response == "Hello"


def test_what_is_known_of_a_provider() -> None:
    known = OpenAI(model="gpt-5.6-luna", api_key="sk-hidden")
    assert (known.target, known.model_id, known.role) == (
        "openai:gpt-5.6-luna",
        "gpt-5.6-luna",
        None,
    )
    assert known.details.context_window == 922_000
    assert known.capabilities.native_structured_output
    assert "sk-hidden" not in repr(known)
    assert not OpenRouter(model="nobody/knows", api_key="k").capabilities.known
    limited = provider(Gateway(), details={"max_output_tokens": 10}, settings={"max_tokens": 99})
    assert limited.settings["max_tokens"] == 10


def test_unusable_options_are_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="api"):
        provider(Gateway(), api="telepathy")
    with pytest.raises(ConfigurationError, match="unknown option"):
        OpenAI(model="m", project="p")  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="transport must be an object with stream"):
        provider(3)
    with pytest.raises(ConfigurationError, match="sleeper must be a function"):
        provider(Gateway(), sleeper=3)
    with pytest.raises(ConfigurationError, match="model of OpenAI"):
        OpenAI(model=" ")
    with pytest.raises(ConfigurationError, match="Anthropic has the unknown option 'max_retires'"):
        Anthropic(model="m", max_retires=5)  # type: ignore[call-arg]
    for name in ("settings", "details", "headers"):
        with pytest.raises(ConfigurationError, match=f"{name} of Anthropic must be a mapping"):
            Anthropic(model="m", **{name: "text"})  # type: ignore[arg-type]
    with pytest.raises(CredentialError):
        OpenAICompatible(model="m", base_url="https://a.test").complete(QUESTION)


@pytest.mark.parametrize("kind", [Gateway, AsyncGateway])
def test_a_transport_carries_requests(kind: type[Gateway]) -> None:
    gateway = kind(chat("Hel", "lo"))
    direct = provider(gateway, headers={"X-Tenant": "blue"})
    request = ModelRequest([Message("user", "Hi")], deadline_at=4e9)
    assert direct.complete(request).message.text == "Hello"
    sent = gateway.requests[0]
    assert sent.url == "https://models.example.test/v1/chat/completions"
    assert sent.path == "chat/completions"
    assert sent.headers["authorization"] == "Bearer test-key"
    assert sent.headers["x-tenant"] == "blue"
    assert json.loads(sent.body)["model"] == "m"
    assert sent.deadline_at == 4e9
    assert "test-key" not in repr(sent)


@pytest.mark.parametrize("kind", [Gateway, AsyncGateway])
def test_a_transport_on_an_event_loop(kind: type[Gateway]) -> None:
    async def main() -> None:
        gateway = kind(chat("one"), chat("two"))
        assert (await provider(gateway).complete_async(QUESTION)).message.text == "one"
        assert (await Agent(model=provider(gateway)).ask_async("Hi")).response == "two"

    asyncio.run(main())


@pytest.mark.parametrize("kind", [Gateway, AsyncGateway])
def test_an_agent_uses_a_transport(kind: type[Gateway]) -> None:
    gateway = kind(chat("direct"), chat("configured"))
    assert Agent(model=provider(gateway)).ask("Hi").response == "direct"
    runtime = Runtime(
        providers={
            "local": {
                "adapter": "openai_compatible",
                "base_url": "https://a.test/v1",
                "api": "chat_completions",
                "api_key": "k",
                "transport": gateway,
            }
        }
    )
    assert Agent(model="local:m", runtime=runtime).ask("Hi").response == "configured"
    assert gateway.requests[1].headers["authorization"] == "Bearer k"


def test_a_function_carries_requests() -> None:
    assert provider(lambda request: chat("Hello")).complete(QUESTION).message.text == "Hello"


def test_events_come_while_the_transport_goes_on() -> None:
    seen = threading.Event()
    went_on = []

    def slow(request: TransportRequest) -> Iterator[bytes]:
        first, *rest = chat("first", "second")
        yield first
        went_on.append(seen.wait(5))
        yield from rest

    texts = []
    for event in provider(slow).stream(QUESTION):
        if event.type == "text_delta":
            texts.append(event.data["text"])
            seen.set()
    assert (texts, went_on) == (["first", "second"], [True])


def test_leaving_early_closes_the_transport() -> None:
    closed = threading.Event()

    def endless(request: TransportRequest) -> Iterator[bytes]:
        try:
            first, *rest = chat("first")
            yield first
            while not request.cancellation_token.wait(0.05):
                pass
            yield from rest
        finally:
            closed.set()

    for event in provider(endless).stream(QUESTION):
        if event.type == "text_delta":
            break
    assert closed.wait(5)


def test_cancelling_a_run_cancels_its_asynchronous_transport() -> None:
    began = threading.Event()
    ended = threading.Event()

    async def endless(request: TransportRequest) -> AsyncIterator[bytes]:
        try:
            began.set()
            await asyncio.Event().wait()
            yield b""
        finally:
            ended.set()

    token = CancellationToken()
    canceller = threading.Thread(target=lambda: began.wait(5) and token.cancel())
    canceller.start()
    run = Agent(model=provider(endless)).ask("Hi", cancellation_token=token)
    canceller.join()
    assert run.outcome == "cancelled"
    assert ended.wait(5)


def down(status: int = 503, body: str = "down") -> HTTPError:
    return HTTPError("the service said no", status=status, body=body)


def test_failures_are_retried_told_and_slept_over() -> None:
    slept: list[float] = []
    told: list[tuple[int, BaseException, float]] = []
    first, second = down(), down(429)
    direct = provider(
        Gateway(first, second, chat("up")),
        sleeper=slept.append,
        on_retry=lambda *facts: told.append(facts),
    )
    events = list(direct.stream(QUESTION))
    retries = [event.data for event in events if event.type == "model_retry"]
    assert [retry["http_status"] for retry in retries] == [503, 429]
    assert [(attempt, error) for attempt, error, _ in told] == [(1, first), (2, second)]
    assert slept == [delay for _, _, delay in told] == [retry["delay"] for retry in retries]


def test_hooks_may_be_coroutine_functions() -> None:
    slept = []

    async def sleeper(seconds: float) -> None:
        await asyncio.sleep(0)
        slept.append(seconds)

    direct = provider(Gateway(down(), chat("a"), down(), chat("b")), sleeper=sleeper)
    assert direct.complete(QUESTION).message.text == "a"
    assert asyncio.run(direct.complete_async(QUESTION)).message.text == "b"
    assert len(slept) == 2


@pytest.mark.parametrize("failure", [down(400, "no"), OSError("closed"), KeyError("odd")])
def test_what_a_transport_raises_comes_back_as_it_is(failure: Exception) -> None:
    with pytest.raises(type(failure)) as caught:
        provider(Gateway(failure)).complete(QUESTION)
    assert caught.value is failure
    assert Agent(model=provider(Gateway(failure))).ask("Hi").error is failure


def test_a_context_that_is_too_long_is_told_apart() -> None:
    failure = down(400, '{"error": {"code": "context_length_exceeded"}}')
    with pytest.raises(ContextWindowOverflowError):
        provider(Gateway(failure)).complete(QUESTION)


def test_what_no_transport_gives() -> None:
    with pytest.raises(ProtocolError, match="must yield bytes, not int"):
        provider(lambda request: [3]).complete(QUESTION)
    with pytest.raises(ProtocolError, match="in pieces"):
        provider(lambda request: b"whole").complete(QUESTION)
    with pytest.raises(ProtocolError):
        provider(lambda request: [], max_retries=0).complete(QUESTION)
    with pytest.raises(ProtocolError):
        provider(Gateway(chat("long" * 100)), max_response_bytes=100).complete(QUESTION)


def test_exceptions_of_hooks_end_the_request() -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        provider(Gateway(down()), on_retry=broken).complete(QUESTION)
    with pytest.raises(ZeroDivisionError):
        provider(Gateway(down()), sleeper=broken).complete(QUESTION)


def test_an_adapter_may_make_a_provider() -> None:
    gateway = Gateway(chat("by an adapter"))
    runtime = Runtime(
        providers={"own": {"adapter": "gateway", "tenant": "blue"}},
        models={"support": {"target": "own:m", "settings": {"temperature": 0.5}}},
        provider_adapters={
            "gateway": lambda connection: provider(
                gateway, headers={"x-tenant": connection.options["tenant"]}, settings={"seed": 1}
            )
        },
    )
    run = Agent(model="support", runtime=runtime).ask("Hi")
    assert run.response == "by an adapter"
    sent = gateway.requests[0]
    body = json.loads(sent.body)
    assert (sent.headers["x-tenant"], body["temperature"], body["seed"]) == ("blue", 0.5, 1)
    assert runtime.models.resolve("support").target == "own:m"


def test_an_adapter_that_cannot_be_loaded() -> None:
    def lost(connection: Any) -> Any:
        raise ImportError("no such package")

    runtime = Runtime(
        providers={"own": {"adapter": "lost", "session": object()}},
        provider_adapters={"lost": lost},
    )
    with pytest.raises(AdapterLoadError, match="no such package"):
        runtime.models.resolve("own:m")


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1.0, 10**400, True, "noon"])
def test_a_clock_that_gives_no_time_ends_the_request(now: Any) -> None:
    direct = Bedrock(
        model="m",
        region="eu-central-1",
        credentials={"access_key_id": "AKIDEXAMPLE", "secret_access_key": "k"},
        clock=lambda: now,
    )
    within = ModelRequest([Message("user", "Hi")], deadline_at=time.time() + 20)
    with pytest.raises(ConfigurationError, match="the clock must give"):
        direct.complete(within)
