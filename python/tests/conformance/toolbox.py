"""The tools of a case."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from little_ghost import CancelledError, RunContext, Tool, ToolError, tool

PATIENCE = 10
"""Seconds. Nothing waits longer: a tool that waits in vain must fail its case."""


class Boom(Exception):
    """An exception of the application, as a tool may raise it."""


class Toolbox:
    """The tools of one run, and what they know of each other."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.running = self.met = 0
        self.finished: set[str] = set()

    def tools(self, specs: list[dict[str, Any]], asynchronous: bool) -> list[Tool]:
        make = self._coroutine if asynchronous else self._function
        return [
            tool(
                name=spec["name"],
                description=spec["description"],
                exclusive=spec["exclusive"],
                input_schema=spec["input_schema"],
            )(make(spec))
            for spec in specs
        ]

    def _function(self, spec: dict[str, Any]) -> Callable[..., Any]:
        def perform(given: dict[str, Any], context: RunContext) -> Any:
            running = self._enter(spec)
            try:
                until = self._until(spec, context)
                with self.changed:
                    assert self.changed.wait_for(until, PATIENCE), "the other tools never came"
                return self._act(spec, given, context, running)
            finally:
                self._leave(spec)

        return perform

    def _coroutine(self, spec: dict[str, Any]) -> Callable[..., Any]:
        async def perform(given: dict[str, Any], context: RunContext) -> Any:
            running = self._enter(spec)
            try:
                until = self._until(spec, context)
                end = time.monotonic() + PATIENCE
                while not until():
                    assert time.monotonic() < end, "the other tools never came"
                    await asyncio.sleep(0)
                return self._act(spec, given, context, running)
            finally:
                self._leave(spec)

        return perform

    def _enter(self, spec: dict[str, Any]) -> int:
        with self.changed:
            self.running += 1
            self.met += "meet" in spec["behaviour"]
            self.changed.notify_all()
            return self.running

    def _leave(self, spec: dict[str, Any]) -> None:
        with self.changed:
            self.running -= 1
            self.finished.add(spec["name"])
            self.changed.notify_all()

    def _until(self, spec: dict[str, Any], context: RunContext) -> Callable[[], bool]:
        """What the tool waits for."""
        match spec["behaviour"]:
            case {"after": name}:
                return lambda: name in self.finished
            case {"meet": count}:
                return lambda: self.met >= count
            case "cancel_run":
                context.run.cancel()
                return lambda: context.cancellation_token.cancelled
        return lambda: True

    def _act(
        self, spec: dict[str, Any], given: dict[str, Any], context: RunContext, running: int
    ) -> Any:
        match spec["behaviour"]:
            case {"return": value}:
                return value
            case "echo":
                return given
            case {"tool_error": message}:
                raise ToolError(message)
            case {"raise": {"class": "Boom", "message": message}}:
                raise Boom(message)
            case {"raise": {"class": "ArgumentError", "message": message}}:
                raise ValueError(message)
            case "cancel":
                raise CancelledError("the tool gave up")
            case "cancel_run":
                context.check()
            case {"add_state": more}:
                context.state.update(more)
                return None
            case {"read_state": key}:
                return context.state.get(key)
            case {"after": name}:
                return f"after {name}"
            case {"meet": _}:
                return "met"
            case "running":
                return running
        raise AssertionError(f"unknown behaviour {spec['behaviour']}")
