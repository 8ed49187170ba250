"""What programs call tools through."""

from __future__ import annotations

import inspect
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..background import in_thread
from ..calling import settle
from ..content import ToolUse
from ..context import RunContext
from ..jsonable import to_jsonable
from ..tools.outcome import ToolOutcome, failed, succeeded
from ..tools.registry import ToolRegistry

CONTROLS = ("exec", "wait", "stop")
"""The tools that control programs."""

_ORCHESTRATION = (
    "spawn_subagent",
    "send_message_to_subagent",
    "interject_subagent",
    "wait_for_subagents",
    "list_subagents",
)


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of a call.

    Attributes:
        id: The call's.
        value: What the tool returned, as plain data.
        error: What a program may know of a failure, or None.
    """

    id: str
    value: Any = None
    error: str | None = None


class Broker:
    """Makes the tool calls of programs.

    It stays in this process: a program names a tool and gives input, and whether that is a call is decided here. An
    engine gets the one of its agent, whose calls go the way of direct ones: the input is checked, callbacks,
    limits, events and traces are the same. One made by hand has the tools of a test, or of an application
    without a model:

        broker = Broker([help_center_lookup])
        broker.call("help_center_lookup", {"query": "refunds"}).value

    Calls may overlap, from any thread.

    Attributes:
        catalog: `name`, `description` and `input_schema` of the tools that programs may call.
    """

    catalog: Sequence[Mapping[str, Any]]

    def __init__(
        self,
        tools: ToolRegistry | Iterable[Any],
        *,
        context: RunContext | None = None,
        excluding: Iterable[str] = (),
        dispatch: Callable[[ToolUse], Any] | None = None,
        max_calls: int | None = None,
    ) -> None:
        """Makes a broker outside of a run.

        Args:
            tools: Declarations, as an agent has them; or a registry, which stays its owner's to close.
            context: What tools are given, where a call brings none.
            excluding: Names of tools that programs may not call. Those that control programs and subagents never are.
            dispatch: Makes the calls instead: gets each `ToolUse` and returns the value or a `CallResult`. It may
                be a coroutine function.
            max_calls: The most calls that are passed on.

        Raises:
            ConfigurationError: No usable declaration, a bad name, or one that is taken.
        """
        self._registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        self._context = RunContext() if context is None else context
        self._dispatch = dispatch
        self._left = max_calls
        self._lock = threading.Lock()
        hidden = {*CONTROLS, *_ORCHESTRATION, *excluding}
        self.catalog = tuple(
            {name: tool[name] for name in ("name", "description", "input_schema")}
            for tool in self._registry.specifications
            if tool["name"] not in hidden
        )

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        context: RunContext | None = None,
    ) -> CallResult:
        """Calls a tool, and waits in the calling thread.

        Args:
            name: Its name, with or without a leading `tools.`.
            arguments: Its input; what a program says is not trusted.
            id: Identifies the call in events; a new one by default.
            context: Ends the wait.

        Raises:
            CancelledError, DeadlineExceededError, CleanupError: What ends the run. Every other failure is in the
                result.
        """
        return self._called(name, arguments, id, context)

    async def call_async(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        context: RunContext | None = None,
    ) -> CallResult:
        """`call` for asyncio. Plain tools run in a thread, so that the loop goes on."""
        return await self._called_async(name, arguments, id, context)

    def _called(
        self, name: str, arguments: Any, id: str | None, context: RunContext | None
    ) -> CallResult:
        use = self._admitted(name, arguments, id)
        return use if isinstance(use, CallResult) else self._perform(use, context)

    async def _called_async(
        self, name: str, arguments: Any, id: str | None, context: RunContext | None
    ) -> CallResult:
        use = self._admitted(name, arguments, id)
        if isinstance(use, CallResult):
            return use
        if self._dispatch is None:
            tool = self._registry.fetch(use.name)
            if tool.is_async:
                given = self._context if context is None else context
                return _result(use, await tool.execute_async(use.input, given))
        elif inspect.iscoroutinefunction(self._dispatch):
            return await self._dispatched(self._dispatch, use)
        return await in_thread(f"little-ghost {use.name}", self._perform, use, context)

    def _admitted(self, name: str, arguments: Any, id: str | None) -> ToolUse | CallResult:
        """The call, or why there is none."""
        plain, number = str(name).removeprefix("tools."), id or str(uuid.uuid4())
        if not any(tool["name"] == plain for tool in self.catalog):
            return CallResult(number, error=f"There is no tool {plain!r} for programs.")
        if not isinstance(arguments, (Mapping, type(None))):
            return CallResult(number, error=f"The input of {plain} must be an object.")
        with self._lock:
            if self._left is not None:
                if self._left <= 0:
                    return CallResult(number, error="The limit of tool calls is reached.")
                self._left -= 1
        return ToolUse(id=number, name=plain, input=dict(arguments or {}))

    def _perform(self, use: ToolUse, context: RunContext | None) -> CallResult:
        given = self._context if context is None else context
        dispatch = self._dispatch
        if dispatch is None:
            return _result(use, self._registry.fetch(use.name).execute(use.input, given))
        try:
            found = settle(dispatch(use), "use call_async")
        except Exception as error:
            found = failed(error)
        return _result(use, found)

    async def _dispatched(self, dispatch: Callable[[ToolUse], Any], use: ToolUse) -> CallResult:
        try:
            found = await dispatch(use)
        except Exception as error:
            found = failed(error)
        return _result(use, found)


def _result(use: ToolUse, found: Any) -> CallResult:
    if isinstance(found, CallResult):
        return found
    outcome = found if isinstance(found, ToolOutcome) else succeeded(found)
    if outcome.status == "error":
        return CallResult(use.id, error=str(outcome.content))
    return CallResult(use.id, to_jsonable(outcome.value))
