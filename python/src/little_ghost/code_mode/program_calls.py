"""What the engine asks of a code-mode engine that is the application's."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..premises import close_here
from ..sandbox.sandbox_calls import SandboxCalls
from ..workspace import Workspace
from .engines import resolve_engine
from .program_result import ProgramResult
from .run_broker import RunBroker
from .sandbox_factory import SandboxFactory
from .session import Session

if TYPE_CHECKING:
    from ..context import RunContext
    from ..part import Part
    from ..sandbox.sandbox import Sandbox
    from .code_mode import CodeMode
    from .engine import Engine


class ProgramCalls:
    """Engine and sessions of one agent at work, and sandboxes that the application makes for its programs.

    Attributes:
        sandboxes: Those sandboxes.
    """

    __slots__ = ("_engine", "_mode", "_numbers", "_part", "_sessions", "sandboxes")

    def __init__(self, part: Part, mode: CodeMode) -> None:
        self._part = part
        self._mode = mode
        self._engine: Engine = resolve_engine(mode.engine or "python")
        self._numbers = itertools.count(1)
        self._sessions: dict[int, Session] = {}
        self.sandboxes = SandboxCalls()

    def call(self, payload: dict[str, Any], context: RunContext) -> ProgramCall:
        """The work behind a call."""
        operation = payload["op"]
        if operation == "sandbox":
            return ProgramCall(self._make_sandbox, (payload,), {}, self.sandboxes.describe)
        engine = self._engine
        if operation == "instructions":
            return ProgramCall(engine.instructions, (payload["catalog"],), {}, str)
        if operation == "open":
            broker = RunBroker(self._part.native, payload["broker"], payload["catalog"])
            given = (broker, SandboxFactory(self._mode.sandbox), dict(self._mode.limits or {}))
            return ProgramCall(engine.open_session, given, {}, self._keep)
        session = self._sessions[payload["session"]]
        options = {"max_output_tokens": payload["max_output_tokens"], "context": context}
        if operation != "execute":
            return ProgramCall(getattr(session, operation), (), options, _told)
        options.update(catalog=payload["catalog"], frame=payload["frame"])
        return ProgramCall(session.execute, (payload["source"],), options, _told)

    def use_sandbox(self, payload: dict[str, Any], context: RunContext) -> ProgramCall:
        """The work behind a call for a sandbox of the application."""
        return ProgramCall(self.sandboxes.answer, (payload, context), {}, lambda answer: answer)

    def _make_sandbox(self, payload: dict[str, Any]) -> Sandbox:
        workspace = Workspace._adopt(payload["workspace"])
        factory = SandboxFactory(self._mode.sandbox)
        made = factory.make(workspace, payload["runtime_paths"])
        if not made._runs_in_engine:
            # The engine opens and closes its own.
            self._part.register(made, close_here)
            made.open(self._part.run)
        return made

    def close(self, number: int) -> Any:
        """Closes a session; may return an awaitable."""
        session = self._sessions.pop(number, None)
        return None if session is None else session.close()

    def _keep(self, session: Any) -> dict[str, Any]:
        if not isinstance(session, Session):
            raise ConfigurationError(
                f"{type(self._engine).__name__}.open_session must give a Session, "
                f"not {type(session).__name__}"
            )
        number = next(self._numbers)
        self._sessions[number] = session
        return {"session": number}


class ProgramCall:
    """One call, ready to run beside the run."""

    __slots__ = ("_arguments", "_method", "_options", "_read", "is_async")

    def __init__(
        self,
        method: Callable[..., Any],
        arguments: tuple[Any, ...],
        options: dict[str, Any],
        read: Callable[[Any], Any],
    ) -> None:
        self._method = method
        self._arguments = arguments
        self._options = options
        self._read = read
        self.is_async = inspect.iscoroutinefunction(method)

    def run(self) -> Any:
        """Works in this thread."""
        return self._read(self._method(*self._arguments, **self._options))

    async def run_async(self) -> Any:
        """Works in this task."""
        return self._read(await self._method(*self._arguments, **self._options))


def _told(result: Any) -> dict[str, Any]:
    if not isinstance(result, ProgramResult):
        raise ConfigurationError(
            f"a session must give a ProgramResult, not {type(result).__name__}"
        )
    return result.to_dict()
