"""Google's own `google-genai` package judges what is sent, and reads what is answered."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import google_oracle as oracle
import pytest
from google.genai import types
from pydantic import ValidationError
from scripted_llm import ROOT, scripted_llm

Data = dict[str, Any]

FOLDERS = [ROOT / "tests" / "cassettes" / adapter for adapter in ("gemini", "vertex_ai")]
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.json"))]
# The client has no lists of chunks, takes no answer as whole before it has ended, leaves pieces of
# arguments to the caller, and does not know our tool for answers.
ONLY_OURS = {
    "gemini/json_array",
    "gemini/end_after_reason",
    "gemini/structured_tool_first",
    "gemini/structured_with_tools_older",
    "vertex_ai/streamed_arguments",
}


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    """Left to the other tests: these are many."""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the developer has a say."""
    for variable in os.environ:
        if variable.startswith(("GOOGLE_", "GEMINI_")) or variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)


@pytest.mark.parametrize("path", FILES, ids=map(name, FILES))
def test_the_vendors_client_sends_and_reads_the_same(path: Path) -> None:
    case = json.loads(path.read_text())
    last = len(case["exchanges"]) - 1
    for position, exchange in enumerate(case["exchanges"]):
        expected = exchange.pop("expect")
        scenario = scripted_llm().script([exchange])
        api = oracle.client(path.parent.name, case["connection"], scenario.base_url)
        model = case["model"]
        if model.startswith("endpoints/"):
            # The client wants the whole name.
            model = expected["path"].removesuffix(":streamGenerateContent")
        reading = oracle.ask(api, model, expected["body"])

        sent = scenario.journal()[0]
        assert sent["path"] == expected["path"]
        assert sent["query"] == "alt=sse"
        assert oracle.normal(sent["body"]) == oracle.normal(expected["body"])

        if name(path) in ONLY_OURS:
            continue
        response = case["expect"].get("response") if position == last else None
        assert (reading.stop_reason() is None) == (response is None), reading
        if response is not None:
            compare(reading, response, case)
        elif exchange.get("status"):
            assert reading.status == exchange["status"]


def compare(reading: oracle.Reading, response: Data, case: Data) -> None:
    """What the client read against what we did."""
    content = response["message"]["content"]

    def joined(kind: str) -> str:
        return "".join(block["text"] for block in content if block["type"] == kind)

    assert reading.text == joined("text")
    assert reading.thoughts == joined("reasoning")
    assert reading.stop_reason() == response["stop_reason"]
    ours = [block for block in content if block["type"] == "tool_use"]
    theirs = reading.calls
    assert [call[1:] for call in theirs] == [(call["name"], call["input"]) for call in ours]
    for (identifier, _, _), call in zip(theirs, ours):
        assert call["id"] == identifier or (not identifier and call["id"].startswith("generated-"))
    if not any(event[0] == "model_retry" for event in case["expect"]["events"]):
        assert reading.usage == response["usage"]
    assert [base64.b64encode(signature) for signature in reading.signatures] == [
        signature.encode() for signature in signatures(content)
    ]


def signatures(content: list[Data]) -> list[str]:
    """Every signature that a message keeps, in order."""
    found = []
    for block in content:
        if block.get("signature"):
            found.append(block["signature"])
        for detail in block.get("details", []):
            part = detail.get("part", detail)
            if "thoughtSignature" in part:
                found.append(part["thoughtSignature"])
    return found


def test_every_reason_of_the_vendor_has_a_word() -> None:
    assert {reason.value for reason in types.FinishReason} == set(oracle.STOP_REASONS)


@pytest.mark.parametrize(
    "body",
    [
        {"contents": [{"role": "user", "parts": [{"txt": "Hi"}]}]},
        {"contents": [], "generationConfig": {"reasoningEffort": "low"}},
        {"contents": [], "tools": [{"functionDeclarations": [{"input_schema": {}}]}]},
        {"contents": [], "toolChoice": "any"},
    ],
)
def test_the_judge_refuses_what_is_wrong(body: Data) -> None:
    with pytest.raises(ValidationError):
        oracle.told(body)


def test_there_are_enough_cases() -> None:
    assert [len(list(folder.glob("*.json"))) for folder in FOLDERS] >= [25, 8]
