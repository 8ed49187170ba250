"""What the engine says of its work, for listeners and subscribers of the process."""

from __future__ import annotations

import sys
from typing import Any

from ._native import NOTICE


def instrumented() -> bool:
    """Whether anybody here wants to know of the engine's operations."""
    # Nobody subscribes through a module that nobody has loaded.
    instrumentation = sys.modules.get(f"{__package__}.instrumentation")
    return instrumentation is not None and instrumentation.bus().listening


def observe(item: tuple[Any, ...]) -> None:
    """Hands a notice to the listeners of events, and a measurement to the subscribers."""
    kind, told = item
    if kind == NOTICE:
        from . import events

        events.reporter().emit(told["level"], told["name"], told["payload"])
    else:
        from . import instrumentation

        attributes = told["attributes"]
        # Content is the policy's to let through.
        content = attributes.pop("diagnostic", None)
        instrumentation.bus().deliver(told["phase"], told["name"], attributes, content)
