"""What a program left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Error


@dataclass(frozen=True, slots=True)
class Execution:
    """What a program that ran to its end has left.

    Attributes:
        stdout: What it wrote, cut at the limit.
        stderr: The same of its other stream.
        exit_code: Its exit code; None when a signal ended it.
        error: Why it could not run as it should, or None.
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    error: Exception | None = None

    @property
    def success(self) -> bool:
        """Whether it ran and returned zero."""
        return self.error is None and self.exit_code == 0


def execution_from(value: Mapping[str, Any]) -> Execution:
    """What the engine says that a program left."""
    error = None if value["error"] is None else Error(value["error"])
    return Execution(value["stdout"], value["stderr"], value["exit_code"], error)
