"""Programs of one agent at work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..context import RunContext
    from .program_result import ProgramResult


class Session(ABC):
    """Runs the programs of one agent invocation, one at a time; the engine makes one call at a time.

    It owns what it makes: workspaces, sandboxes, processes. A failure of a program is a `ProgramResult`. What cannot be
    one is raised: `ToolError` for what the model can put right, `CleanupError` when a process may still be there.
    Methods may be coroutine functions; plain ones are called in threads.
    """

    @abstractmethod
    def execute(
        self,
        source: str,
        *,
        catalog: Sequence[Mapping[str, Any]],
        frame: Any,
        max_output_tokens: int | None,
        context: RunContext,
    ) -> ProgramResult | Awaitable[ProgramResult]:
        """Starts a fresh program, and watches it until it ends or for at most a minute.

        Args:
            source: The program.
            catalog: The tools that it may call.
            frame: Data for it, or None.
            max_output_tokens: Bounds the output of this look.
            context: Its token is cancelled when nobody waits any more.
        """

    @abstractmethod
    def wait(
        self, *, max_output_tokens: int | None, context: RunContext
    ) -> ProgramResult | Awaitable[ProgramResult]:
        """Watches the active program again; the result has the output since."""

    @abstractmethod
    def stop(
        self, *, max_output_tokens: int | None, context: RunContext
    ) -> ProgramResult | Awaitable[ProgramResult]:
        """Ends the active program; the result is `"terminated"`."""

    @abstractmethod
    def close(self) -> Awaitable[None] | None:
        """Ends the active program, if there is one, and releases everything. Doing it again is fine."""
