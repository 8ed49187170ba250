"""What one look at a program saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..content import Content, content_from_dict
from ..jsonable import to_jsonable


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What one look at a program saw.

    Attributes:
        status: `"completed"`, `"still_working"`, `"terminated"` or `"error"`.
        output: What it has written since the look before.
        value: What a completed program came to.
        error: Why a program failed, for the model to read.
        presentation_content: Images and documents of its tool calls that the model is shown.
    """

    status: Literal["completed", "still_working", "terminated", "error"] = "completed"
    output: str = ""
    value: Any = None
    error: str | None = None
    presentation_content: Sequence[Content] = ()

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> ProgramResult:
        """Reads what `to_dict` gives."""
        return cls(
            value.get("status") or "completed",
            value.get("output") or "",
            value.get("value"),
            value.get("error"),
            tuple(map(content_from_dict, value.get("presentation_content") or ())),
        )

    @property
    def completed(self) -> bool:
        """Whether the program ended successfully."""
        return self.status == "completed"

    @property
    def still_working(self) -> bool:
        """Whether the program goes on."""
        return self.status == "still_working"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "status": self.status,
            "output": self.output,
            "value": to_jsonable(self.value),
            "error": self.error,
            "presentation_content": [block.to_dict() for block in self.presentation_content],
        }
