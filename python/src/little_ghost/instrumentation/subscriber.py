"""Who is told of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Subscriber:
    """Connects a telemetry backend; override what it needs.

        class Timing(Subscriber):
            def finish(self, name: str, attributes: Mapping[str, Any]) -> None:
                print(f"{name}: {attributes['duration_ms']} ms")

        little_ghost.configure(subscribers=[Timing()])

    Calls may overlap in several threads. What a method raises is logged once and disturbs nothing.
    """

    def start(self, name: str, attributes: Mapping[str, Any]) -> None:
        """An operation begins.

        Args:
            name: Which, such as `"model"` or `"tool"`.
            attributes: Facts; always with `operation_id`, and with `parent_operation_id` if there is one.
        """

    def finish(self, name: str, attributes: Mapping[str, Any]) -> None:
        """An operation has ended.

        Args:
            name: Which.
            attributes: Facts, those of the start included, with `duration_ms`.
        """

    def emit(self, name: str, attributes: Mapping[str, Any]) -> None:
        """Something happened at a point in time."""

    def flush(self, timeout: float | None = None) -> None:
        """Sends what is buffered, within so many seconds."""

    def shutdown(self, timeout: float | None = None) -> None:
        """Releases what the backend holds, within so many seconds."""

    def trace_context(self, **attributes: Any) -> Mapping[str, str] | None:
        """Fields that let work elsewhere join the trace, such as `traceparent`."""
        return None
