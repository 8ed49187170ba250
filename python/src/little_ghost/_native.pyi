"""The engine, as Rust exposes it. Private."""

from collections import deque
from typing import Any, Final, final

from .errors import Failure
from .event import StreamEvent
from .run import Report

__all__ = [
    "CALL",
    "CANCELLED",
    "DONE",
    "EVENT",
    "CancellationToken",
    "Run",
    "Runtime",
    "ToolDefinition",
    "after_fork_in_child",
    "cancel_all",
    "error_kinds",
    "provoke_panic",
    "tool_failure_text",
    "tool_input_error_text",
    "tool_value_text",
]

EVENT: Final[int]
CALL: Final[int]
CANCELLED: Final[int]
DONE: Final[int]

@final
class CancellationToken:
    """A switch that stops work cooperatively, from any thread.

    Pass one to several runs to stop them together; a tool reads its own from
    `context.cancellation_token`. Once cancelled, a token stays cancelled.
    """

    def __new__(cls) -> CancellationToken: ...
    def cancel(self) -> None:
        """Cancels this token and its children. Doing it again changes nothing."""
    @property
    def cancelled(self) -> bool:
        """Whether this token or a parent of it was cancelled."""
    def child(self) -> CancellationToken:
        """A token that is cancelled with this one, or on its own."""

@final
class Runtime:
    def __new__(cls, configuration: dict[str, Any]) -> Runtime: ...

@final
class ToolDefinition:
    def __new__(cls, name: str, description: str, input_schema: Any) -> ToolDefinition: ...
    def violations(self, input: dict[str, Any]) -> list[str]: ...

@final
class Run:
    def __new__(
        cls, runtime: Runtime, invocation: dict[str, Any], token: CancellationToken
    ) -> Run: ...
    @property
    def fd(self) -> int: ...
    @property
    def token(self) -> CancellationToken: ...
    @property
    def work_token(self) -> CancellationToken: ...
    @property
    def identity(self) -> tuple[str, str, str]: ...
    @property
    def operation_id(self) -> str: ...
    def start(self, events: bool) -> None: ...
    def drain(self, into: deque[StreamEvent | tuple[Any, ...]], events: bool) -> None: ...
    def complete(self, id: int, value: Any) -> None: ...
    def fail(self, id: int, failure: Failure) -> None: ...
    def register(self, resource: int) -> None: ...
    def cancel(self) -> None: ...
    def interrupt(self, failure: Failure | None) -> None: ...
    def close(self) -> bool: ...
    def report(self) -> Report: ...

def error_kinds() -> list[tuple[str, str | None]]: ...
def tool_failure_text(failure: Failure) -> str: ...
def tool_input_error_text(violations: list[str]) -> str: ...
def tool_value_text(value: Any) -> str: ...
def cancel_all() -> None: ...
def after_fork_in_child() -> None: ...
def provoke_panic() -> None: ...
