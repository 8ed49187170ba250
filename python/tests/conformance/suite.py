"""Cases with their defaults, and what a case expects against what there was to see."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .mask import matches
from .notation import Notation, counts_of

FOLDER = Path(__file__).parents[3] / "tests" / "conformance"

FIELDS = {
    "case": "name about provider models default_model agent session invocation exchanges steps expect",
    "agent": "id model system_prompt tools limits result_schema context_management tool_loop",
    "tool": "name description input_schema exclusive behaviour",
    "invocation": "message history settings context run_id session_id actor_id deadline_in",
    "session": "messages state actor_id",
    "step": "on nth do",
    "expect": "events requests outcome response usage cost error raises state session output model may_refuse_early",
    "request": "path headers body body_includes disconnected",
    "error": "class message_contains message_omits status",
}
"""Every field that a case may have, by the place where it stands."""

TOOL = {"description": "A tool of the test.", "input_schema": {}, "exclusive": False}
"""What a tool has unless its case says otherwise."""

Data = dict[str, Any]


def cases() -> list[Data]:
    """Every case of one agent; `CASE=part of a name` selects some."""
    only = os.environ.get("CASE", "")
    found = [
        _complete(case)
        for file in sorted(FOLDER.glob("*.json"))
        for case in json.loads(file.read_text(encoding="utf-8"))
        if "ask" not in case
    ]
    return [case for case in found if only in case["name"]]


def _complete(case: Data) -> Data:
    _known("case", case)
    agent = {"id": "support", "model": "scripted:scripted-model", "tools": [], "limits": {}}
    agent |= _known("agent", case.get("agent", {}))
    agent["tools"] = [TOOL | _known("tool", spec) for spec in agent["tools"]]
    model = {"target": "scripted:scripted-model", "role": None}
    expect = {"model": model, "usage": [], "response": "", "events": [], "outcome": None}
    expect |= _known("expect", case["expect"])
    if isinstance(expect["requests"], list):
        for spec in expect["requests"]:
            _known("request", spec)
    for name in ("error", "raises"):
        _known("error", expect.get(name, {}))
    steps = [{"nth": 1} | _known("step", step) for step in case.get("steps", [])]
    _known("session", case.get("session", {}))
    invocation = {"message": None, "history": []} | _known("invocation", case["invocation"])
    return {"provider": {}, "exchanges": []} | {
        **case,
        "agent": agent,
        "expect": expect,
        "steps": steps,
        "invocation": invocation,
    }


def _known(place: str, value: Data) -> Data:
    unknown = value.keys() - set(FIELDS[place].split())
    assert not unknown, f"unknown fields of {place}: {unknown}"
    return value


def differences(case: Data, seen: Data) -> list[str]:
    """Every way in which `seen` is not what `case` expects; empty when they agree.

    Args:
        case: The case.
        seen: `events`, `outcome`, `response`, `usage`, `error`, `raised`, `refused`, `state`, `journal`.
    """
    expect = case["expect"]
    if expect.get("may_refuse_early") and seen.get("refused"):
        raised = seen["raised"]
        if raised["class"] == "ConfigurationError":
            raised = {**raised, "class": expect["error"]["class"]}
        return error_difference("refused", expect["error"], raised)
    found = error_difference("raised", expect.get("raises"), seen.get("raised"))
    if "raises" not in expect:
        found += difference("outcome", expect["outcome"], seen.get("outcome"))
        found += error_difference("error", expect.get("error"), seen.get("error"))
        found += difference("response", expect["response"], seen.get("response"))
        found += difference("usage", expect["usage"], counts_of(seen.get("usage", {})))
        if "cost" in expect:
            found += difference("cost", expect["cost"], seen.get("cost"))
        if "output" in expect:
            found += difference("output", expect["output"], seen.get("output"))
        for key, value in expect.get("session", {}).items():
            found += difference(f"session {key}", value, (seen.get("session") or {}).get(key))
        if "state" in expect:
            found += difference("state", expect["state"], seen.get("state"))
    actual = Notation(case, seen.get("error")).shorten(seen["events"])
    if not matches(expect["events"], actual):
        found.append(f"events\n  expected{_lines(expect['events'])}\n  but were{_lines(actual)}")
    return found + _requests(expect["requests"], seen["journal"])


def _lines(entries: list[Any]) -> str:
    return "".join(f"\n    {json.dumps(entry, ensure_ascii=False)}," for entry in entries)


def difference(what: str, expected: Any, actual: Any) -> list[str]:
    """How a value differs from the expected one."""
    if matches(expected, actual):
        return []
    return [f"{what}\n  expected {json.dumps(expected)}\n  but was  {json.dumps(actual)}"]


def error_difference(what: str, spec: Data | None, actual: Data | None) -> list[str]:
    """How an error differs from the expected one."""
    if spec is None and actual is None:
        return []
    if spec is not None and actual is not None:
        text = actual["message"].lower()
        if (
            actual["class"] == spec["class"]
            and all(part.lower() in text for part in spec.get("message_contains", []))
            and not any(part.lower() in text for part in spec.get("message_omits", []))
            and ("status" not in spec or actual.get("status") == spec["status"])
        ):
            return []
    return [f"{what}\n  expected {spec}\n  but was  {actual}"]


def _requests(expected: int | list[Data], journal: list[Data]) -> list[str]:
    count = expected if isinstance(expected, int) else len(expected)
    if len(journal) != count:
        return [f"requests\n  expected {count}\n  but were {json.dumps(journal)}"]
    found = [f"the script does not fit: {entry['error']}" for entry in journal if entry["error"]]
    if isinstance(expected, int):
        return found
    for place, (spec, entry) in enumerate(zip(expected, journal, strict=True)):
        what = f"request {place}"
        for name in ("path", "body"):
            if name in spec:
                found += difference(f"{what} {name}", spec[name], entry[name])
        for name, value in spec.get("headers", {}).items():
            found += difference(f"{what} header {name}", value, entry["headers"].get(name))
        for name, value in spec.get("body_includes", {}).items():
            found += difference(f"{what} body.{name}", value, entry["body"].get(name))
        if spec.get("disconnected") and entry["disconnected_ms"] is None:
            found.append(f"{what} was not broken off")
    return found
