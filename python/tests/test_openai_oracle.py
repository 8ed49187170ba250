"""The vendor's own `openai` package judges what is sent, and what the scripted server sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from conformance.execution import Execution
from conformance.suite import cases
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter, ValidationError
from scripted_llm import ROOT, program, scripted_llm
from vendor_types import closed

JUDGES = {
    "chat/completions": TypeAdapter(closed(CompletionCreateParamsStreaming)),
    "responses": TypeAdapter(closed(ResponseCreateParamsStreaming)),
}
# What OpenRouter understands besides.
OPENROUTER = {"provider", "reasoning", "session_id", "prompt_cache_key"}
# What it and others understand of an earlier answer besides.
REASONING = {"reasoning", "reasoning_details", "reasoning_content"}
# Services with formats of their own have their own judges.
OTHERS = {"anthropic", "gemini", "vertex_ai", "bedrock"}


def asks(case: dict[str, Any]) -> bool:
    return (
        bool(case["expect"]["requests"]) and case.get("provider", {}).get("adapter") not in OTHERS
    )


ASKING = [case for case in cases() if asks(case)]


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Left to the other tests: these are many."""


@pytest.mark.parametrize("case", ASKING, ids=[case["name"] for case in ASKING])
def test_requests_have_the_vendors_types(case: dict[str, Any]) -> None:
    seen = Execution(case, scripted_llm().script(case["exchanges"])).run()
    assert seen["journal"], "the case says that there are requests"
    own = OPENROUTER if '"adapter": "openrouter"' in json.dumps(case) else set()
    for entry in seen["journal"]:
        body = {key: value for key, value in entry["body"].items() if key not in own}
        if "messages" in body:
            body["messages"] = [
                {key: value for key, value in message.items() if key not in REASONING}
                if message["role"] == "assistant"
                else message
                for message in body["messages"]
            ]
        JUDGES[entry["path"]].validate_python(body)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat/completions", {"messages": [{"role": "user", "content": "Hi"}], "stream": True}),
        ("chat/completions", {"model": "m", "messages": [{"role": "nobody"}], "stream": True}),
        ("responses", {"model": "m", "input": "Hi", "stream": True, "max_tokens": 1}),
    ],
)
def test_the_judge_refuses_what_is_wrong(path: str, body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        JUDGES[path].validate_python(body)


def test_the_scripted_server_streams_what_the_vendors_client_reads() -> None:
    oracle = ROOT / "tests" / "support" / "openai_oracle.py"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(oracle), program()],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("ok")
