"""Sandboxes that the application makes for programs of a session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..context import RunContext
from ..sandbox.sandbox_calls import SandboxCalls
from ..workspace import Workspace

if TYPE_CHECKING:
    from ..sandbox.sandbox import Sandbox
    from .sandbox_factory import SandboxFactory


class ProgramSandboxes:
    """Makes them when the engine asks, works in them for the engine, and closes them."""

    __slots__ = ("_calls", "_factory", "_kept", "_lock")

    def __init__(self, factory: SandboxFactory) -> None:
        self._factory = factory
        self._calls = SandboxCalls()
        self._kept: list[Sandbox] = []
        self._lock = threading.Lock()

    def make(self, payload: dict[str, Any]) -> dict[str, Any]:
        """A sandbox over a workspace of the engine's, as the engine takes it."""
        workspace = Workspace._adopt(payload["workspace"])
        made = self._factory.make(workspace, payload["runtime_paths"])
        if not made._runs_in_engine:
            # The engine opens and closes its own.
            made.open()
            with self._lock:
                self._kept.append(made)
        return self._calls.describe(made)

    def answer(self, payload: dict[str, Any]) -> Any:
        """Works in one of them, or with one of its processes."""
        return self._calls.answer(payload, RunContext())

    def close(self) -> None:
        """Closes what was made, the last one first; the first failure is raised at the end."""
        failure: BaseException | None = None
        for sandbox in self._taken():
            try:
                sandbox.close()
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure

    async def close_async(self) -> None:
        """`close` for asyncio."""
        failure: BaseException | None = None
        for sandbox in self._taken():
            try:
                await sandbox.close_async()
            except Exception as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def _taken(self) -> list[Sandbox]:
        with self._lock:
            taken, self._kept = self._kept[::-1], []
        return taken
