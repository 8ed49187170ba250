"""Events as short texts.

An event whose data is not what its text and those before it imply is written in full.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import Any

from ..notation import counts_of
from .template import shown

QUIET = {
    "model_start", "model_stop", "message_start", "message_stop", "usage", "tool_call_start", "tool_call_delta",
    "tool_call_stop", "trace_context",
}  # fmt: skip
"""What a model does in detail; the other cases check it."""

Data = dict[str, Any]


def agent_of(body: Data) -> str:
    """Whose request it is."""
    found = re.match(r"You are (\w+)\.", _text_of(body["messages"][0]))
    assert found is not None, body
    return found[1]


def conversation(body: Data) -> Any:
    """The messages of a request after the instructions; one from the user is written as its text."""
    messages = [(message["role"], _spoken(message)) for message in body["messages"][1:]]
    if len(messages) == 1 and messages[0][0] == "user":
        return messages[0][1]
    return [f"{role}: {text}" for role, text in messages]


def _spoken(message: Data) -> str:
    calls = [
        f"{call['function']['name']}{call['function']['arguments']}"
        for call in message.get("tool_calls") or ()
    ]
    return " ".join(part for part in [_text_of(message), *calls] if part)


def _text_of(message: Data) -> str:
    content = message.get("content")
    return "".join(part["text"] for part in content) if isinstance(content, list) else content or ""


class Notation:
    """What the events so far imply about the next ones. Without `seen`, the ending is not compared."""

    def __init__(self, case: Data, seen: Data | None = None) -> None:
        self.case = case
        self.seen = seen
        self.steps: dict[str, Data] = {}

    def shorten(self, events: list[Any]) -> tuple[list[Any], dict[str, list[Any]]]:
        """The events of the run, and by participant those of agents."""
        own: list[Any] = []
        agents: dict[str, list[Any]] = defaultdict(list)
        wrapped: Counter[str] = Counter()
        follows = self.case["invocation"].get("include_agent_events")
        for kind, data, source in events:
            if kind in QUIET:
                continue
            text = self._agent_event(kind, data) if source else self._short(kind, data)
            entry: Any = {"type": kind, "data": data} if text is None else text
            if source:
                wrapped[entry] += 1
                if source["input"] is not None:
                    entry = f"{entry}: {source['input']}"
                agents[self._name_of(source)].append(entry)
                continue
            # Assemblies have no wrappers for their failures.
            if follows and self._agent_event(kind, data) and not entry.startswith("failed "):
                wrapped[entry] -= 1
                assert wrapped[entry] >= 0, f"{entry} came without its wrapper"
            own.append(entry)
        return own, dict(agents)

    def note(self, kind: str, data: Data, source: Data | None) -> str | None:
        """The text of one event, for the steps of a case."""
        if kind in QUIET:
            return None
        if source:
            return f"{self._name_of(source)}: {self._agent_event(kind, data)}"
        return self._short(kind, data)

    def _name_of(self, source: Data) -> str:
        names = []
        for step in source["path"]:
            known = self.steps.get(step["step_id"])
            if known is not None:
                assert all(known.get(key) == value for key, value in step.items()), step
            names.append(step["participant"])
        return "/".join([*names, source["agent_id"]])

    def _short(self, kind: str, data: Data) -> str | None:
        match kind:
            case "assembly_step_start":
                fits = self._place(data) == data and data["step_id"] not in self.steps
                if not fits or len(data["step_id"]) < 9:
                    return None
                self.steps[data["step_id"]] = data
                return f"start {_step(data)}"
            case "assembly_step_stop":
                rest = {key: value for key, value in data.items() if key != "usage"}
                fits = rest == self.steps.get(data["step_id"])
                return f"stop {_step(data)} {_usage(data)}" if fits else None
            case "assembly_step_error" | "assembly_step_retry":
                return self._failed(kind, data)
        return self._routed(kind, data) or self._agent_event(kind, data) or self._ending(kind, data)

    def _failed(self, kind: str, data: Data) -> str | None:
        known = self.steps.get(data["step_id"])
        fields = {"attempt", "error_type", "participant", "step_id"}
        fields |= {"terminal", "usage"} if kind.endswith("error") else {"delay", "partial_text"}
        if known is None or data.keys() != fields or data["participant"] != known["participant"]:
            return None
        error = data["error_type"].split(".")[-1]
        if kind.endswith("error"):
            final = " final" if data["terminal"] else ""
            return f"error {_step(known)} {data['attempt']} {error} {_usage(data)}{final}"
        pause = f" after {data['delay']}" if data["delay"] else ""
        superseded = " superseded" if data["partial_text"] else ""
        return f"retry {_step(known)} {data['attempt']} {error}{pause}{superseded}"

    def _routed(self, kind: str, data: Data) -> str | None:
        name = data.get("assembly_id")
        if name is None or data.get("assembly_kind") != self._kind(name):
            return None
        fields = set(data) - {"assembly_id", "assembly_kind"}
        match kind:
            case "assembly_transition":
                expected = {"step", "from", "to"}
                expected |= {"error", "branch_id"} if self._kind(name) == "graph" else set()
                marks = ""
                if data.get("error"):
                    expected |= {"partial_text"}
                    marks = " error superseded" if data["partial_text"] else " error"
                marks += _branch(data)
                text = f"move {name} {data['from']}>{data['to']} {data['step']}{marks}"
                return text if fields == expected else None
            case "assembly_handoff_loop" if fields == {"from", "to", "count"}:
                return f"loop {name} {data['from']}>{data['to']} {data['count']}"
            case "assembly_fork" if fields == {"from", "branches"}:
                return f"fork {name} {data['from']}>{','.join(data['branches'])}"
            case "assembly_join" if fields == {"from", "to"}:
                return f"join {name} {','.join(data['from'])}>{data['to']}"
        return None

    def _agent_event(self, kind: str, data: Data) -> str | None:
        match kind:
            case "invocation_start" if data.keys() == {"agent_id"}:
                return f"begin {data['agent_id']}"
            case "text_delta" if data.keys() == {"text"}:
                return f"text {data['text']}"
            case "tool_start":
                return f"call {data['tool_use']['name']}"
            case "tool_stop":
                result = data["result"]
                content = shown(result["content"])
                return f"called {data['tool_use']['name']} {result['status']}: {content}"
            case "invocation_stop":
                return f"end {_usage(data['result'])}"
            case "invocation_error" if data.keys() == {"error", "metadata", "usage"}:
                return f"failed {data['error']['class']} {_usage(data)}"
            case "model_retry":
                return kind
        return None

    def _ending(self, kind: str, data: Data) -> str | None:
        if kind == "run_start":
            thread = self.case["invocation"].get("session_id", data["run_id"])
            return kind if data == {"run_id": data["run_id"], "thread_id": thread} else None
        if kind.startswith("assembly_"):
            return None
        seen = self.seen
        expected: Data = {}
        text = kind
        match kind:
            case "run_stop":
                expected = {"outcome": "completed"}
                if seen:
                    expected |= {"response": seen["response"], "result": seen["result"]}
            case "run_cancel":
                expected = {"outcome": "cancelled", "response": ""}
            case "run_error":
                expected = {
                    "outcome": "failed",
                    "message": data["message"],
                    "cleanup_failed": False,
                }
                text = f"run_error {data['error']['class']}"
            case "run_partial":
                expected = {"outcome": "partial", "response": data["response"]}
                text = f"run_partial {data['response']}".strip()
        if seen and kind != "run_stop" and "error" in data:
            expected |= {"error": seen["error"]}
        return text if not seen or not kind.startswith("run_") or data == expected else None

    def _place(self, data: Data) -> Data:
        """The data of a step that begins."""
        kind = self._kind(data["assembly_id"])
        more = {"swarm": ["step"], "graph": ["branch_id"]}.get(kind, [])
        fields = ["assembly_id", "participant", "step_id", *more]
        return {"assembly_kind": kind, **{key: data.get(key) for key in fields}}

    def _kind(self, name: str) -> str:
        return str(next(iter(self.case["assemblies"][name])))


def _step(data: Data) -> str:
    number = f" #{data['step']}" if "step" in data else ""
    return f"{data['assembly_id']}/{data['participant']}{number}{_branch(data)}"


def _branch(data: Data) -> str:
    return f" @{data['branch_id']}" if data.get("branch_id") else ""


def _usage(data: Data) -> str:
    return json.dumps(counts_of(data["usage"]), separators=(",", ":"))
