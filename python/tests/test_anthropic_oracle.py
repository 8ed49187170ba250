"""The vendor's own `anthropic` package judges the cassettes: what is sent, and what comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from anthropic.types.shared import ErrorResponse
from pydantic import TypeAdapter, ValidationError
from scripted_llm import ROOT, program
from vendor_types import closed

REQUEST = TypeAdapter(closed(MessageCreateParamsStreaming))
EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
ERROR = TypeAdapter(ErrorResponse)
# The newest models have no such settings, so the newest types do not name them.
SAMPLING = {"temperature", "top_p", "top_k"}
# Events of these are not the vendor's, on purpose.
FOREIGN = {"local_server", "odd_events", "stream_overflow"}
CASES = {
    path.stem: json.loads(path.read_text())
    for path in sorted((ROOT / "tests" / "cassettes" / "anthropic").glob("*.json"))
}


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Left to the other tests: these are many."""


@pytest.mark.parametrize("name", CASES)
def test_requests_have_the_vendors_types(name: str) -> None:
    for exchange in CASES[name]["exchanges"]:
        body = exchange["expect"]["body"]
        REQUEST.validate_python({key: body[key] for key in body if key not in SAMPLING})


@pytest.mark.parametrize("name", [name for name in CASES if name not in FOREIGN])
def test_answers_have_the_vendors_types(name: str) -> None:
    for exchange in CASES[name]["exchanges"]:
        for frame in exchange.get("sse", []):
            data = frame.get("data")
            if data is None or data["type"] == "ping":
                continue
            assert frame["event"] == data["type"]
            judge = ERROR if data["type"] == "error" else EVENT
            judge.validate_python(data)
        # A request that is too large never reaches what the types describe.
        if exchange.get("status", 200) not in (200, 413):
            ERROR.validate_python(exchange["body"])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 25


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": None},
        {"stop": "END"},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "x"}]}]},
        {"tools": [{"name": "f", "parameters": {}}]},
        {"output_config": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
    ],
)
def test_the_judge_refuses_what_is_wrong(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {
        "model": "m",
        "max_tokens": 1,
        "stream": True,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    REQUEST.validate_python(right)
    with pytest.raises(ValidationError):
        REQUEST.validate_python({**right, **wrong})


def test_the_vendors_client_reads_what_we_read() -> None:
    oracle: Path = ROOT / "tests" / "support" / "anthropic_oracle.py"
    vendor = "ANTHROPIC_"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(vendor)}
    done = subprocess.run(
        [sys.executable, str(oracle), program()],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("ok")
