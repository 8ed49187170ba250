"""What a callback decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Replace(Generic[T]):
    """Goes on with another value; later callbacks see it too.

    Attributes:
        value: What the callback of each kind replaces is said where it is declared.
    """

    value: T


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stops: the run is cancelled, or from `before_tool` only the call.

    Attributes:
        reason: Why. From `before_tool` the model reads it, so it must be safe to disclose.
    """

    reason: str | None = None


Decision: TypeAlias = Replace[T] | Cancel | None
"""What a callback returns; None goes on."""


def is_decision(value: Any) -> bool:
    """Whether a callback may return it."""
    return value is None or isinstance(value, (Replace, Cancel))
