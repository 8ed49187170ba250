"""Noteworthy facts about agents at work, for logs and alerts.

    from little_ghost import events

    events.subscribe(alerts.append, filter=lambda event: event.level in ("warn", "error"))
    with events.with_context(request_id="r-1"):
        events.warn("support.case.stalled", case_id="case-42")

Events are points in time; `instrumentation` measures work that has a start and an end. Nobody listens until
the application says so. A listener that raises never breaks the work that an event tells of.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from .. import process
from .console import ConsoleListener
from .reporter import LEVELS, Event, Filter, Level, Listener, Reporter

__all__ = [
    "LEVELS",
    "ConsoleListener",
    "Event",
    "Level",
    "Listener",
    "Reporter",
    "console_output",
    "context",
    "debug",
    "emit",
    "error",
    "info",
    "log_to",
    "reporter",
    "set_reporter",
    "subscribe",
    "subscribed",
    "unsubscribe",
    "warn",
    "with_context",
]

_reporter = Reporter()
_console: tuple[str, ConsoleListener] | None = None


def _renew_in_child() -> None:
    _reporter._renew()


process.renew_in_child(_renew_in_child)


def reporter() -> Reporter:
    """The reporter of the process."""
    return _reporter


def set_reporter(chosen: Reporter) -> None:
    """Replaces the reporter of the process. Listeners of the old one do not move."""
    global _reporter  # noqa: PLW0603
    _reporter = chosen


def emit(level: Level, name: str, /, **payload: Any) -> Event:
    """Publishes an event; see `Reporter.emit`."""
    return _reporter.emit(level, name, payload)


def debug(name: str, /, **payload: Any) -> Event:
    """Publishes an event for developers."""
    return _reporter.emit("debug", name, payload)


def info(name: str, /, **payload: Any) -> Event:
    """Publishes an ordinary event."""
    return _reporter.emit("info", name, payload)


def warn(name: str, /, **payload: Any) -> Event:
    """Publishes a warning."""
    return _reporter.emit("warn", name, payload)


def error(name: str, /, **payload: Any) -> Event:
    """Publishes an error."""
    return _reporter.emit("error", name, payload)


def subscribe(listener: Listener, *, filter: Filter | None = None) -> None:
    """Adds a listener to the process; see `Reporter.subscribe`."""
    _reporter.subscribe(listener, filter=filter)


def unsubscribe(listener: Listener) -> None:
    """Removes a listener of the process."""
    _reporter.unsubscribe(listener)


@contextmanager
def subscribed(listener: Listener) -> Iterator[None]:
    """Has `listener` hear what happens within a `with` block; see `Reporter.subscribed`."""
    with _reporter.subscribed(listener):
        yield


def context() -> dict[str, Any]:
    """A copy of what `with_context` says here."""
    return _reporter.context()


@contextmanager
def with_context(**attributes: Any) -> Iterator[None]:
    """Adds attributes to the context of every event within a `with` block."""
    with _reporter.with_context(**attributes):
        yield


def console_output() -> str | None:
    """Where events are written as lines of JSON: `"stdout"`, `"stderr"`, or None."""
    return None if _console is None else _console[0]


def log_to(destination: Literal["stdout", "stderr"] | None) -> None:
    """Writes the events of the process as lines of JSON, in place of an earlier destination.

    Args:
        destination: `"stdout"`, `"stderr"`, or None for nowhere. Other listeners stay as they are.

    Raises:
        ValueError: Another destination.
    """
    global _console  # noqa: PLW0603
    if destination not in (None, "stdout", "stderr"):
        raise ValueError(f'events are logged to "stdout", "stderr" or None, not {destination!r}')
    if _console is not None:
        _reporter.unsubscribe(_console[1])
        _console = None
    if destination is not None:
        listener = ConsoleListener(sys.stdout if destination == "stdout" else None)
        _reporter.subscribe(listener)
        _console = (destination, listener)
