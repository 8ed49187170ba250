"""Subscribers, and how they are told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..failures import report_once
from .subscriber import Subscriber


class Audience:
    """Subscribers in their order: those of the process, and those of a `with` block."""

    def __init__(self) -> None:
        """Starts with none."""
        self._lock = threading.Lock()
        self._subscribers: tuple[Subscriber, ...] = ()
        self._before: ContextVar[tuple[Subscriber, ...]] = ContextVar("little_ghost_before")
        self._after: ContextVar[tuple[Subscriber, ...]] = ContextVar("little_ghost_after")

    @property
    def listening(self) -> bool:
        """Whether anybody is told."""
        return bool(self._subscribers or self._before.get(()) or self._after.get(()))

    def subscribe(self, subscriber: Subscriber, *, prepend: bool = False) -> None:
        """Adds a subscriber once.

        Args:
            subscriber: Who is told.
            prepend: Before those that are there already.
        """
        with self._lock:
            if any(known is subscriber for known in self._subscribers):
                return
            known = self._subscribers
            self._subscribers = (subscriber, *known) if prepend else (*known, subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Removes a subscriber."""
        with self._lock:
            self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

    @contextmanager
    def subscribed(self, subscriber: Subscriber, *, prepend: bool = False) -> Iterator[None]:
        """Tells `subscriber` of what happens within a `with` block: in this thread or task, and in what it starts."""
        held = self._before if prepend else self._after
        token = held.set((*held.get(()), subscriber))
        try:
            yield
        finally:
            held.reset(token)

    def trace_context(self, **attributes: Any) -> dict[str, str]:
        """Fields that let work elsewhere join the trace, of the first subscriber that has any."""
        for subscriber in self._everybody():
            try:
                found = subscriber.trace_context(**attributes)
            except Exception as error:
                self._failed(subscriber, error)
            else:
                if found:
                    return dict(found)
        return {}

    def flush(self, timeout: float | None = None) -> None:
        """Has subscribers send what they hold, one after the other, in `timeout` seconds altogether."""
        self._each("flush", timeout)

    def _each(self, method: str, timeout: float | None) -> None:
        end = None if timeout is None else time.monotonic() + timeout
        for subscriber in self._everybody():
            left = None if end is None else max(0.0, end - time.monotonic())
            try:
                getattr(subscriber, method)(timeout=left)
            except Exception as error:
                self._failed(subscriber, error)

    def _everybody(self) -> tuple[Subscriber, ...]:
        return (*self._before.get(()), *self._subscribers, *self._after.get(()))

    def _tell(self, method: str, name: str, attributes: Mapping[str, Any]) -> None:
        for subscriber in self._everybody():
            try:
                getattr(subscriber, method)(name, dict(attributes))
            except Exception as error:
                self._failed(subscriber, error)

    def _failed(self, subscriber: Subscriber, error: Exception) -> None:
        if report_once("instrumentation subscriber", subscriber, error):
            from .. import events

            events.warn(
                "little_ghost.instrumentation.listener_failed",
                component=type(subscriber).__name__,
                error_type=type(error).__name__,
            )
