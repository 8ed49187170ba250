"""Against an emulator of AWS by another project, which checks signatures and speaks Converse."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import botocore.session
import pytest
from scripted_llm import Scenario, scripted_llm

from little_ghost import Agent, BedrockSource, HTTPError, Runtime, tool

REGION = "us-east-1"
# One of those that the emulator lists.
MODEL = "anthropic.claude-3-5-sonnet-20241022-v2:0"


@tool
def weather(city: str) -> str:
    """Look up the weather of a city."""
    return f"Sunny in {city}."


class Emulator(NamedTuple):
    """Where it is, keys that it made, and the model behind it."""

    endpoint: str
    keys: dict[str, str]
    model: Scenario


def completion(message: dict[str, Any], finish_reason: str) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"body": {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}}


def says(text: str) -> dict[str, Any]:
    return completion({"role": "assistant", "content": text}, "stop")


def calls(city: str) -> dict[str, Any]:
    function = {"name": "weather", "arguments": f'{{"city": "{city}"}}'}
    call = {"id": "call_1", "type": "function", "function": function}
    return completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """The emulator, with a user of its own, in front of a scripted model."""
    model = scripted_llm().script([calls("Bern"), says("Enjoy the sun."), says("Hello.")])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = str(tmp_path_factory.mktemp("ministack"))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "SERVICES": "bedrock,bedrock-runtime,iam,sts",
        "AUTH": "true",
        "IOT_MTLS_ENABLED": "0",
        "HOME": home,
        "TMPDIR": home,
        "MINISTACK_BEDROCK_PROXY_URL": model.base_url.removesuffix("/v1/"),
    }
    command = [sys.executable, "-u", "-m", "ministack"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        seen = ""
        for line in server.stdout:
            seen += line
            if "Running on " in line:
                break
        else:
            pytest.fail(f"ministack ended: {seen}")
        endpoint = f"http://127.0.0.1:{port}"
        yield Emulator(endpoint, user(endpoint), model)
        server.terminate()


def user(endpoint: str) -> dict[str, str]:
    """The keys of a user who may ask models."""
    iam = botocore.session.get_session().create_client(
        "iam", REGION, endpoint_url=endpoint, aws_access_key_id="test", aws_secret_access_key="test"
    )
    iam.create_user(UserName="asker")
    allow = '{"Effect": "Allow", "Action": "bedrock:*", "Resource": "*"}'
    policy = f'{{"Version": "2012-10-17", "Statement": [{allow}]}}'
    iam.put_user_policy(UserName="asker", PolicyName="ask", PolicyDocument=policy)
    made = iam.create_access_key(UserName="asker")["AccessKey"]
    return {"access_key_id": made["AccessKeyId"], "secret_access_key": made["SecretAccessKey"]}


def agent(emulator: Emulator, **keys: str) -> Agent:
    connection = {
        "adapter": "bedrock",
        "region": REGION,
        "endpoint": emulator.endpoint,
        "credentials": {**emulator.keys, **keys},
        "max_retries": 0,
    }
    return Agent(
        model=f"aws:{MODEL}",
        system_prompt="Look it up.",
        tools=[weather],
        runtime=Runtime(providers={"aws": connection}),
    )


def test_calls_a_tool_and_streams(emulator: Emulator) -> None:
    stream = agent(emulator).stream("Weather in Bern?")
    events = list(stream)
    assert stream.run.completed, stream.run.error
    results = [event.data["result"].content for event in events if event.type == "tool_stop"]
    assert results == ["Sunny in Bern."]
    texts = [event.data["text"] for event in events if event.type == "text_delta"]
    assert "".join(texts) == stream.run.response == "Enjoy the sun."
    assert stream.run.usage.total_tokens > 0
    # What the emulator made of our requests for the model behind it.
    bodies = [entry["body"] for entry in emulator.model.journal()]
    assert [message["role"] for message in bodies[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert "Sunny in Bern." in str(bodies[1]["messages"][3]["content"])


def test_a_wrong_signature_is_refused(emulator: Emulator) -> None:
    run = agent(emulator, secret_access_key="not-that-one").ask("Hello")
    assert isinstance(run.error, HTTPError)
    assert run.error.status == 403
    assert "not-that-one" not in str(run.error)


def test_its_list_of_models(emulator: Emulator) -> None:
    options = {"region": REGION, "endpoint": emulator.endpoint, "credentials": emulator.keys}
    models = Runtime(catalog_sources=[BedrockSource("aws", options)]).models
    refreshed = models.refresh()
    assert refreshed.errors == ()
    assert f"aws:{MODEL}" in refreshed.updated
    assert "text" in (models.details(f"aws:{MODEL}").input_modalities or ())
