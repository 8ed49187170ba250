"""The host's side of one run: calls user code and keeps what never crosses into the engine.

`pump.Pump` and `async_pump.AsyncPump` differ only in how they wait and where they run things; what there is
to run is decided here.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .assembly.place import Place
from .content import tool_result_from_dict, tool_use_from_dict
from .errors import CancelledError, describe_exception, error_from_value, fail_call
from .event import StreamEvent
from .jsonable import to_jsonable
from .observation import wanted
from .part import Part
from .result import ModelResponse, RunResult
from .result_schema import declared_result
from .runners import Runners
from .session_calls import SessionCalls
from .steps import take_steps
from .subagent import Delegate
from .usage import Usage

if TYPE_CHECKING:
    from threading import Thread

    from ._native import CancellationToken
    from .assembly.base import Assembly
    from .assembly.calls import AssemblyCalls
    from .assembly.table import HostTable
    from .code_mode.program_calls import ProgramCall
    from .errors import Failure
    from .models.call import ModelCall
    from .providers.part_call import PartCall
    from .run import Run
    from .tools.base import Tool


class Aside(Protocol):
    """Work of the application that goes on beside the run."""

    is_async: bool

    def run(self) -> Any:
        """Does it in this thread."""

    async def run_async(self) -> Any:
        """Does it in this task."""


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
        "_assemblies",
        "_error",
        "_exceptions",
        "_observed",
        "_parts",
        "_runners",
        "_tokens",
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
        self._runners = Runners(asynchronous=asynchronous)
        self._parts = {0: Part(self, run.agent)}
        self._assemblies: AssemblyCalls | None = None
        # Which call will have its value told to `after_tool`.
        self._observed: dict[int, tuple[Part, str]] = {}
        self._tokens: dict[int, CancellationToken] = {}
        self._exceptions: list[BaseException] = []
        self._error: tuple[dict[str, Any], BaseException] | None = None

    # -- calls ------------------------------------------------------------------------------------

    def part(self, payload: Mapping[str, Any]) -> Part:
        """The part of the run that a call is for."""
        return self._parts[payload.get("scope", 0)]

    def tool(self, payload: Mapping[str, Any]) -> Tool:
        """The tool that a call names."""
        return self.part(payload).named_tool(payload["name"])

    def overlaps(self, payload: Mapping[str, Any]) -> bool:
        """Whether something else of the run may go on beside a tool."""
        # Participants may have others beside them, and time limits of their own, which only the pump hears of.
        return payload["concurrent"] or "scope" in payload

    def perform(self, call: int, kind: str, payload: dict[str, Any]) -> Any:
        """Runs the user code of a call; the value may be awaitable."""
        if kind == "tool":
            part = self.part(payload)
            if part.opening.callbacks.has("after_tool"):
                self._observed[call] = (part, payload["tool_use_id"])
            context = part.context(call, payload["operation_id"])
            if context.cancellation_token.cancelled:
                # Given up while other code had this thread; it must not begin.
                raise CancelledError("the tool call was given up before it began")
            return self.tool(payload).invoke(payload["input"], context)
        if kind == "close":
            return self._close(payload)
        if kind == "state" and "scope" in payload:
            return to_jsonable(self.part(payload).state)
        if kind in _OF_SESSION:
            return take_steps(self.sessions.answer(kind, payload))
        if kind == "hook":
            return take_steps(self._hook(payload))
        if kind == "callback":
            return self._callback(call, payload)
        if kind == "scripted_turn":
            from .testing import functions

            return functions.call(payload)
        if kind in ("assembly", "settled"):
            return self.assemblies.answer(kind, payload)
        part = self._open(payload)
        return take_steps(part.opening.steps(part.context(call)))

    def _open(self, payload: dict[str, Any]) -> Part:
        """The part that an entrypoint begins."""
        if "participant" not in payload:
            return self._parts[0]
        scope = payload["scope"]
        reference = self.table[payload["participant"]]
        place = reference if isinstance(reference, Place) else None
        if isinstance(reference, Delegate):
            place = Place(reference, (), reference.around)
            participant: Assembly = reference.open(
                payload["agent_path"], payload["conversation_id"] or ""
            )
        else:
            participant = self.table.participant(reference if place is None else place.reference)
        part = self._parts[scope] = Part(self, participant, scope, payload, place)
        self.run._scopes[scope] = (part.state, declared_result(participant))
        return part

    def complete(self, call: int, value: Any) -> None:
        """Answers a call with what user code returned."""
        aside = self._tokens.pop(call, None) is not None
        observed = self._observed.pop(call, None)
        if observed is not None:
            part, tool_use_id = observed
            part.keep_value(tool_use_id, value)
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
        start = {
            "events": deliver,
            "hooks": overridden,
            "kind": self.run._kind,
            **wanted(self.run.runtime),
        }
        self.native.start(start)

    def _has_hook(self, name: str) -> bool:
        return any(type(hook)._overrides(name) for hook in self.run.runtime.hooks)

    def withdraw(self, call: int) -> None:
        """The engine gave a call up, and cancelled its token already."""
        self._tokens.pop(call, None)
        if self._assemblies is not None:
            self._assemblies.withdraw(call)

    def describe(self, error: BaseException) -> Failure:
        """Keeps an exception and says what the engine needs of it."""
        self._exceptions.append(error)
        return describe_exception(error, len(self._exceptions))

    def _original(self, identifier: int) -> BaseException | None:
        if 0 < identifier <= len(self._exceptions):
            return self._exceptions[identifier - 1]
        return None

    def token_for(self, call: int) -> CancellationToken:
        """A token that is cancelled when the engine gives the call up, even while this thread is busy with it."""
        token = self._tokens[call] = self.native.call_token(call)
        return token

    def _close(self, payload: dict[str, Any]) -> Any:
        if "programs" in payload:
            closing = self.part(payload).programs.close(payload["programs"])
            return _discarded(closing) if inspect.isawaitable(closing) else None
        scope = payload.get("scope", 0)
        if scope:
            return take_steps(self._close_part(scope, payload.get("end_at")))
        close = self.run._closers.pop(payload.get("resource", 0), None)
        value = None if close is None else close()
        return _discarded(value) if inspect.isawaitable(value) else None

    def _close_part(self, scope: int, end_at: float | None) -> Generator[Any, Any, None]:
        """Ends a part once its code has; only that of subagents is waited for."""
        try:
            yield self._runners.stop(scope, end_at)
        finally:
            part = self._parts.pop(scope, None)
            if part is not None:
                yield from part.close()

    def part_over(self, scope: int) -> None:
        """Forgets a part that had nothing to close."""
        self._runners.stop(scope, None)
        part = self._parts.pop(scope, None)
        if part is not None:
            part.release()

    def keep_runner(self, payload: Mapping[str, Any], thread: Thread) -> None:
        """Notes a thread that runs code of a part."""
        self._runners.keep(payload.get("scope", 0), thread)

    # -- assemblies -------------------------------------------------------------------------------

    @property
    def assemblies(self) -> AssemblyCalls:
        """Answers what is asked of an assembly."""
        if self._assemblies is None:
            from .assembly.calls import AssemblyCalls

            self._assemblies = AssemblyCalls(self)
        return self._assemblies

    @property
    def table(self) -> HostTable:
        """Participants and functions of the run."""
        return self.assemblies.table

    def has_body(self, call: int) -> bool:
        """Whether a call is that of a body at work."""
        return self._assemblies is not None and self._assemblies.has(call)

    def give_up_bodies(self) -> None:
        """Bodies of workflows wait for nothing any more."""
        if self._assemblies is not None:
            self._assemblies.give_up()

    def asked_aside(self, call: int, kind: str, payload: dict[str, Any]) -> Aside:
        """What has to run beside the run."""
        if kind == "model":
            return self.model_call(call, payload)
        if kind in ("code_mode", "sandbox"):
            return self.program_call(call, kind, payload)
        return self.part_call(call, payload)

    # -- models -----------------------------------------------------------------------------------

    def model_call(self, call: int, payload: dict[str, Any]) -> ModelCall:
        """A request of the engine to the run's model, which is written in Python."""
        from .models.call import ModelCall

        return ModelCall(
            self.part(payload).opening.model,
            payload,
            self.token_for(call),
            lambda events: self.native.emit(call, events),
        )

    def part_call(self, call: int, payload: dict[str, Any]) -> PartCall:
        """What the engine has a part of the model's provider do."""
        from .providers.part_call import PartCall

        return PartCall(
            self.part(payload).opening.model._parts,
            payload,
            self.token_for(call),
            lambda chunk: self.native.emit_bytes(call, chunk),
            self.exception,
        )

    def program_call(self, call: int, kind: str, payload: dict[str, Any]) -> ProgramCall:
        """What the engine has a code-mode engine, or a sandbox of programs, of the application do."""
        part = self.part(payload)
        programs, context = part.programs, part.context(call)
        return (programs.use_sandbox if kind == "sandbox" else programs.call)(payload, context)

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
        part = self.part(payload)
        told = read_payload(name, payload, part)
        context = part.context(call, payload.get("parent_operation_id"))
        return take_steps(part.opening.callbacks.run(name, told, context))

    # -- events and the end -----------------------------------------------------------------------

    def event(self, kind: str, data: dict[str, Any]) -> StreamEvent:
        """A stream event with objects for what the engine sent as data."""
        for key, read in _READERS.items():
            if key in data:
                data[key] = read(data[key])
        if isinstance(data.get("error"), dict):
            data["error"] = self.exception(data["error"])
        if "result" in data:
            data["result"] = (
                tool_result_from_dict(data["result"])
                if kind == "tool_stop"
                else self._result(kind, data["result"])
            )
        if kind == "agent_stream":
            from .assembly.agent_stream import read_agent_stream

            read_agent_stream(data, self.event)
        if kind in _TERMINAL:
            # Who sees the end can look at the run.
            self.settle()
        return StreamEvent(kind, data)

    def _result(self, kind: str, value: dict[str, Any]) -> RunResult:
        if self._assemblies is not None and kind not in _TERMINAL:
            # Of a participant.
            return self.run._make_result(value)
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
        self.give_up_bodies()
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

ASIDE = frozenset({"model", "transport", "provider", "code_mode", "sandbox"})

NEVER_INLINE = frozenset({"code_mode", "sandbox"})
"""What needs the run to go on meanwhile: programs call its tools."""


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
