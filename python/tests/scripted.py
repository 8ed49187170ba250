"""Starts the scripted LLM server, which tests/support/README.md describes."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from little_ghost import Agent, Runtime

ROOT = Path(__file__).parents[2]
Data = dict[str, Any]


def program() -> Path:
    """The server's program, which `make build` and `cargo build -p scripted-llm` make."""
    named = os.environ.get("LITTLE_GHOST_SCRIPTED_LLM")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    candidates = (
        [Path(named)]
        if named
        else [target / kind / "scripted-llm" for kind in ("release", "debug")]
    )
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError("the scripted LLM server is not built: run `make build`")


class Scenario:
    """One scripted provider: what it answers, and what it was asked."""

    def __init__(self, server: str, answer: Data) -> None:
        self._control = f"{server}/_scenarios/{answer['id']}"
        self.base_url: str = answer["base_url"]

    def runtime(self, **options: Any) -> Runtime:
        """A runtime whose only connection is this provider."""
        connection = {
            "adapter": "openai_compatible",
            "base_url": self.base_url,
            "api": "chat_completions",
            "api_key": "test-key",
            **options,
        }
        return Runtime(providers={"scripted": connection}, default_model="scripted:scripted-model")

    def agent(self, **options: Any) -> Agent:
        """An agent that asks this provider."""
        return Agent(runtime=self.runtime(), **options)

    def journal(self) -> list[Data]:
        """Every request so far."""
        return _ask(f"{self._control}/journal")["requests"]

    def wait(self, **counts: int) -> list[Data]:
        """Waits for so many `requests`, `disconnects` or `answered`."""
        query = "&".join(f"{name}={count}" for name, count in counts.items())
        return _ask(f"{self._control}/wait?{query}")["requests"]

    def signal(self, label: str) -> None:
        """Releases what waits for the label."""
        _ask(f"{self._control}/signal", {"label": label})


class ScriptedLLM:
    """The running server."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[1]

    def scenario(self, *exchanges: Data, **options: Any) -> Scenario:
        """A provider that gives these answers in order."""
        answer = _ask(f"{self.url}/_scenarios", {"exchanges": list(exchanges), **options})
        return Scenario(self.url, answer)

    def close(self) -> None:
        """Ends the program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _ask(url: str, body: Data | None = None) -> Data:
    data = None if body is None else json.dumps(body).encode()
    try:
        with _opener.open(urllib.request.Request(url, data), timeout=30) as response:
            answer: Data = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(f"{url}: {error.code} {error.read().decode()}") from None
    return answer


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
