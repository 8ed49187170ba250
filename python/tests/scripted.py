"""Scripted providers with agents that ask them, and answers to script."""

from __future__ import annotations

from typing import Any

from scripted_llm import Scenario, scripted_llm

from little_ghost import Agent, Runtime

Data = dict[str, Any]


def runtime_for(base_url: str, **options: Any) -> Runtime:
    """A runtime whose only connection is the scripted provider at `base_url`."""
    connection = {
        "adapter": "openai_compatible",
        "base_url": base_url,
        "api": "chat_completions",
        "api_key": "test-key",
        **options,
    }
    return Runtime(providers={"scripted": connection}, default_model="scripted:scripted-model")


class Provider:
    """A provider that gives scripted answers in order."""

    def __init__(self, *exchanges: Data, **options: Any) -> None:
        self._scenario: Scenario = scripted_llm().script(list(exchanges), **options)
        self.base_url = self._scenario.base_url
        self.journal = self._scenario.journal
        self.wait = self._scenario.wait
        self.signal = self._scenario.signal

    def runtime(self, **options: Any) -> Runtime:
        """A runtime whose only connection is this provider."""
        return runtime_for(self.base_url, **options)

    def agent(self, **options: Any) -> Agent:
        """An agent that asks this provider."""
        return Agent(runtime=self.runtime(), **options)


def says(text: Any, **options: Any) -> Data:
    """An answer of text, or of pieces of it."""
    return {"chat": {"text": text}, **options}


def calls(*names_and_inputs: tuple[str, Data]) -> Data:
    """An answer that calls tools."""
    return {
        "chat": {
            "tool_calls": [
                {"name": name, "arguments": arguments} for name, arguments in names_and_inputs
            ]
        }
    }


def texts(request: Data) -> list[str]:
    """The text of each message that a request carried."""
    found = []
    for message in request["body"]["messages"]:
        content = message.get("content") or ""
        if not isinstance(content, str):
            content = "".join(block.get("text", "") for block in content)
        found.append(content)
    return found


SILENT: Data = {"stall_before_head": True}
"""A provider that takes the request and says nothing."""

ENDLESS: Data = {"chat": {"text": ["first", " second", {"wait_for": "never"}, " third"]}}
"""A provider that says two words and then nothing until the client leaves."""
