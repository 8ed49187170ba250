"""Cases with their defaults, and what a case expects against what there was to see."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from typing import Any

from ..mask import matches
from ..notation import counts_of
from ..suite import FOLDER, difference, error_difference
from .notation import Notation, agent_of, conversation

FIELDS = {
    "case": "name about only agents assemblies ask session invocation answers steps expect",
    "invocation": "message history settings context session_id deadline_in include_agent_events",
    "expect": "invalid mermaid events agents requests bodies broken_off outcome response output usage error steps "
    "concurrent session state",
}
"""Every field that a case may have, by the place where it stands."""

Data = dict[str, Any]


def cases() -> list[Data]:
    """Every case of several agents; `CASE=part of a name` selects some."""
    only = os.environ.get("CASE", "")
    found = [
        _checked(case)
        for file in sorted(FOLDER.glob("*.json"))
        for case in json.loads(file.read_text(encoding="utf-8"))
        if "ask" in case
    ]
    return [case for case in found if only in case["name"]]


def _checked(case: Data) -> Data:
    places = {
        "case": case,
        "invocation": case.get("invocation", {}),
        "expect": case["expect"],
    }
    for place, value in places.items():
        unknown = value.keys() - set(FIELDS[place].split())
        assert not unknown, f"unknown fields of {place} {case['name']}: {unknown}"
    return {"agents": {}, "assemblies": {}, "answers": {}, "steps": [], **case}


def invalid(case: Data, refusal: Data | None) -> list[str]:
    """How a refusal differs from the expected one."""
    return error_difference("refused", case["expect"]["invalid"], refusal)


def picture(case: Data, mermaid: list[str]) -> list[str]:
    """How a flowchart differs from the expected one."""
    return _listed("mermaid", case["expect"]["mermaid"], mermaid)


def differences(case: Data, seen: Data) -> list[str]:
    """Every way in which `seen` is not what `case` expects; empty when they agree."""
    expect = case["expect"]
    own, agents = Notation(case, seen).shorten(seen["events"])
    found = [
        *_listed("events", expect["events"], own),
        *_listed("agents", expect.get("agents", {}), agents),
        *difference("outcome", expect["outcome"], seen["outcome"]),
        *difference("response", expect.get("response", ""), seen["response"]),
        *difference("usage", expect.get("usage", []), counts_of(seen["usage"])),
        *error_difference("error", expect.get("error"), seen["error"]),
        *_listed("steps", expect.get("steps", []), seen["steps"]),
    ]
    for name in ("output", "state"):
        if name in expect:
            found += difference(name, expect[name], seen[name])
    for first, second, fits in expect.get("concurrent", []):
        found += difference(f"{first} beside {second}", fits, seen["concurrent"](first, second))
    for key, value in expect.get("session", {}).items():
        found += difference(f"session {key}", value, (seen["session"] or {}).get(key))
    return found + _asked(expect, seen["journal"])


def _asked(expect: Data, journal: list[Data]) -> list[str]:
    """How what the models were asked differs, by agent."""
    found = [f"the script does not fit: {entry}" for entry in journal if entry["error"]]
    bodies: dict[str, list[Data]] = defaultdict(list)
    for entry in journal:
        bodies[agent_of(entry["body"])].append(entry["body"])
    actual = {agent: [conversation(body) for body in asked] for agent, asked in bodies.items()}
    found += _listed("requests", expect.get("requests", {}), actual)
    for agent, specs in expect.get("bodies", {}).items():
        for place, spec in enumerate(specs):
            body = bodies[agent][place] if place < len(bodies[agent]) else {}
            for key, value in spec.items():
                found += difference(f"body {place} of {agent}: {key}", value, body.get(key))
    broken = sorted(
        agent_of(entry["body"]) for entry in journal if entry["disconnected_ms"] is not None
    )
    return found + difference("broken off", expect.get("broken_off", []), broken)


def _listed(what: str, expected: Any, actual: Any) -> list[str]:
    if matches(expected, actual):
        return []
    shown = [json.dumps(value, indent=1, ensure_ascii=False) for value in (expected, actual)]
    return [f"{what}\n  expected {shown[0]}\n  but was {shown[1]}"]
