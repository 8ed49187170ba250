"""What the engine says of its work, for listeners and subscribers of the process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ._native import NOTICE

if TYPE_CHECKING:
    from .runtime import Runtime


def wanted(runtime: Runtime) -> dict[str, Any]:
    """What subscribers want of a run, as it is started."""
    # Nobody subscribes through a module that nobody has loaded.
    instrumentation = sys.modules.get(f"{__package__}.instrumentation")
    if instrumentation is None or not instrumentation.bus().listening:
        return {}
    bus = instrumentation.bus()
    attributes = {"service_name": runtime.service_name}
    handle = bus.current()
    if handle is not None:
        attributes["parent_operation_id"] = handle.operation_id
    return {"instrument": True, "diagnostics": bus.captures, "attributes": attributes}


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
