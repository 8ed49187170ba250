"""Token counts."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one response, one run or more.

    Every token is counted in exactly one field.

    Attributes:
        input_tokens: Uncached prompt tokens.
        output_tokens: Visible completion tokens.
        cache_read_tokens: Prompt tokens served from the provider's cache.
        cache_write_tokens: Prompt tokens written to the provider's cache.
        reasoning_tokens: Hidden reasoning tokens.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """The sum of all five counts."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.reasoning_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        """Adds count by count."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )

    def to_dict(self) -> dict[str, int]:
        """All five counts and `total_tokens`, as JSON-like data."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "reasoning_tokens": self.reasoning_tokens,
            "total_tokens": self.total_tokens,
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Usage:
        """Reads what `to_dict` wrote; a missing count is zero."""
        return cls(
            value.get("input_tokens", 0),
            value.get("output_tokens", 0),
            value.get("cache_read_tokens", 0),
            value.get("cache_write_tokens", 0),
            value.get("reasoning_tokens", 0),
        )


class Tally:
    """Usage that several threads add to."""

    __slots__ = ("_lock", "_total")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total = Usage()

    def add(self, usage: Usage) -> None:
        """Adds count by count."""
        with self._lock:
            self._total += usage

    @property
    def total(self) -> Usage:
        """The sum so far."""
        return self._total
