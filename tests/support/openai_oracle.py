"""Reads the scripted server's streams with the vendor's own client.

Usage: python openai_oracle.py PATH_TO_SCRIPTED_LLM

Needs the `openai` package. Exits with a traceback when the client reads
something else than the scenario says, and prints `ok` otherwise.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from typing import Any

import openai
from openai import OpenAI
from pydantic import BaseModel

CALLS = [
    {"id": "call_a", "name": "weather", "arguments": {"city": "Zürich", "days": 3}, "pieces": 4},
    {"name": "clock", "arguments": "{}"},
]
USAGE = {"prompt_tokens": 21, "completion_tokens": 7, "cached_tokens": 4, "reasoning_tokens": 2}


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


def strictly(event: BaseModel) -> None:
    """Validates an event, which the client only assembles leniently."""
    type(event).model_validate(event.to_dict())  # type: ignore[attr-defined]


def client(server: str, *exchanges: dict[str, Any]) -> OpenAI:
    scenario = post(f"{server}/_scenarios", {"exchanges": list(exchanges)})
    return OpenAI(base_url=scenario["base_url"], api_key="test", max_retries=0)


def chat(server: str) -> None:
    api = client(
        server,
        {"chat": {"reasoning": ["Let me ", "see."], "text": ["Grü", "ezi ", "🙂"], "usage": USAGE}},
        {"chat": {"tool_calls": CALLS}, "split": 1},
        {"chat": {"text": "cut", "finish_reason": "length", "usage": None}, "newline": "crlf"},
        {"chat": {"text": "so far", "error": {"message": "overloaded", "code": 503}}},
    )

    def stream() -> Any:
        return api.chat.completions.stream(
            model="scripted-model", messages=[{"role": "user", "content": "Hi"}]
        )

    with stream() as events:
        seen = list(events)
        final = events.get_final_completion()
    for event in seen:
        if event.type == "chunk":
            strictly(event.chunk)
    assert [e.delta for e in seen if e.type == "content.delta" and e.delta] == ["Grü", "ezi ", "🙂"]
    assert final.choices[0].message.content == "Grüezi 🙂"
    assert final.choices[0].message.to_dict()["reasoning_content"] == "Let me see."
    assert final.choices[0].finish_reason == "stop"
    usage = final.usage
    assert usage and (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (
        21,
        7,
        28,
    )
    assert usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens == 4
    assert usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens == 2

    with stream() as events:
        final = events.get_final_completion()
    calls = final.choices[0].message.tool_calls or []
    assert [(c.id, c.function.name) for c in calls] == [("call_a", "weather"), ("call_2", "clock")]
    assert json.loads(calls[0].function.arguments) == {"city": "Zürich", "days": 3}
    assert calls[1].function.arguments == "{}"
    assert final.choices[0].message.content is None
    assert final.choices[0].finish_reason == "tool_calls"
    assert final.usage and final.usage.total_tokens == 15

    with stream() as events:
        try:
            events.get_final_completion()
            raise AssertionError("the client raises for a cut answer")
        except openai.LengthFinishReasonError as error:
            assert error.completion.choices[0].message.content == "cut"
            assert error.completion.usage is None

    try:
        with stream() as events:
            events.until_done()
        raise AssertionError("an error in the stream must raise")
    except openai.APIError as error:
        assert "overloaded" in str(error)


def responses(server: str) -> None:
    api = client(
        server,
        {
            "responses": {
                "reasoning": ["Let me ", "see."],
                "encrypted_content": "opaque",
                "text": ["Grü", "ezi"],
                "tool_calls": CALLS,
                "usage": {
                    "input_tokens": 21,
                    "output_tokens": 7,
                    "cached_tokens": 4,
                    "reasoning_tokens": 2,
                },
            },
            "split": 3,
            "newline": "cr",
        },
        {"responses": {"text": "cut", "finish_reason": "length"}},
        {"responses": {"text": "oh", "error": {"code": "server_error", "message": "broken"}}},
    )

    def last(kind: str) -> Any:
        with api.responses.create(model="scripted-model", input="Hi", stream=True) as events:
            seen = list(events)
        for event in seen:
            strictly(event)
        assert [event.sequence_number for event in seen] == list(range(len(seen)))
        assert seen[-1].type == kind, seen[-1]
        return seen[-1].response

    with api.responses.stream(model="scripted-model", input="Hi") as events:
        seen = list(events)
        final = events.get_final_response()
    kinds = [event.type for event in seen]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert kinds[-1] == "response.completed"
    assert [e.delta for e in seen if e.type == "response.output_text.delta"] == ["Grü", "ezi"]
    assert [e.delta for e in seen if e.type == "response.reasoning_summary_text.delta"] == [
        "Let me ",
        "see.",
    ]
    assert kinds.count("response.function_call_arguments.delta") == 5
    assert final.output_text == "Grüezi"
    reasoning, message, weather, clock = final.output
    assert reasoning.type == "reasoning" and reasoning.summary[0].text == "Let me see."
    assert reasoning.encrypted_content == "opaque"
    assert message.type == "message" and message.status == "completed"
    assert weather.type == "function_call" and weather.call_id == "call_a"
    assert json.loads(weather.arguments) == {"city": "Zürich", "days": 3}
    assert clock.type == "function_call" and clock.arguments == "{}"
    usage = final.usage
    assert usage and (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (21, 7, 28)
    assert usage.input_tokens_details.cached_tokens == 4
    assert usage.output_tokens_details.reasoning_tokens == 2

    incomplete = last("response.incomplete")
    assert incomplete.incomplete_details.reason == "max_output_tokens"
    assert incomplete.output_text == "cut" and incomplete.output[0].status == "incomplete"
    failed = last("response.failed")
    assert failed.error.code == "server_error" and failed.error.message == "broken"

    everything = client(
        server,
        {"responses": {"reasoning": "Hm", "text": "Hi", "tool_calls": CALLS}},
    )
    with everything.responses.create(model="scripted-model", input="Hi", stream=True) as events:
        for event in events:
            strictly(event)


def main() -> None:
    process = subprocess.Popen(
        [sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdin
    try:
        server = process.stdout.readline().split()[1]
        chat(server)
        responses(server)
    finally:
        process.stdin.close()
        assert process.wait(5) == 0
    print("ok")


main()
