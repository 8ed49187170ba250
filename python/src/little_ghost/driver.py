"""The host's side of one run: calls user code and keeps what never crosses into the engine.

`pump.Pump` and `async_pump.AsyncPump` differ only in how they wait and where they run things; what there is
to run is decided here.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

from .content import tool_result_from_dict, tool_use_from_dict
from .context import RunContext
from .errors import describe_exception, error_from_value, fail_call
from .event import StreamEvent
from .jsonable import to_jsonable
from .observation import wanted
from .opening import Opening
from .result import ModelResponse, RunResult
from .session_calls import SessionCalls
from .steps import take_steps
from .usage import Usage

if TYPE_CHECKING:
    from ._native import CancellationToken
    from .errors import Failure
    from .models.call import ModelCall
    from .providers.part_call import PartCall
    from .run import Run
    from .tools.base import Tool


class Driver:
    """Answers the engine's calls for one run.

    Attributes:
        run: The run.
        native: Its native side.
        sessions: Answers what is asked of the run's session.
        inline: Plain tools run where the run is driven, one after the other.
        finished: The engine said that it is done.
        abandoned: The consumer is gone; only closing remains.
        failure: What the caller has to be told by an exception, once it is finished.
        unwinding: The exit that user code raised in a thread or task of its own, such as `SystemExit`.
    """

    __slots__ = (
        "_error",
        "_exceptions",
        "_observed",
        "_opening",
        "_tokens",
        "_values",
        "abandoned",
        "failure",
        "finished",
        "inline",
        "native",
        "run",
        "sessions",
        "unwinding",
    )

    def __init__(self, run: Run, *, asynchronous: bool = False) -> None:
        self.run = run
        self.native = run._native
        self.inline = run.runtime.settings.concurrency == "inline"
        self.finished = False
        self.abandoned = False
        self.failure: BaseException | None = None
        self.unwinding: BaseException | None = None
        self.sessions = SessionCalls(run, asynchronous=asynchronous and not self.inline)
        self._opening = Opening(run)
        # Values of tools that `after_tool` is told, by id of the tool call; and whose they will be.
        self._values: dict[str, Any] = {}
        self._observed: dict[int, str] = {}
        self._tokens: dict[int, CancellationToken] = {}
        self._exceptions: list[BaseException] = []
        self._error: tuple[dict[str, Any], BaseException] | None = None

    # -- calls ------------------------------------------------------------------------------------

    def tool(self, payload: Mapping[str, Any]) -> Tool:
        """The tool that a call names."""
        return self._opening.tools[payload["name"]]

    def named_tool(self, name: str) -> Tool:
        """The tool of that name."""
        return self._opening.tools[name]

    def tool_value(self, tool_use_id: str) -> Any:
        """What the tool returned to that call, untouched; asked for once."""
        return self._values.pop(tool_use_id, None)

    def perform(self, call: int, kind: str, payload: dict[str, Any]) -> Any:
        """Runs the user code of a call; the value may be awaitable."""
        if kind == "tool":
            if self._opening.callbacks.has("after_tool"):
                self._observed[call] = payload["tool_use_id"]
            context = self._context(call, payload["operation_id"])
            return self.tool(payload).invoke(payload["input"], context)
        if kind == "close":
            return self._close(payload["resource"])
        if kind in _OF_SESSION:
            return take_steps(self.sessions.answer(kind, payload))
        if kind == "hook":
            return take_steps(self._hook(payload))
        if kind == "callback":
            return self._callback(call, payload)
        if kind == "scripted_turn":
            from .testing import functions

            return functions.call(payload)
        return take_steps(self._opening.steps(self._context(call)))

    def complete(self, call: int, value: Any) -> None:
        """Answers a call with what user code returned."""
        aside = self._tokens.pop(call, None) is not None
        observed = self._observed.pop(call, None)
        if observed is not None:
            self._values[observed] = value
        try:
            try:
                if aside and self.run._stateless:
                    self.native.complete_without_state(call, value)
                else:
                    self.native.complete(call, value)
            except TypeError:
                self.native.complete(call, to_jsonable(value))
        except Exception as error:
            # What JSON cannot express is a failure of that call.
            self.fail(call, error)

    def fail(self, call: int, error: BaseException) -> None:
        """Answers a call with the exception that user code raised."""
        self._tokens.pop(call, None)
        self._observed.pop(call, None)
        fail_call(self.native, call, self.describe(error), error)

    def fail_aside(self, call: int, error: BaseException) -> None:
        """Answers a call that ran in a thread or task of its own; an exit ends the run."""
        if not isinstance(error, Exception) and not is_cancellation(error):
            self.unwinding = error
            self.native.interrupt(None)
        self.fail(call, error)

    def start(self, *, deliver: bool) -> None:
        """Begins the run.

        Args:
            deliver: Whether anybody wants its events.
        """
        overridden = [name for name in _HOOKS if self._has_hook(name)]
        start = {"events": deliver, "hooks": overridden, **wanted(self.run.runtime)}
        self.native.start(start)

    def _has_hook(self, name: str) -> bool:
        return any(type(hook)._overrides(name) for hook in self.run.runtime.hooks)

    def withdraw(self, call: int) -> None:
        """The engine gave a call up: its user code is told."""
        token = self._tokens.pop(call, None)
        if token is not None:
            token.cancel()

    def describe(self, error: BaseException) -> Failure:
        """Keeps an exception and says what the engine needs of it."""
        self._exceptions.append(error)
        return describe_exception(error, len(self._exceptions))

    def _original(self, identifier: int) -> BaseException | None:
        if 0 < identifier <= len(self._exceptions):
            return self._exceptions[identifier - 1]
        return None

    def _context(self, call: int, agent_operation_id: str | None = None) -> RunContext:
        run = self.run
        token = self._tokens[call] = self.native.work_token.child()
        return RunContext(
            state=run.state,
            cancellation_token=token,
            deadline_at=run.invocation.deadline_at,
            metadata=run.invocation.metadata,
            run=run,
            agent_operation_id=agent_operation_id,
        )

    def _close(self, number: int) -> Any:
        close = self.run._closers.pop(number, None)
        value = None if close is None else close()
        return _discarded(value) if inspect.isawaitable(value) else None

    # -- models -----------------------------------------------------------------------------------

    def model_call(self, call: int, payload: dict[str, Any]) -> ModelCall:
        """A request of the engine to the run's model, which is written in Python."""
        from .models.call import ModelCall

        token = self._tokens[call] = self.native.work_token.child()
        return ModelCall(
            self._opening.model, payload, token, lambda events: self.native.emit(call, events)
        )

    def part_call(self, call: int, payload: dict[str, Any]) -> PartCall:
        """What the engine has a part of the model's provider do."""
        from .providers.part_call import PartCall

        token = self._tokens[call] = self.native.work_token.child()
        return PartCall(
            self._opening.model._parts,
            payload,
            token,
            lambda chunk: self.native.emit_bytes(call, chunk),
            self.exception,
        )

    def complete_part(self, call: int, value: Any) -> None:
        """Answers a call that no code that knows the run worked off."""
        self._tokens.pop(call, None)
        self.native.complete(call, value)

    # -- hooks ------------------------------------------------------------------------------------

    def _hook(self, payload: dict[str, Any]) -> Generator[Any, Any, Any]:
        if payload["name"] == "session_history":
            return (yield from self.sessions.history(payload))
        error = self.exception(payload["error"])
        for hook in self.run.runtime.hooks:
            message = yield hook.error_message(error, self.run)
            if message:
                return str(message)
        return None

    # -- callbacks --------------------------------------------------------------------------------

    def _callback(self, call: int, payload: dict[str, Any]) -> Any:
        from .payload import read_payload

        name = payload.pop("name")
        told = read_payload(name, payload, self)
        context = self._context(call, payload.get("parent_operation_id"))
        return take_steps(self._opening.callbacks.run(name, told, context))

    # -- events and the end -----------------------------------------------------------------------

    def event(self, kind: str, data: dict[str, Any]) -> StreamEvent:
        """A stream event with objects for what the engine sent as data."""
        for key, read in _READERS.items():
            if key in data:
                data[key] = read(data[key])
        if "error" in data:
            data["error"] = self.exception(data["error"])
        if "result" in data:
            data["result"] = (
                tool_result_from_dict(data["result"])
                if kind == "tool_stop"
                else self._result(data["result"])
            )
        if kind in _TERMINAL:
            # Who sees the end can look at the run.
            self.settle()
        return StreamEvent(kind, data)

    def _result(self, value: dict[str, Any]) -> RunResult:
        return self.run.result or self.run._read_result(value)

    def exception(self, value: dict[str, Any]) -> BaseException:
        """The exception for an error as the engine describes it."""
        # One failure shows in several events and in `run.error`: as one object.
        if self._error is None or self._error[0] != value:
            self._error = (value, error_from_value(value, self._original))
        return self._error[1]

    def settle(self) -> None:
        """Fills in the run from what the engine knows of its ending."""
        report = self.native.report()
        outcome, _, _, _, error, raised, result = report
        self.run._keep_result(None if outcome is None else result)
        cause = None if error is None else self.exception(error)
        if raised is not None:
            self.failure = cause if raised == error else error_from_value(raised, self._original)
        self.run._settle(report, cause)

    def finish(self) -> None:
        """The engine is done: nothing is asked any more."""
        self.settle()
        self.finished = True
        self.run._leave_session()
        self.run._closers.clear()
        self._exceptions.clear()
        self._tokens.clear()
        self._error = None

    def raise_failure(self) -> None:
        """Raises an exit, or else what the caller has to know because the ending is not clean."""
        failure = self.failure if self.unwinding is None else self.unwinding
        if failure is not None:
            raise failure


_HOOKS = ("session_history", "error_message")

ASIDE = frozenset({"model", "transport", "provider"})

_OF_SESSION = frozenset({"session", "state", "state_restored"})

_TERMINAL = frozenset({"run_stop", "run_error", "run_partial", "run_cancel"})


def interruption(driver: Driver, error: BaseException) -> Failure | None:
    """How an exception that left the pump counts: an `Exception` fails the run, the rest cancel it."""
    return driver.describe(error) if isinstance(error, Exception) else None


def is_cancellation(error: BaseException) -> bool:
    """Whether it is the cancellation of a task or future."""
    # Without asyncio nobody can have raised one.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


async def _discarded(value: Awaitable[Any]) -> None:
    await value


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tool_use": tool_use_from_dict,
    "response": lambda value: ModelResponse.from_dict(value) if isinstance(value, dict) else value,
    "usage": Usage.from_dict,
}
