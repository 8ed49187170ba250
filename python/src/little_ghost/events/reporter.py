"""Events, and who publishes them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from ..detached import detached
from ..failures import report_once

Level: TypeAlias = Literal["debug", "info", "warn", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warn", "error")


@dataclass(frozen=True, slots=True)
class Event:
    """One fact.

    Attributes:
        name: What happened, such as `"support.case.stalled"`.
        level: `"debug"`, `"info"`, `"warn"` or `"error"`.
        payload: The facts, as JSON-like data.
        context: What `with_context` says around it.
        timestamp: Nanoseconds since the Unix epoch.
    """

    name: str
    level: Level
    payload: Mapping[str, Any]
    context: Mapping[str, Any]
    timestamp: int

    def to_dict(self) -> dict[str, Any]:
        """All of it, as a dict of its own."""
        return {
            "name": self.name,
            "level": self.level,
            "payload": detached(self.payload),
            "context": detached(self.context),
            "timestamp": self.timestamp,
        }


class _Emits(Protocol):
    def emit(self, event: Event, /) -> object: ...


Listener: TypeAlias = Callable[[Event], object] | _Emits
"""A function that takes an `Event`, or an object with such a method `emit`."""

Filter: TypeAlias = Callable[[Event], object]


class Reporter:
    """Publishes events to its listeners, from any thread and task.

    Most applications use the functions of this module, which work on one reporter for the process.
    """

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        """Starts with `listeners`, in this order."""
        self._lock = threading.Lock()
        self._listeners: tuple[tuple[Listener, Filter | None], ...] = tuple(
            (listener, None) for listener in listeners
        )
        self._scoped: ContextVar[tuple[Listener, ...]] = ContextVar("little_ghost_listeners")
        self._context: ContextVar[Mapping[str, Any]] = ContextVar("little_ghost_events")

    def emit(self, level: Level, name: str, payload: Mapping[str, Any] | None = None) -> Event:
        """Publishes an event.

        Args:
            level: One of `LEVELS`.
            name: What happened.
            payload: The facts. They are copied.

        Returns:
            The event.

        Raises:
            ValueError: An unknown level, or data that JSON cannot hold.
            TypeError: Data of a type that JSON does not have.
        """
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
        facts = detached({} if payload is None else payload, "payload")
        event = Event(name, level, facts, self.context(), time.time_ns())
        for listener, wanted in self._listeners:
            self._deliver(listener, wanted, event)
        for listener in self._scoped.get(()):
            self._deliver(listener, None, event)
        return event

    def _deliver(self, listener: Listener, wanted: Filter | None, event: Event) -> None:
        try:
            # A copy for each: no listener changes what another one reads.
            own = Event(
                event.name,
                event.level,
                detached(event.payload),
                detached(event.context),
                event.timestamp,
            )
            if wanted is None or wanted(own):
                receive: Any = getattr(listener, "emit", listener)
                receive(own)
        except Exception as error:
            report_once("event listener", listener, error)

    def subscribe(self, listener: Listener, *, filter: Filter | None = None) -> None:
        """Adds a listener.

        Args:
            listener: A function that takes an `Event`, or an object with such a method `emit`.
            filter: Chooses the events that it gets; all by default.

        Raises:
            TypeError: It cannot be called.
        """
        if not callable(getattr(listener, "emit", listener)):
            raise TypeError(
                f"a listener is a function or has a method emit, not {type(listener).__name__}"
            )
        with self._lock:
            self._listeners = (*self._listeners, (listener, filter))

    def unsubscribe(self, listener: Listener) -> None:
        """Removes a listener, however often it was added."""
        with self._lock:
            self._listeners = tuple(
                entry
                for entry in self._listeners
                if entry[0] is not listener and entry[0] != listener
            )

    @contextmanager
    def subscribed(self, listener: Listener) -> Iterator[None]:
        """Has `listener` hear what happens within a `with` block: in this thread or task, and in what it starts."""
        token = self._scoped.set((*self._scoped.get(()), listener))
        try:
            yield
        finally:
            self._scoped.reset(token)

    def context(self) -> dict[str, Any]:
        """A copy of what `with_context` says here."""
        held = self._context.get(None)
        return {} if not held else dict(detached(held, "context"))

    @contextmanager
    def with_context(self, **attributes: Any) -> Iterator[None]:
        """Adds attributes to the context of every event within a `with` block.

        Raises:
            TypeError, ValueError: Data that JSON cannot hold.
        """
        token = self._context.set({**self.context(), **detached(attributes, "context")})
        try:
            yield
        finally:
            self._context.reset(token)

    def _renew(self) -> None:
        self._lock = threading.Lock()
