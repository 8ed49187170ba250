"""What is told when a runtime is built."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .configuration import Configuration
    from .instrumentation import Handle


class Startup:
    """Tells listeners and subscribers that a runtime is being built, and how that ended.

    Attributes:
        phase: What is being prepared.
    """

    __slots__ = ("_begun", "_handle", "_service", "phase")

    def __init__(self, configuration: Configuration) -> None:
        """Has the listeners and subscribers of the configuration told as well."""
        self.phase = "configuration"
        self._service = configuration.service_name
        self._begun = time.monotonic()
        self._handle: Handle | None = None
        if configuration.event_listeners:
            from . import events

            for listener in configuration.event_listeners:
                events.unsubscribe(listener)
                events.subscribe(listener)
        if configuration.subscribers:
            from . import instrumentation

            for subscriber in configuration.subscribers:
                instrumentation.subscribe(subscriber)

    def __enter__(self) -> Startup:
        """Tells of the beginning."""
        self._tell("info", status="starting")
        instrumentation = sys.modules.get(f"{__package__}.instrumentation")
        if instrumentation is not None:
            self._handle = instrumentation.start(
                "runtime", service_name=self._service, startup_phase=self.phase
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Tells of the end."""
        duration = round((time.monotonic() - self._begun) * 1000, 3)
        if error is None:
            self.phase = "complete"
            self._tell("info", status="ready", duration_ms=duration)
            ending: dict[str, Any] = {"outcome": "ready"}
        else:
            failure = type(error).__name__
            self._tell("error", status="failed", duration_ms=duration, error_type=failure)
            ending = {"outcome": "failed", "error_type": failure}
        if self._handle is not None:
            self._handle.finish(startup_phase=self.phase, **ending)

    def _tell(self, level: str, **facts: Any) -> None:
        # Nobody listens through a module that nobody has loaded.
        events = sys.modules.get(f"{__package__}.events")
        if events is not None:
            events.emit(
                level,
                "little_ghost.runtime.startup",
                phase=self.phase,
                service_name=self._service,
                **facts,
            )
