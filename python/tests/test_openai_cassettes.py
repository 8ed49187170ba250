"""The vendor's own `openai` package judges the cassettes: what is sent, what comes back, what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import OpenAI, Stream
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from openai.types.shared import ErrorObject
from pydantic import TypeAdapter
from scripted_llm import ROOT, scripted_llm
from vendor_types import closed

REQUESTS = {
    "chat/completions": TypeAdapter(closed(CompletionCreateParamsStreaming)),
    "responses": TypeAdapter(closed(ResponseCreateParamsStreaming)),
}
ANSWERS: dict[str, TypeAdapter[Any]] = {
    "chat/completions": TypeAdapter(ChatCompletionChunk),
    "responses": TypeAdapter(ResponseStreamEvent),
}
# Fields and values that only other services know.
FOREIGN = {"provider", "reasoning", "session_id", "cache_control"}
REASONING = {"reasoning", "reasoning_details", "reasoning_content"}
# Answers that the vendor's client gives up on, or reads otherwise, and the engine does not.
ODD = {
    "openai_compatible/call_arguments_object",
    "openai_compatible/call_index_drifts",
    "openai_compatible/call_index_missing",
    "openai_compatible/chat_tool_calls",
    "openai_compatible/content_in_parts",
    "openai_compatible/not_streamed",
    "openai_compatible/odd_chunks",
    "openai_compatible/ollama_calls_same_index",
}
CASES = {
    f"{folder}/{path.stem}": json.loads(path.read_text())
    for folder in ("openai", "openai_compatible", "openrouter")
    for path in sorted((ROOT / "tests" / "cassettes" / folder).glob("*.json"))
}
ANSWERED = [name for name, case in CASES.items() if "response" in case["expect"]]


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Left to the other tests: these are many."""


def known(case: dict[str, Any], path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body without what the application added on its own and what the vendor does not have."""
    added = case["request"].get("settings", {}).get("extra_body", {})
    foreign = set(added) if path == "responses" else FOREIGN | set(added)
    body = {key: value for key, value in body.items() if key not in foreign}
    for message in body.get("messages", []):
        for part in message.get("content", []):
            if isinstance(part, dict):
                part.pop("cache_control", None)
        if message["role"] == "assistant":
            for key in REASONING:
                message.pop(key, None)
    return body


@pytest.mark.parametrize("name", CASES)
def test_requests_have_the_vendors_types(name: str) -> None:
    case = json.loads(json.dumps(CASES[name]))
    for exchange in case["exchanges"]:
        arrival = exchange["expect"]
        REQUESTS[arrival["path"]].validate_python(known(case, arrival["path"], arrival["body"]))


# The vendor's types of a stream have no such call, though its types of a whole answer do.
CUSTOM = "openai/chat_custom_call"
VENDORS = [name for name in CASES if name.startswith("openai/") and name != CUSTOM]


@pytest.mark.parametrize("name", VENDORS)
def test_answers_have_the_vendors_types(name: str) -> None:
    for exchange in CASES[name]["exchanges"]:
        for frame in exchange.get("sse", []):
            if frame == "[DONE]":
                continue
            data = frame.get("data", frame)
            ANSWERS[exchange["expect"]["path"]].validate_python(data)
            assert frame.get("event") == data.get("type")
        if exchange.get("status", 200) != 200:
            TypeAdapter(ErrorObject).validate_python(exchange["body"]["error"])


def read(path: str, stream: Stream[Any]) -> tuple[str, list[tuple[str, Any]]]:
    """Text and calls of an answer, as the vendor's client reads it."""
    text, calls = "", {}
    for event in stream:
        if path == "responses":
            if event.type in ("response.output_text.delta", "response.refusal.delta"):
                text += event.delta
            elif event.type in ("response.completed", "response.incomplete"):
                found = [item for item in event.response.output if item.type == "function_call"]
                calls = {call.call_id: (call.name, call.arguments) for call in found}
                whole = "".join(
                    getattr(part, "text", "") or getattr(part, "refusal", "")
                    for item in event.response.output
                    if item.type == "message"
                    for part in item.content
                )
                text = text or whole
            continue
        for choice in event.choices:
            if choice.index:
                continue
            text += choice.delta.content or choice.delta.refusal or ""
            for piece in choice.delta.tool_calls or []:
                if piece.function:
                    name, arguments = calls.get(piece.index, ("", ""))
                    calls[piece.index] = (
                        name or piece.function.name or "",
                        arguments + (piece.function.arguments or ""),
                    )
    return text, [(name, json.loads(arguments or "{}")) for name, arguments in calls.values()]


@pytest.mark.parametrize("name", [name for name in ANSWERED if name not in ODD])
def test_the_vendors_client_reads_the_same(name: str) -> None:
    case = CASES[name]
    exchange = {key: value for key, value in case["exchanges"][-1].items() if key != "expect"}
    arrival = case["exchanges"][-1]["expect"]
    scenario = scripted_llm().script([exchange])
    client = OpenAI(base_url=scenario.base_url, api_key="test-key", max_retries=0)
    with client.post(
        f"/{arrival['path']}",
        body=arrival["body"],
        cast_to=object,
        stream=True,
        stream_cls=Stream[
            ResponseStreamEvent if arrival["path"] == "responses" else ChatCompletionChunk
        ],  # type: ignore[misc]
    ) as stream:
        text, calls = read(arrival["path"], stream)
    content = case["expect"]["response"]["message"]["content"]
    assert text == "".join(block["text"] for block in content if block["type"] == "text")
    expected = [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
    assert calls == expected


@pytest.mark.parametrize("folder", ["openai", "openai_compatible", "openrouter"])
def test_there_are_enough_cases(folder: str) -> None:
    assert sum(name.startswith(f"{folder}/") for name in CASES) >= 25
