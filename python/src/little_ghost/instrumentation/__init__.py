"""Measures of what agents do, for telemetry.

    from little_ghost import instrumentation

    with instrumentation.instrument("import_orders", source="shop") as facts:
        facts["count"] = import_orders()

Subscribers are told when an operation starts and ends (`run`, `agent`, `agent_turn`, `model`, `tool`, and
your own), and of points in time. Content stays out unless `capture_content` says otherwise: one process is one
policy. The functions here work on the bus of the process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .. import process
from ..errors import Error
from .bus import _CURRENT, Bus, Captures
from .handle import Handle
from .subscriber import Subscriber

__all__ = [
    "Bus",
    "Captures",
    "Handle",
    "Subscriber",
    "bus",
    "capture_content",
    "context",
    "current",
    "flush",
    "instrument",
    "publish",
    "set_bus",
    "shutdown",
    "start",
    "subscribe",
    "subscribed",
    "trace_context",
    "unsubscribe",
    "with_context",
]

_bus = Bus()


def _renew_in_child() -> None:
    _bus._renew()


process.renew_in_child(_renew_in_child)


def bus() -> Bus:
    """The bus of the process."""
    return _bus


def set_bus(chosen: Bus) -> None:
    """Replaces the bus of the process.

    Raises:
        Error: Operations of the old one go on.
    """
    global _bus  # noqa: PLW0603
    if _bus.active():
        raise Error("operations go on; replace the bus before or after them")
    _bus = chosen


def start(
    name: str,
    *,
    parent: Handle | str | None = _CURRENT,
    operation_id: str | None = None,
    detached: bool = False,
    diagnostic: Mapping[str, Any] | None = None,
    **attributes: Any,
) -> Handle:
    """Begins an operation; see `Bus.start`."""
    return _bus.start(
        name,
        parent=parent,
        operation_id=operation_id,
        detached=detached,
        diagnostic=diagnostic,
        **attributes,
    )


def instrument(name: str, **attributes: Any) -> AbstractContextManager[dict[str, Any]]:
    """Measures a `with` block; see `Bus.instrument`."""
    return _bus.instrument(name, **attributes)


def publish(name: str, *, diagnostic: Mapping[str, Any] | None = None, **attributes: Any) -> None:
    """Tells of a point in time; see `Bus.publish`."""
    _bus.publish(name, diagnostic=diagnostic, **attributes)


def current() -> Handle | None:
    """The innermost operation of this thread or task that goes on."""
    return _bus.current()


def context() -> dict[str, Any]:
    """A copy of the attributes that `with_context` adds here."""
    return _bus.context()


@contextmanager
def with_context(**attributes: Any) -> Iterator[None]:
    """Adds attributes to all that is told within a `with` block."""
    with _bus.with_context(**attributes):
        yield


def subscribe(subscriber: Subscriber, *, prepend: bool = False) -> None:
    """Adds a subscriber to the process, once."""
    _bus.subscribe(subscriber, prepend=prepend)


def unsubscribe(subscriber: Subscriber) -> None:
    """Removes a subscriber of the process."""
    _bus.unsubscribe(subscriber)


@contextmanager
def subscribed(subscriber: Subscriber, *, prepend: bool = False) -> Iterator[None]:
    """Tells `subscriber` of what happens within a `with` block; see `Bus.subscribed`."""
    with _bus.subscribed(subscriber, prepend=prepend):
        yield


def capture_content(policy: Captures | None) -> None:
    """Sets which content the subscribers of the process are told from now on; None for none."""
    _bus.capture_content(policy)


def trace_context(**attributes: Any) -> dict[str, str]:
    """Fields that let work elsewhere join the trace."""
    return _bus.trace_context(**attributes)


def flush(timeout: float | None = None) -> None:
    """Has subscribers send what they hold."""
    _bus.flush(timeout)


def shutdown(timeout: float | None = None) -> None:
    """Ends the bus of the process for good."""
    _bus.shutdown(timeout)
