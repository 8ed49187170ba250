"""Cases about subagents; tests/conformance/README.md says what they may hold."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from little_ghost import Agent, Runtime, Subagent, SubagentLimits, Tool
from little_ghost.testing import ScriptedModel

from .mask import matches

FILE = Path(__file__).parents[3] / "tests" / "conformance" / "subagents" / "subagents.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
_EXPECTATIONS = frozenset(
    ("response", "answers", "events", "requests", "settings", "tools", "usage", "omits")
)


class Fixed(Tool):
    """A tool that always gives the same."""

    description = "A tool."

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self._value = value

    def call(self) -> Any:
        return self._value


class Case:
    """One case, run once."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._models: dict[str, ScriptedModel] = {}
        self._events: list[str] = []

    def differences(self, *, asynchronous: bool) -> list[str]:
        """Every way in which it did not go as it should."""
        expect = self._spec["expect"]
        assert set(expect) <= _EXPECTATIONS, expect
        observed = self._observe(asynchronous)
        found = []
        for name, expected in expect.items():
            if name == "omits":
                found += [secret for secret in expected if secret in json.dumps(observed)]
            elif not _fits(expected, observed[name]):
                found.append(f"{name}\n  expected {expected}\n  but was  {observed[name]}")
        return found

    def _observe(self, asynchronous: bool) -> dict[str, Any]:
        limits = SubagentLimits(**self._spec.get("limits", {}))
        lead = self._agent("lead", self._spec, subagent_limits=limits, runtime=Runtime())
        run: Any = None
        for _ in range(self._spec.get("runs", 1)):
            run = asyncio.run(self._ask_async(lead)) if asynchronous else self._ask(lead)
        models = self._models
        return {
            "response": str(run.error) if run.error else run.response,
            "answers": _answers(models["lead"]),
            "events": self._events,
            "requests": {
                name: [_texts(request) for request in model.requests]
                for name, model in models.items()
            },
            "settings": {
                name: dict(model.requests[0].settings) if model.requests else {}
                for name, model in models.items()
            },
            "tools": {
                name: [tool["name"] for tool in model.requests[0].tools] if model.requests else []
                for name, model in models.items()
            },
            "usage": [run.usage.input_tokens, run.usage.output_tokens],
        }

    @property
    def _options(self) -> dict[str, Any]:
        return {"session_id": "conversation", "settings": self._spec.get("settings", {})}

    def _ask(self, lead: Agent) -> Any:
        stream = lead.stream("Go", **self._options)
        for event in stream:
            self._note(event)
        return stream.run

    async def _ask_async(self, lead: Agent) -> Any:
        stream = lead.stream_async("Go", **self._options)
        async for event in stream:
            self._note(event)
        return stream.run

    def _note(self, event: Any) -> None:
        if event.type == "subagent":
            told = event.data["event"]
            names = ("event", "status", "subagent_id", "turn", "tool_name", "error_type")
            self._events.append(" ".join(str(told[name]) for name in names if name in told))

    def _agent(self, name: str, spec: dict[str, Any], **more: Any) -> Agent:
        model = self._models[name] = ScriptedModel(*spec["turns"])
        return Agent(
            name=name,
            model=model,
            tools=[Fixed(tool["name"], tool["return"]) for tool in spec.get("tools", ())],
            result=spec.get("result_schema"),
            subagents=[
                Subagent(
                    self._agent(kind["kind"], kind),
                    kind=kind["kind"],
                    persist=kind.get("persist", True),
                )
                for kind in spec.get("kinds", ())
            ],
            **more,
        )


def _texts(request: Any) -> list[str]:
    return [
        "".join(str(block.content) for block in message.content)
        if message.role == "tool"
        else message.text
        for message in request.messages
        if message.role != "system"
    ]


def _answers(model: ScriptedModel) -> list[Any]:
    found = []
    for message in model.requests[-1].messages:
        for block in message.content:
            if hasattr(block, "tool_use_id"):
                try:
                    found.append(json.loads(block.content))
                except ValueError:
                    found.append(block.content)
    return found


def _fits(expected: Any, actual: Any) -> bool:
    """Of an object, only the keys that are expected matter."""
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(map(_fits, expected, actual))
        )
    if isinstance(expected, dict) and not any(key.startswith("$") for key in expected):
        return isinstance(actual, dict) and all(
            (key in actual or value is None) and _fits(value, actual.get(key))
            for key, value in expected.items()
        )
    return matches(expected, actual)
