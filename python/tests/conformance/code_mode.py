"""Cases about code mode; tests/conformance/README.md says what they may hold."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from little_ghost import Agent, ConfigurationError
from little_ghost.testing import ScriptedModel, Turn

from .mask import matches
from .toolbox import Toolbox

FILE = Path(__file__).parents[3] / "tests" / "conformance" / "code_mode" / "cases.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
_FIELDS = frozenset(("name", "about", "tools", "mode", "limits", "turns", "expect"))
_EXPECTATIONS = frozenset(
    (
        "results",
        "calls",
        "model_tools",
        "system_includes",
        "outcome",
        "response",
        "error",
        "refused",
    )
)
_CONTROLS = ("exec", "wait", "stop")
_TOOL = {
    "description": "A tool of the test.",
    "input_schema": {"type": "object"},
    "exclusive": False,
}


class Case:
    """One case, run once."""

    def __init__(self, spec: dict[str, Any]) -> None:
        assert set(spec) <= _FIELDS and set(spec["expect"]) <= _EXPECTATIONS, spec
        self._spec = spec
        self._model = ScriptedModel(*(_turn(turn) for turn in spec["turns"]))
        self._calls: list[Any] = []
        self._controls: list[str] = []

    def differences(self, *, asynchronous: bool) -> list[str]:
        """Every way in which it did not go as it should."""
        if "refused" in self._spec["expect"]:
            return self._refused(asynchronous)
        agent = self._agent(asynchronous)
        run = asyncio.run(self._ask_async(agent)) if asynchronous else self._ask(agent)
        expect = self._spec["expect"]
        request = self._model.requests[0] if self._model.requests else None
        pairs = [
            ("controls that were seen", [], self._controls),
            ("calls", expect["calls"], self._calls),
            ("results", expect["results"], self._results()),
            ("outcome", expect.get("outcome", "completed"), run.outcome),
            ("response", expect.get("response", "Done"), run.response),
        ]
        if "model_tools" in expect and request is not None:
            pairs.append(("tools", expect["model_tools"], [one["name"] for one in request.tools]))
        system = "" if request is None else request.messages[0].text
        for part in expect.get("system_includes", ()):
            pairs.append(("system prompt", {"$contains": part}, system))
        found = [
            f"{what}\n  expected {json.dumps(expected)}\n  but was  {json.dumps(actual)}"
            for what, expected, actual in pairs
            if not matches(expected, actual)
        ]
        return found + _error(expect.get("error"), run.error)

    def _refused(self, asynchronous: bool) -> list[str]:
        """It cannot even be declared."""
        try:
            self._agent(asynchronous)
        except ConfigurationError as error:
            parts = self._spec["expect"]["refused"]
            return [f"{part!r} is not in {error}" for part in parts if part not in str(error)]
        return ["it could be declared"]

    def _agent(self, asynchronous: bool) -> Agent:
        specs = [{**_TOOL, **tool} for tool in self._spec["tools"]]
        mode = {"engine": "javascript", "sandbox": "unrestricted", **self._spec.get("mode", {})}
        mode["excluding"] = mode.pop("except", None)
        return Agent(
            name="support",
            model=self._model,
            system_prompt="You help.",
            tools=Toolbox().tools(specs, asynchronous),
            code_mode=mode,
            **self._spec.get("limits", {}),
        )

    def _ask(self, agent: Agent) -> Any:
        stream = agent.stream("Go")
        for event in stream:
            self._note(event)
        return stream.run

    async def _ask_async(self, agent: Agent) -> Any:
        stream = agent.stream_async("Go")
        async for event in stream:
            self._note(event)
        return stream.run

    def _note(self, event: Any) -> None:
        if event.type == "tool_stop":
            use, result = event.data["tool_use"], event.data["result"]
            self._calls.append([use.name, use.input, result.status, _text(result.content)])
        elif event.type == "tool_call_start" and event.data["name"] in _CONTROLS:
            self._controls.append(event.data["name"])

    def _results(self) -> list[Any]:
        """What the model was told of each call of its own: the object, where it is one, else the text."""
        if not self._model.requests:
            return []
        told = []
        for message in self._model.requests[-1].messages:
            for block in message.content:
                if type(block).__name__ == "ToolResult":
                    told.append(_report(_text(block.content)))
        return told


def _turn(turn: dict[str, Any]) -> Turn:
    (kind, value), *_ = turn.items()
    if kind == "text":
        return {"text": value}
    if kind == "exec":
        source = value["$repeat"][0] * value["$repeat"][1] if isinstance(value, dict) else value
        given = {"source": source}
        if "max_output_tokens" in turn:
            given["max_output_tokens"] = turn["max_output_tokens"]
        return {"tool": "exec", "input": given}
    if kind in ("wait", "stop"):
        return {"tool": kind, "input": value}
    assert kind == "call", kind
    return {"tool": value[0], "input": value[1]}


def _report(text: str) -> Any:
    try:
        report = json.loads(text)
    except ValueError:
        return text
    return report if isinstance(report, dict) and "status" in report else text


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(getattr(block, "text", "") for block in content)


def _error(expected: dict[str, Any] | None, error: BaseException | None) -> list[str]:
    if expected is None or error is None:
        return [] if expected is None and error is None else [f"error: {error!r}"]
    fits = type(error).__name__ == expected["class"] and all(
        part in str(error) for part in expected["message_contains"]
    )
    return [] if fits else [f"error: expected {expected}, but was {error!r}"]
