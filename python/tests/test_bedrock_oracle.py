"""The vendor's service model and client judge the cassettes of Bedrock, and its signer our signatures."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from scripted_llm import ROOT, program, scripted_llm
from service_model import CONVERSE_STREAM, SERVICE, serialized, validate

from little_ghost import Agent, Runtime

CASES = {
    path.stem: json.loads(path.read_text())
    for path in sorted((ROOT / "tests" / "cassettes" / "bedrock").glob("*.json"))
}
EVENTS = CONVERSE_STREAM.output_shape.members["stream"].members
MODELS = [
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "us.amazon.nova-pro-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab1c2d3e4f5g",
    "arn:aws:sagemaker:us-east-1:123456789012:endpoint/my-endpoint",
    "a/b//c",
    "a%3Ab",
    "a b+c=d&e?f#g",
    "~_.-*'()!$@,;",
    "ümlaut-模型",
]
ANSWER = {
    "eventstream": [
        {"event": "contentBlockDelta", "data": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}},
        {"event": "messageStop", "data": {"stopReason": "end_turn"}},
    ]
}


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Left to the other tests: these are many."""


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 25


@pytest.mark.parametrize("name", CASES)
def test_requests_are_those_of_the_service_model(name: str) -> None:
    case = CASES[name]
    for exchange in case["exchanges"]:
        expected = exchange["expect"]
        question = {"modelId": case["model"], **expected["body"]}
        request = serialized(validate(CONVERSE_STREAM.input_shape, question))
        assert request["method"] == "POST"
        assert request["url_path"] == f"/{expected['path']}"
        assert json.loads(request["body"]) == expected["body"]


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_the_service_model(name: str) -> None:
    for exchange in CASES[name]["exchanges"]:
        for frame in exchange.get("eventstream", []):
            kind = frame.get("event", frame.get("exception"))
            if kind is not None:
                assert "event" in frame or EVENTS[kind].metadata["exception"]
                validate(EVENTS[kind], frame["data"])
        if name == "document":
            output = SERVICE.operation_model("Converse").output_shape
            validate(output, exchange["body"])


def test_every_reason_to_stop_and_every_exception_has_a_case() -> None:
    text = json.dumps(CASES)
    for word in SERVICE.shape_for("StopReason").enum:
        assert f'"stopReason": "{word}"' in text, word
    for kind, shape in EVENTS.items():
        field = "exception" if shape.metadata.get("exception") else "event"
        assert f'"{field}": "{kind}"' in text, kind
    for shape in CONVERSE_STREAM.error_shapes:
        assert f'"x-amzn-errortype": "{shape.name}' in text, shape.name


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": [{"role": "tool", "content": []}]},
        {"messages": [{"role": "user", "content": [{"text": "a", "cachePoint": {}}]}]},
        {"messages": [{"role": "user", "content": [{"image": {"format": "png"}}]}]},
        {"inferenceConfig": {"max_tokens": 1}},
        {"toolConfig": {"tools": []}},
        {"toolConfig": {"tools": [{"toolSpec": {"name": "a b", "inputSchema": {"json": {}}}}]}},
        {"system": [{"text": ""}]},
        {"outputConfig": {"textFormat": {"type": "json", "structure": {}}}},
    ],
)
def test_the_judge_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    right = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    validate(CONVERSE_STREAM.input_shape, right)
    with pytest.raises(ValueError):
        validate(CONVERSE_STREAM.input_shape, {**right, **wrong})


@pytest.mark.parametrize("token", [None, "test-session-token//+=="])
@pytest.mark.parametrize("model", MODELS)
def test_signatures_are_those_of_the_vendor(model: str, token: str | None) -> None:
    scenario = scripted_llm().script([ANSWER])
    keys = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "test/secret+key"}
    connection = {
        "adapter": "bedrock",
        "endpoint": scenario.base_url,
        "region": "eu-central-1",
        "credentials": {**keys, **({"session_token": token} if token else {})},
    }
    runtime = Runtime(providers={"aws": connection})
    run = Agent(model=f"aws:{model}", runtime=runtime).ask("Grüezi")
    assert run.response == "Hi"

    (seen,) = scenario.journal()
    headers = seen["headers"]
    assert headers.get("x-amz-security-token") == token
    path = serialized({"modelId": model, "messages": []})["url_path"]
    assert f"/{seen['path']}" == path
    body = json.dumps(seen["body"], ensure_ascii=False, separators=(",", ":")).encode()
    url = scenario.base_url + seen["path"]
    request = AWSRequest("POST", url, {"content-type": headers["content-type"]}, body)
    when = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
    credentials = ReadOnlyCredentials(*keys.values(), token)
    with mock.patch("botocore.auth.get_current_datetime", lambda *_: when):
        SigV4Auth(credentials, "bedrock", "eu-central-1").add_auth(request)
    assert headers["authorization"] == request.headers["Authorization"]


def test_the_vendors_client_reads_what_we_read() -> None:
    oracle: Path = ROOT / "tests" / "support" / "bedrock_oracle.py"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    done = subprocess.run(
        [sys.executable, str(oracle), program()],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("ok")
