"""Events in the short notation of the cases.

An event whose data is what the case and the earlier events imply is written short, any other in full.
"""

from __future__ import annotations

import json
from typing import Any

COUNTERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
KEYS = {
    "text_delta": ["text"],
    "reasoning_delta": ["text"],
    "tool_call_start": ["index", "id", "name"],
    "tool_call_delta": ["index", "arguments"],
}

Data = dict[str, Any]


def usage_of(counts: list[int]) -> Data:
    return {**dict(zip(COUNTERS, counts, strict=True)), "total_tokens": sum(counts)}


def counts_of(usage: Any) -> Any:
    """Token counts without the zeros at the end; `usage` itself when they are not consistent."""
    counts = [usage.get(counter) for counter in COUNTERS]
    if None in counts or usage != usage_of(counts):
        return usage
    while counts and counts[-1] == 0:
        counts.pop()
    return counts


class Notation:
    """What the events so far imply about the next ones."""

    def __init__(self, case: Data, error: Data | None) -> None:
        invocation = case["invocation"]
        prompt = case["agent"].get("system_prompt")
        self.case = case
        self.error = error
        self.messages: list[Any] = [_text("system", prompt)] if prompt else []
        self.messages += case.get("session", invocation).get("messages", invocation["history"])
        message = invocation["message"]
        self.messages.append(_text("user", message) if isinstance(message, str) else message)
        self.turns = 0
        self.started: Any = None
        self.totals = [0] * 5
        self.lost = [0] * 5
        self.response: Data = {"message": {"content": []}}
        self.results: Data = {}
        self.result: Any = None
        self._reset()

    def shorten(self, events: list[tuple[str, Data]]) -> list[Any]:
        entries: list[Any] = []
        for kind, data in events:
            entry = self._short(kind, data)
            if entry is None:
                entry = {"type": kind, "data": data}
            self._advance(kind, data)
            if not entries or not _join(entries[-1], entry):
                entries.append(entry)
        return entries

    def _short(self, kind: str, data: Data) -> Any:
        implied = self._implied(kind, data)
        if implied is not None:
            return kind if data == implied else self._values(kind, data)
        return self._values(kind, data)

    def _implied(self, kind: str, data: Data) -> Data | None:
        """The data of an event that is written as its bare type."""
        match kind:
            case "run_start" if data.get("run_id"):
                thread = self.case["invocation"].get("session_id", data["run_id"])
                return {"run_id": data["run_id"], "thread_id": thread}
            case "invocation_start":
                return {"agent_id": self.case["agent"]["id"]}
            case "model_start":
                return {"turn": self.turns}
            case "message_start":
                responses = self.case["provider"].get("api") == "responses"
                return {"id": "resp_1" if responses else "chatcmpl-1", "model": "scripted-model"}
            case "model_stop":
                return {"turn": self.turns - 1, "response": self.response}
            case "invocation_stop" if self._names_model(data.get("metadata", {})):
                if "structured" in data["result"]:
                    return None
                result = {
                    "message": self.response["message"],
                    "stop_reason": self.response.get("stop_reason"),
                    "usage": usage_of(self._total()),
                    "messages": self.messages,
                }
                return {"result": result, "metadata": data["metadata"]}
            case "run_stop":
                text = _text_of(self.result["message"])
                return {"outcome": "completed", "response": text, "result": self.result}
            case "run_cancel" if self._failed_with("CancelledError"):
                return {"outcome": "cancelled", "response": "", "error": self.error}
        return None

    def _values(self, kind: str, data: Data) -> Any:
        """An event that is written with some of its data; None when that would not be all."""
        if kind == "message_start":
            return _listed(kind, data, ["id", "model"])
        if kind in KEYS:
            values = _listed(kind, data, KEYS[kind])
            single = values is not None and len(KEYS[kind]) == 1
            return {kind: values[kind][0]} if single else values
        error = self.error or {}
        call = self._call(data["tool_use"]["id"]) if kind in ("tool_start", "tool_stop") else None
        match kind:
            case "tool_call_stop":
                use = data["tool_use"]
                values = [data["index"], use["id"], use["name"], use["input"]]
                whole = {"type": "tool_use", "id": use["id"], "name": use["name"]}
                whole["input"] = use["input"]
                return _if(data == {"index": data["index"], "tool_use": whole}, kind, values)
            case "usage":
                counts = counts_of(data["usage"])
                return _if(len(data) == 1 and isinstance(counts, list), kind, counts)
            case "message_stop":
                response = data["response"]
                reason = response["stop_reason"]
                implied = self._implied_response(reason)
                value = reason if response == implied else response
                if response == {**implied, "message": self._placeholder()}:
                    value = [reason, "redacted"]
                return _if(len(data) == 1, kind, value)
            case "invocation_stop" if "structured" in data["result"]:
                # The result's message is the value as text.
                result = data["result"]
                value = result["structured"]["value"]
                whole = {
                    "message": result["message"],
                    "stop_reason": "structured_result",
                    "usage": usage_of(self._total()),
                    "messages": result["messages"],
                    "structured": {"name": self._result_name(), "value": value},
                }
                fits = (
                    result == whole
                    and result["messages"][-1] == result["message"]
                    and json.loads(_text_of(result["message"])) == value
                    and self._names_model(data.get("metadata", {}))
                )
                return _if(fits, kind, value)
            case "model_retry":
                return {kind: data}
            case "tool_start" if call:
                return _if(data == {"tool_use": call}, kind, call["id"])
            case "tool_stop" if call:
                status, content = data["result"]["status"], data["result"]["content"]
                result = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
                result["status"] = status
                whole = {"tool_use": call, "result": result}
                return _if(data == whole, kind, [call["id"], status, content])
            case "invocation_error" if self._names_model(data.get("metadata", {})):
                whole = {"error": self.error, "usage": usage_of(self._total())}
                whole["metadata"] = data["metadata"]
                return _if(data == whole, kind, error.get("class"))
            case "run_error":
                whole = {"outcome": "failed", "error": self.error, "message": data["message"]}
                whole["cleanup_failed"] = False
                return _if(data == whole, kind, [error.get("class"), data["message"]])
            case "run_partial" if self._failed_with("DeadlineExceededError"):
                text = data["response"]
                whole = {"outcome": "partial", "response": text, "error": self.error}
                return _if(data == whole, kind, text)
        return None

    def _advance(self, kind: str, data: Data) -> None:
        match kind:
            case "model_start":
                self.turns += 1
                if self.results:
                    content = [self.results.get(call["id"]) for call in self._calls()]
                    self.messages.append({"role": "tool", "content": content, "metadata": {}})
                    self.results = {}
                self._reset()
                self.lost = [0] * 5
            case "message_start":
                self._reset()
                self.started = data
            case "model_retry":
                self.lost = _add(self.lost, self.usage)
                self.usage = usage_of([0] * 5)
            case "text_delta":
                self.text += data["text"]
            case "reasoning_delta":
                self.reasoning += data["text"]
            case "tool_call_stop":
                self.calls.append(data["tool_use"])
            case "usage":
                self.usage = data["usage"]
            case "message_stop":
                self.response = data["response"]
                self.totals = _add(self.totals, self.response["usage"])
                self.lost = [0] * 5
                self.usage = usage_of([0] * 5)
                self.messages.append(self._kept(self.response["message"]))
            case "tool_stop":
                self.results[data["result"]["tool_use_id"]] = data["result"]
            case "invocation_stop":
                self.result = data["result"]

    def _reset(self) -> None:
        self.text = self.reasoning = ""
        self.calls: list[Any] = []
        self.usage = usage_of([0] * 5)

    def _total(self) -> list[int]:
        """Usage so far, with that of the message in progress and of attempts at it."""
        return _add(_add(self.totals, usage_of(self.lost)), self.usage)

    def _implied_response(self, stop_reason: str) -> Data:
        content: list[Any] = []
        if self.reasoning:
            content.append({"type": "reasoning", "text": self.reasoning})
        if self.text:
            content.append({"type": "text", "text": self.text})
        message = {"role": "assistant", "content": content + self.calls, "metadata": {}}
        return {
            "message": message,
            "stop_reason": stop_reason,
            "usage": usage_of(_add(self.lost, self.usage)),
            "metadata": self.started,
        }

    def _calls(self) -> list[Any]:
        blocks = self.response["message"]["content"]
        return [block for block in blocks if block["type"] == "tool_use"]

    def _call(self, identifier: str) -> Any:
        return next((call for call in self._calls() if call["id"] == identifier), None)

    def _failed_with(self, name: str) -> bool:
        return self.error is not None and self.error["class"] == name

    def _result_name(self) -> str:
        agent = self.case["agent"]
        name: str = agent.get("result_schema", {}).get("name", f"{agent['id']}_result")
        return name

    def _placeholder(self) -> Data:
        """The message that stands for a structured result in events."""
        return _text("assistant", f'[structured result "{self._result_name()}" redacted]')

    def _kept(self, message: Data) -> Data:
        """In the conversation, a message with reasoning says which model it came from."""
        if not any(block["type"] == "reasoning" for block in message["content"]):
            return message
        target = self.case["expect"]["model"]["target"]
        return {**message, "metadata": {**message["metadata"], "little_ghost_model": target}}

    def _names_model(self, metadata: Data) -> bool:
        facts = self.case["expect"]["model"]
        return (
            metadata.get("target") == facts["target"]
            and metadata.get("model_role", ...) == facts["role"]
            and isinstance(metadata.get("provenance"), dict)
            and "observed_at" in metadata
        )


def _add(counts: list[int], usage: Data) -> list[int]:
    return [count + usage[counter] for count, counter in zip(counts, COUNTERS, strict=True)]


def _text(role: str, text: str) -> Data:
    return {"role": role, "content": [{"type": "text", "text": text}], "metadata": {}}


def _text_of(message: Data) -> str:
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")


def _listed(kind: str, data: Data, keys: list[str]) -> Data | None:
    return _if(data.keys() == set(keys), kind, [data.get(key) for key in keys])


def _if(fits: bool, kind: str, value: Any) -> Data | None:
    return {kind: value} if fits else None


def _join(last: Any, entry: Any) -> bool:
    """Adds a delta to the entry before it, if that is of the same kind and place."""
    if not isinstance(last, dict) or not isinstance(entry, dict):
        return False
    for kind in ("text_delta", "reasoning_delta"):
        if kind in last and kind in entry:
            before = last[kind]
            last[kind] = [*(before if isinstance(before, list) else [before]), entry[kind]]
            return True
    kind = "tool_call_delta"
    if kind in last and kind in entry and last[kind][0] == entry[kind][0]:
        last[kind] = [*last[kind], *entry[kind][1:]]
        return True
    return False
