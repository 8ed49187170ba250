"""The answers of a case, as the scripted server takes them."""

from __future__ import annotations

from typing import Any

Data = dict[str, Any]


def exchanges(case: Data) -> list[Data]:
    """One exchange for each answer, told apart by the agent's instructions."""
    found = []
    for agent, answers in case["answers"].items():
        prompt = case["agents"][agent].get("system_prompt", f"You are {agent}.")
        found += [{"match": {"body_contains": prompt}, **_exchange(answer)} for answer in answers]
    return found


def _exchange(answer: Any) -> Data:
    """A text, a status, tool calls, a handoff, or an exchange as it is."""
    match answer:
        case str() | list():
            return {"chat": {"text": answer}}
        case {"fails": status}:
            return {"status": status, "body": {"error": {"message": "refused"}}}
        case {"calls": calls}:
            return _calls(calls, {})
        case {"handoff": [to, message, *context], **more}:
            given = {"agent_id": to, "message": message}
            given |= {"context": context[0]} if context else {}
            return _calls([["handoff_to_agent", given]], more)
    exchange: Data = answer
    return exchange


def _calls(calls: list[Any], more: Data) -> Data:
    listed = [
        {"id": f"call_{place}", "name": name, "arguments": given}
        for place, (name, given) in enumerate(calls, start=1)
    ]
    return {"chat": {**more, "tool_calls": listed}}
