"""Reads the streams of the Anthropic cassettes with the vendor's own client.

Usage: python anthropic_oracle.py PATH_TO_SCRIPTED_LLM

Needs the `anthropic` package. Exits with a traceback when the client reads
something else than a cassette expects of us, and prints `ok` otherwise.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import anthropic
from anthropic import Anthropic

CASSETTES = Path(__file__).parents[1] / "cassettes" / "anthropic"
STOP_REASONS = {
    "stop_sequence": "end_turn",
    "pause_turn": "end_turn",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "content_filter",
}
# What the client cannot read, because it is none of the vendor's doing.
FOREIGN = {
    "constant_index": "two blocks at one place",
    "odd_events": "a count that is missing",
    "drop_at_the_end": "a connection that closes early",
}


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as reply:
        answer: dict[str, Any] = json.load(reply)
        return answer


def client(server: str, exchange: dict[str, Any]) -> Anthropic:
    answer = {key: value for key, value in exchange.items() if key != "expect"}
    scenario = post(f"{server}/_scenarios", {"exchanges": [answer]})
    address = scenario["base_url"].removesuffix("/v1/")
    return Anthropic(base_url=address, api_key="test", max_retries=0)


def read(api: Anthropic, exchange: dict[str, Any]) -> anthropic.types.Message:
    asked: Any = {
        "model": "claude-opus-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    if "sse" not in exchange:
        message: anthropic.types.Message = api.messages.create(**asked)
        return message
    with api.messages.stream(**asked) as events:
        return events.get_final_message()


def content(message: anthropic.types.Message) -> list[dict[str, Any]]:
    """The client's blocks as ours are written; those of the service's own tools have none."""
    blocks: list[dict[str, Any]] = []
    for block in message.content:
        if block.type == "text" and block.text:
            blocks.append({"type": "text", "text": block.text})
        elif block.type == "thinking":
            thought = {"type": "reasoning", "text": block.thinking}
            # A server of another vendor may not sign.
            if getattr(block, "signature", None):
                thought["signature"] = block.signature
            blocks.append(thought)
        elif block.type == "redacted_thinking":
            data = base64.b64encode(block.data.encode()).decode()
            blocks.append({"type": "reasoning", "text": "", "data": data, "encoding": "base64"})
        elif block.type == "tool_use":
            call = {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
            blocks.append(call)
    return blocks


def usage(message: anthropic.types.Message) -> dict[str, int]:
    said = message.usage
    # The client does not build types within what a stream adds.
    details: Any = said.to_dict().get("output_tokens_details") or {}
    thinking = details.get("thinking_tokens", 0)
    counts = {
        "input_tokens": said.input_tokens,
        "output_tokens": said.output_tokens - thinking,
        "cache_read_tokens": said.cache_read_input_tokens or 0,
        "cache_write_tokens": said.cache_creation_input_tokens or 0,
        "reasoning_tokens": thinking,
    }
    return {name: count for name, count in counts.items() if count}


def metadata(message: Any) -> dict[str, Any]:
    """What we keep of an answer besides its content."""
    said = message.to_dict()
    names = ("id", "model", "stop_sequence", "stop_details")
    return {name: said[name] for name in names if said.get(name) is not None}


def answers(name: str, server: str, case: dict[str, Any]) -> None:
    """The last answer of a case, which is the one that succeeded."""
    exchange = case["exchanges"][-1]
    expected = case["expect"]["response"]
    message = read(client(server, exchange), exchange)
    ours = expected["message"]["content"]
    assert content(message) == ours, (name, content(message), ours)
    reason = STOP_REASONS.get(str(message.stop_reason), message.stop_reason)
    assert reason == expected["stop_reason"], (name, message.stop_reason)
    assert metadata(message) == expected["metadata"], (name, metadata(message))
    counted = [data["usage"] for kind, data in case["expect"]["events"] if kind == "usage"]
    assert usage(message) == counted[-1], (name, usage(message), counted)


def fails(name: str, server: str, case: dict[str, Any]) -> None:
    """The last answer of a case, which is the one that was given up."""
    exchange = case["exchanges"][-1]
    status = case["expect"]["error"].get("status")
    said = [frame["data"] for frame in exchange.get("sse", []) if frame.get("event") == "error"]
    if status is None and not said:
        return
    try:
        read(client(server, exchange), exchange)
    except anthropic.APIStatusError as error:
        assert error.status_code == (status or 200), (name, error)
        told = exchange["body"] if status else said[0]
        assert told["error"]["message"] in str(error), (name, error)
    else:
        raise AssertionError(f"{name}: the client must raise")


def main() -> None:
    process = subprocess.Popen(
        [sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdin
    try:
        server = process.stdout.readline().split()[1]
        for path in sorted(CASSETTES.glob("*.json")):
            case = json.loads(path.read_text())
            if path.stem in FOREIGN or not case["exchanges"]:
                continue
            if "response" in case["expect"]:
                answers(path.stem, server, case)
            else:
                fails(path.stem, server, case)
    finally:
        process.stdin.close()
        assert process.wait(5) == 0
    print("ok")


main()
