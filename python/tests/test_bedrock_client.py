"""Bedrock by way of somebody else's client."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from little_ghost import (
    Agent,
    ConfigurationError,
    ContextWindowOverflowError,
    Image,
    Message,
    ModelRequest,
    ProtocolError,
    ProviderError,
    Runtime,
)
from little_ghost.providers import Bedrock

QUESTION = ModelRequest([Message("user", "Hi")])

HELLO: list[Any] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hello"}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
    {"metadata": {"usage": {"inputTokens": 8, "outputTokens": 2, "totalTokens": 10}}},
]


class ThrottlingException(Exception):
    """What boto3 raises; the library goes by the name."""


class ValidationException(Exception):
    pass


class Client:
    """Answers each request with the next of its replies: events, or an exception."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.requests: list[dict[str, Any]] = []

    def converse_stream(self, **request: Any) -> Any:
        self.requests.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return {"stream": reply}


class AsyncClient(Client):
    async def converse_stream(self, **request: Any) -> Any:
        await asyncio.sleep(0)
        return {"stream": _one_by_one(super().converse_stream(**request)["stream"])}


async def _one_by_one(events: list[Any]) -> AsyncIterator[Any]:
    for event in events:
        yield event


def provider(client: Any, **options: Any) -> Bedrock:
    return Bedrock(model="arn:aws:bedrock:x/y", client=client, sleeper=lambda _: None, **options)


def test_it_is_asked_in_the_form_of_its_service() -> None:
    client = Client(HELLO)
    request = ModelRequest(
        [Message("user", [Image(b"\x89PNG\xff", media_type="image/png")])],
        settings={"max_tokens": 5},
    )
    response = provider(client).complete(request)
    assert (response.message.text, response.usage.input_tokens) == ("Hello", 8)
    asked = client.requests[0]
    assert asked["modelId"] == "arn:aws:bedrock:x/y"
    assert asked["inferenceConfig"] == {"maxTokens": 5}
    assert asked["messages"][0]["content"][0]["image"]["source"]["bytes"] == b"\x89PNG\xff"


def test_redacted_thoughts_come_back_as_bytes() -> None:
    redacted = {"contentBlockIndex": 0, "delta": {"reasoningContent": {"redactedContent": b"\xff"}}}
    client = Client([HELLO[0], {"contentBlockDelta": redacted}, *HELLO[2:]], HELLO)
    thought = provider(client).complete(QUESTION).message
    assert thought.content[0].to_dict()["data"] == base64.b64encode(b"\xff").decode()
    provider(client).complete(ModelRequest([Message("user", "Hi"), thought, Message("user", "?")]))
    sent = client.requests[1]["messages"][1]["content"][0]
    assert sent == {"reasoningContent": {"redactedContent": b"\xff"}}


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_it_works_in_either_world(kind: type[Client]) -> None:
    client = kind(HELLO, HELLO, HELLO)
    assert provider(client).complete(QUESTION).message.text == "Hello"
    assert asyncio.run(provider(client).complete_async(QUESTION)).message.text == "Hello"
    runtime = Runtime(
        providers={"aws": {"adapter": "bedrock", "client": client}}, default_model="aws:m"
    )
    assert Agent(runtime=runtime).ask("Hi").response == "Hello"


def test_failures_are_judged_by_their_names() -> None:
    told: list[BaseException] = []
    busy = ThrottlingException("slow")
    client = Client(busy, HELLO)
    asked = provider(client, on_retry=lambda attempt, error, delay: told.append(error))
    assert asked.complete(QUESTION).message.text == "Hello"
    assert told == [busy]
    final = ValidationException("bad model")
    with pytest.raises(ValidationException) as caught:
        provider(Client(final)).complete(QUESTION)
    assert caught.value is final
    with pytest.raises(ContextWindowOverflowError):
        provider(Client(ValidationException("Input is too long."))).complete(QUESTION)


def test_an_error_in_the_stream() -> None:
    busy = [HELLO[0], {"throttlingException": {"message": "slow"}}]
    assert provider(Client(busy, HELLO)).complete(QUESTION).message.text == "Hello"
    with pytest.raises(ProviderError):
        provider(Client([HELLO[0], {"validationException": {"message": "no"}}])).complete(QUESTION)


def test_what_is_no_client() -> None:
    with pytest.raises(ConfigurationError, match="converse_stream"):
        provider(object())
    with pytest.raises(ConfigurationError, match="leave out the transport"):
        provider(Client(), transport=lambda request: [])
    with pytest.raises(ProtocolError, match="stream"):
        provider(Client(3)).complete(QUESTION)


def test_keys_come_from_a_function() -> None:
    from scripted import Provider as Scripted

    server = Scripted(
        {
            "eventstream": [
                {"event": name, "data": data} for event in HELLO for name, data in event.items()
            ]
        }
    )
    asked = []

    async def keys() -> dict[str, str]:
        asked.append(True)
        return {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "hush", "session_token": "t"}

    bedrock = Bedrock(
        model="m",
        region="us-east-1",
        endpoint=server.base_url,
        credential_resolver=keys,
        clock=lambda: 1_440_938_160,
    )
    assert bedrock.complete(QUESTION).message.text == "Hello"
    headers = server.journal()[0]["headers"]
    assert headers["x-amz-date"] == "20150830T123600Z"
    assert headers["x-amz-security-token"] == "t"
    assert (
        "Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request" in headers["authorization"]
    )
    assert asked == [True]


class EventStreamError(Exception):
    """What boto3 raises for an exception among the events."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"An error occurred ({code}): {message}")
        self.response = {"Error": {"Code": code, "Message": message}}


def breaking_off(error: Exception) -> Iterator[Any]:
    yield from HELLO[:2]
    raise error


async def breaking_off_async(error: Exception) -> AsyncIterator[Any]:
    for event in breaking_off(error):
        yield event


@pytest.mark.parametrize("breaks_off", [breaking_off, breaking_off_async])
def test_exceptions_among_the_events_are_what_they_are_without_a_client(breaks_off: Any) -> None:
    for code in ("throttlingException", "modelStreamErrorException", "internalServerException"):
        client = Client(breaks_off(EventStreamError(code, "later")), HELLO)
        kinds = [event.type for event in provider(client).stream(QUESTION)]
        assert "model_retry" in kinds, code
    client = Client(breaks_off(EventStreamError("validationException", "not so")), HELLO)
    with pytest.raises(ProviderError, match="not so") as caught:
        provider(client).complete(QUESTION)
    assert caught.value.code == "validation_exception"
    client = Client(breaks_off(EventStreamError("validationException", "Input is too long")), HELLO)
    with pytest.raises(ContextWindowOverflowError):
        provider(client).complete(QUESTION)
    own = RuntimeError("of the application")
    with pytest.raises(RuntimeError) as kept:
        provider(Client(breaks_off(own))).complete(QUESTION)
    assert kept.value is own
