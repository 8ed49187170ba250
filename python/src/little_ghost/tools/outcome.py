"""What became of one call of a tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .._native import tool_failure_text, tool_value_text
from ..errors import (
    AbstractMethodError,
    CancelledError,
    CleanupError,
    ConfigurationError,
    DeadlineExceededError,
    describe_exception,
)
from ..jsonable import to_jsonable

if TYPE_CHECKING:
    from ..content import Content


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What `Tool.execute` returns, and what `after_tool` is told.

    Attributes:
        value: What the tool returned, untouched; None when it failed.
        content: What a model reads, before it is cut to the agent's limit: text, or blocks.
        status: `"success"` or `"error"`.
        error: The exception that the tool raised, or None.
    """

    value: Any
    content: str | Sequence[Content]
    status: Literal["success", "error"]
    error: Exception | None = None


def failure_text(error: Exception) -> str:
    """What a model reads about a failed call: never the message of an unexpected exception."""
    return tool_failure_text(describe_exception(error, 0))


def succeeded(value: Any) -> ToolOutcome:
    """The outcome of a call that returned."""
    try:
        content = tool_value_text(to_jsonable(value))
    except Exception as error:
        return ToolOutcome(value, failure_text(error), "error", error)
    return ToolOutcome(value, content, "success")


_PASSING = (
    AbstractMethodError,
    CancelledError,
    CleanupError,
    ConfigurationError,
    DeadlineExceededError,
)


def failed(error: Exception) -> ToolOutcome:
    """The outcome of a call that raised; what has to end a run goes on.

    Raises:
        Exception: `error`, where it is no failure of the tool.
    """
    if isinstance(error, _PASSING):
        raise error
    return ToolOutcome(None, failure_text(error), "error", error)
