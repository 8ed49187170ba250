"""One execution from start to finish."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

from .errors import AgentInterjectionError, CancelledError, ConfigurationError, Error
from .nesting import waiting_runs
from .premises import Premises
from .pump import Pump
from .session import Session
from .usage import Tally, Usage

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _native
    from ._native import CancellationToken
    from .assembly.base import Assembly
    from .context import RunContext
    from .interjection import InterjectionAnswer, InterjectionOptions
    from .invocation import Invocation, MessageLike
    from .result import RunResult
    from .result_schema import ResultSchema
    from .runtime import Runtime
    from .sandbox.sandbox import Sandbox
    from .sandbox.scope import Scope
    from .stream import AsyncRunStream, RunStream
    from .workspace import Workspace

T = TypeVar("T")

Report: TypeAlias = tuple[
    str | None,
    str,
    dict[str, Any],
    str | None,
    dict[str, Any] | None,
    dict[str, Any] | None,
    "_native.Outcome | None",
]
"""What the engine knows of a run: outcome, response, usage, cost, error, what to raise, result."""

Outcome: TypeAlias = Literal["completed", "failed", "partial", "cancelled"]


class Run:
    """What happened, or is happening, with one request.

    `ask` returns it when the work is done; a stream has it as `stream.run`. An ordinary failure of a
    model or a provider does not raise: it makes a failed run with an `error`.

    Attributes:
        agent: The agent that answers, or another assembly.
        invocation: The request.
        runtime: The connections and models in use.
        state: Working state of the run, which tools may change.
        outcome: `"completed"`, `"failed"`, `"partial"` (the deadline came), `"cancelled"`, or None
            while the run goes on.
        response: The final text, or the text so far at a deadline; empty otherwise.
        result: The complete result, when there is one.
        usage: Tokens used.
        cost: What they cost in US dollars, exactly by the prices that the catalog or the role states;
            failed attempts cost too. None when a price that is needed is not known, or a provider did
            not say what it used. Discounts, audio and tools of the provider are in no catalog's price.
        error: The exception that ended the run, or None.
    """

    _kind: ClassVar[str] = "run"
    """What the engine executes."""

    __slots__ = (
        "__weakref__",
        "_closers",
        "_done",
        "_lock",
        "_native",
        "_numbers",
        "_premises",
        "_result",
        "_scopes",
        "_session",
        "_source",
        "_stateful",
        "_tally",
        "agent",
        "cost",
        "error",
        "invocation",
        "outcome",
        "response",
        "runtime",
        "state",
        "usage",
    )

    def __init__(
        self, agent: Assembly, invocation: Invocation, runtime: Runtime, native: _native.Run
    ) -> None:
        """Made by an agent."""
        self.agent = agent
        self.invocation = invocation
        self.runtime = runtime
        self.state: dict[str, Any] = dict(invocation.context)
        self.outcome: Outcome | None = None
        self.response = ""
        self.usage = Usage()
        self.cost: Decimal | None = Decimal()
        self.error: BaseException | None = None
        self._native = native
        self._closers: dict[int, Callable[[], Any]] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()
        self._tally = Tally()
        self._done: set[Hashable] = set()
        self._session: Session | None = None
        self._result: RunResult | None = None
        # State and declared result of each participant of an assembly.
        self._scopes: dict[int, tuple[dict[str, Any], ResultSchema | None]] = {}
        self._stateful = False
        self._source: _native.Outcome | None = None
        self._premises = Premises(
            self,
            _declared_for(agent, runtime, "workspace"),
            _declared_for(agent, runtime, "sandbox"),
            self.register,
        )

    @property
    def result(self) -> RunResult | None:
        """The complete result, when there is one."""
        if self._result is None and self._source is not None:
            return self._read_result(self._source.to_dict())
        return self._result

    @property
    def completed(self) -> bool:
        """Whether the run came to its answer."""
        return self.outcome == "completed"

    @property
    def failed(self) -> bool:
        """Whether an error ended the run."""
        return self.outcome == "failed"

    @property
    def partial(self) -> bool:
        """Whether the deadline ended the run; `response` has the text so far."""
        return self.outcome == "partial"

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled, or its consumer left."""
        return self.outcome == "cancelled"

    @property
    def session(self) -> Session:
        """The conversation that this run continues, in the runtime's store."""
        session = self._session
        if session is None:
            invocation, runtime = self.invocation, self.runtime
            choose = runtime.settings.session_actor
            actor_id = invocation.actor_id if choose is None else choose(invocation)
            if actor_id is not None and not isinstance(actor_id, str):
                raise ConfigurationError(
                    f"session_actor must give a str or None, not {type(actor_id).__name__}"
                )
            session = Session(invocation.session_id, runtime.session_store, actor_id=actor_id)
            self._session = session
        return session

    @property
    def workspace(self) -> Workspace | None:
        """The workspace of this run: the one that was given or declared, else the application's root.

        None before a declared one is open, and after a run that needed none.
        """
        return self._premises.workspace

    @property
    def sandbox(self) -> Sandbox | Scope | None:
        """The sandbox of this run: the one that was given or declared, else one that isolates nothing.

        That one has the authority of this process for programs, and may read the workspace. None before a declared
        one is open, and after a run that needed none.
        """
        return self._premises.sandbox

    @property
    def cancellation_token(self) -> CancellationToken:
        """Cancelled when the run is; cancelling it cancels the run."""
        return self._native.token

    @property
    def operation_id(self) -> str:
        """Unique identifier of this execution."""
        return self._native.operation_id

    def cancel(self) -> None:
        """Asks the run to stop, from any thread. It ends soon, with the outcome `cancelled`."""
        self._native.cancel()

    def raise_for_outcome(self) -> Run:
        """Returns the run if it completed, and raises what ended it otherwise.

        Returns:
            The run itself, so that `agent.ask(...).raise_for_outcome().response` reads well.

        Raises:
            BaseException: `error`, the very exception.
            Error: The run is not over.
        """
        if self.completed:
            return self
        if self.error is not None:
            raise self.error
        if self.outcome == "cancelled":
            raise CancelledError("the run was cancelled")
        raise Error("the run is not over; wait for it, or read its stream to the end")

    def register(self, resource: T, closer: Callable[[T], Any] | None = None) -> T:
        """Has a resource closed when the run ends, whatever its outcome; the last one first.

        Args:
            resource: Anything; it is closed by its `close` or `aclose` method.
            closer: Closes the resource instead; it may be a coroutine function.

        Returns:
            The resource.

        Raises:
            TypeError: There is no way to close it.
            Error: The run is closed already.
        """
        close: Callable[[], Any] | None
        if closer is not None:
            use = closer

            def close() -> Any:
                return use(resource)
        else:
            close = getattr(resource, "close", None) or getattr(resource, "aclose", None)
            if not callable(close):
                raise TypeError(
                    f"{type(resource).__name__} has no close method; "
                    "give register a function that closes it"
                )
        number = next(self._numbers)
        self._closers[number] = close
        try:
            self._native.register(number)
        except BaseException:
            del self._closers[number]
            raise
        return resource

    def once(self, key: Hashable, work: Callable[[], T]) -> T | None:
        """Does `work` at most once for `key` during this run, even if tools overlap.

        Args:
            key: What must not happen twice.
            work: A plain function. Callers with any key wait for each other.

        Returns:
            What `work` returned, to the caller that did it; None to all later ones. After an
            exception the key is free again.
        """
        with self._lock:
            if key in self._done:
                return None
            value = work()
            self._done.add(key)
            return value

    def call(self) -> Run:
        """Executes a run that has not begun, and waits for its end.

        Returns:
            The run itself.

        Raises:
            Error: The run was executed before.
            CleanupError: A resource of the run failed to close.
        """
        Pump(self).drive()
        return self

    async def call_async(self) -> Run:
        """`call` for asyncio. Cancelling the task cancels the run."""
        from .async_pump import AsyncPump

        await AsyncPump(self).drive()
        return self

    def stream(self) -> RunStream:
        """The events of a run that has not begun; it begins with the first of them."""
        from .stream import RunStream

        return RunStream(self)

    def stream_async(self) -> AsyncRunStream:
        """`stream` for asyncio."""
        from .stream import AsyncRunStream

        return AsyncRunStream(self)

    def context(
        self,
        *,
        state: dict[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RunContext:
        """A context of this run with a state of its own, for work that you start yourself.

        Args:
            state: Its working state; empty by default.
            metadata: Its metadata; the invocation's by default.

        Returns:
            A context with the deadline and a child of the token of this run.
        """
        from .context import RunContext

        return RunContext(
            state=state,
            cancellation_token=self._native.work_token.child(),
            deadline_at=self.invocation.deadline_at,
            metadata=self.invocation.metadata if metadata is None else metadata,
            run=self,
        )

    def interject(
        self, message: MessageLike, **options: Unpack[InterjectionOptions]
    ) -> InterjectionAnswer:
        """Says something to the running agent from another thread, and waits for its immediate answer.

        Args:
            message: What to say: text, images and documents.
            **options: See `InterjectionOptions`.

        Returns:
            What the agent said to it; its work may go on after that.

        Raises:
            AgentInterjectionError: No agent is there to listen, or it ended before it could answer.
            ValueError: The message cannot be one, or its id was used for another.
            CancelledError, DeadlineExceededError: Nobody waits for the answer any more.
        """
        from .interjection import send, wait

        self._refuse_from_inside()
        return wait(*send(self._native, message, options))

    async def interject_async(
        self, message: MessageLike, **options: Unpack[InterjectionOptions]
    ) -> InterjectionAnswer:
        """`interject` for asyncio. A cancelled task takes back what is not said yet."""
        from .interjection import send, wait_async

        self._refuse_from_inside()
        return await wait_async(*send(self._native, message, options))

    def close(self) -> None:
        """Closes the resources of a run that was never started; otherwise does nothing.

        Raises:
            CleanupError: A resource failed to close.
        """
        if self._native.close():
            Pump(self).finish_dormant()

    @property
    def _stateless(self) -> bool:
        """Whether the state is empty, and always was: the engine need not ask for it."""
        self._note_state()
        return not self._stateful

    def _note_state(self) -> None:
        self._stateful = self._stateful or bool(self.state)

    def _refuse_from_inside(self) -> None:
        if self in waiting_runs():
            raise AgentInterjectionError(
                "the agent waits for this code and cannot answer it; interject from another thread "
                "or task"
            )

    def _open_session(self) -> None:
        session = self.session
        for other in waiting_runs():
            if other is not self and _same_session(other._session, session):
                raise Error(
                    f"the session {session.id!r} is in use by the run that this one is asked from, "
                    "which waits for it; use another session_id"
                )
        self._native.use_session(session.id, session.actor_id, {}, session.store._engine)

    def _leave_session(self) -> None:
        # The engine has written to it.
        if self._session is not None and self._session.store._engine is not None:
            self._session._forget()

    def _keep_result(self, source: _native.Outcome | None) -> None:
        # Long conversations are converted only for who looks at them.
        self._source = source
        if source is None:
            self._result = None

    def _read_result(self, value: dict[str, Any]) -> RunResult:
        self._result = self._make_result(value)
        return self._result

    def _make_result(self, value: dict[str, Any]) -> RunResult:
        from .result import RunResult

        state, schema = self._of_scope(value.get("scope", 0))
        return RunResult.from_dict(value, state, schema)

    def _copied_result(self, value: dict[str, Any]) -> RunResult:
        """A result whose state can be changed without anybody noticing."""
        from dataclasses import replace

        from .jsonable import to_jsonable

        result = self._make_result(value)
        return replace(result, state=to_jsonable(result.state))

    def _output_of(self, scope: int, output: Any) -> Any:
        """What a participant declares as its result, else its text."""
        _, schema = self._of_scope(scope)
        return output if schema is None or not isinstance(output, dict) else schema.read(output)

    def _of_scope(self, scope: int) -> tuple[dict[str, Any], ResultSchema | None]:
        from .result_schema import declared_result

        return self._scopes.get(scope) or (self.state, declared_result(self.agent))

    def _usage_so_far(self) -> Usage:
        return self.usage if self.outcome is not None else Usage.from_dict(self._native.report()[2])

    def _settle(self, report: Report, error: BaseException | None) -> None:
        outcome, response, usage, cost, _, _, _ = report
        self.response = response
        self.usage = Usage.from_dict(usage)
        self.cost = None if cost is None else Decimal(cost)
        self.error = error
        self.outcome = outcome  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Says how far the run is."""
        return f"<Run {self.invocation.run_id} {self.outcome or 'open'}>"


def _same_session(one: Session | None, other: Session) -> bool:
    return one is not None and (one.id, one.actor_id, one.store) == (
        other.id,
        other.actor_id,
        other.store,
    )


def _declared_for(agent: Assembly, runtime: Runtime, name: str) -> Any:
    """What the agent says, else what the application does."""
    own = getattr(agent, name, None) if agent.assembly_kind == "agent" else None
    return getattr(runtime.settings, name) if own is None else own
