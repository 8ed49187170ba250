"""Stream events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One thing that happened during a run, in order.

    Text, tools, usage and endings look the same for every provider. Exactly one event of type
    `run_stop`, `run_error`, `run_partial` or `run_cancel` ends a stream.

    Attributes:
        type: What happened, such as `"text_delta"`.
        data: The facts, such as `{"text": "Hel"}`. Messages, usage, results and errors are
            objects. Treat it as read-only.
    """

    type: str
    data: Mapping[str, Any]
