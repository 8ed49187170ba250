"""The scripted LLM server of tests/support, one process for the whole test run."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

ROOT = Path(__file__).parents[2]


class Scenario:
    """One script: what the server answers, and what it saw."""

    def __init__(self, server: ScriptedLLM, identifier: str, base_url: str) -> None:
        self.base_url = base_url
        self._server = server
        self._path = f"/_scenarios/{identifier}"

    def journal(self) -> list[dict[str, Any]]:
        """Every request so far."""
        requests: list[dict[str, Any]] = self._server.call(f"{self._path}/journal")["requests"]
        return requests

    def wait(self, **counts: int) -> list[dict[str, Any]]:
        """The journal once it has this many `requests`, `disconnects` or `answered`."""
        query = urlencode({"timeout_ms": 10_000, **counts})
        requests: list[dict[str, Any]] = self._server.call(f"{self._path}/wait?{query}")["requests"]
        return requests

    def signal(self, label: str) -> None:
        """Lets the answers go on that wait for `label`."""
        self._server.call(f"{self._path}/signal", {"label": label})


class ScriptedLLM:
    """A running server; it ends with this process, which holds its standard input."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode()
        assert line.startswith("listening "), f"the scripted server did not start: {line!r}"
        self.address = line.removeprefix("listening ").strip()
        # The environment may name a proxy, which cannot reach this machine's loopback.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def script(self, exchanges: list[Any], **options: Any) -> Scenario:
        """A scenario of `exchanges`; see tests/support/README.md."""
        made = self.call("/_scenarios", {"exchanges": exchanges, **options})
        return Scenario(self, made["id"], made["base_url"])

    def call(self, path: str, body: Any = None) -> Any:
        """One control request."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with self._opener.open(self.address + path, data, timeout=20) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()}") from None


@functools.cache
def scripted_llm() -> ScriptedLLM:
    """The server that all tests share."""
    return ScriptedLLM()


def program() -> str:
    """The server's program, built when it is missing and not named by the environment."""
    if named := os.environ.get("LITTLE_GHOST_SCRIPTED_LLM"):
        return named
    program = ROOT / "target" / "debug" / "scripted-llm"
    if not program.exists():
        subprocess.run(["cargo", "build", "--quiet", "-p", "scripted-llm"], cwd=ROOT, check=True)
    return str(program)
