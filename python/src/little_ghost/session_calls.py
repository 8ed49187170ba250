"""What the engine asks of a run's session: its state, its history, and a store written in Python."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import Error
from .jsonable import is_jsonable
from .message import Message
from .session import Caller, Session, in_thread
from .snapshot import Snapshot
from .store_loop import StoreLoop

if TYPE_CHECKING:
    from .run import Run

Steps = Generator[Any, Any, Any]


class SessionCalls:
    """Answers those calls for one run.

    Attributes:
        leave: Leaves the lock of the store that the run is in; None outside.
    """

    __slots__ = ("_asynchronous", "_call", "_loop", "_others", "_run", "leave")

    def __init__(self, run: Run, *, asynchronous: bool) -> None:
        self._run = run
        self._asynchronous = asynchronous
        self._others: dict[str, Session] = {}
        self._loop = StoreLoop()
        self._call: Caller = in_thread if asynchronous else self._loop.call
        self.leave: Callable[[], Any] | None = None

    def answer(self, kind: str, payload: dict[str, Any]) -> Steps:
        """The steps to the answer of a call; each yields what may be awaitable."""
        if kind == "session":
            return (yield from self._operate(payload))
        return self._state(payload if kind == "state_restored" else None)

    def close(self) -> Steps:
        """Leaves the store's lock, if the run is still in it, for the last time."""
        try:
            yield from self._leave()
        finally:
            self._loop.close()

    def _leave(self) -> Steps:
        leave, self.leave = self.leave, None
        if leave is not None:
            yield leave()

    def _state(self, restored: dict[str, Any] | None) -> dict[str, Any]:
        state = self._run.state
        if restored is not None:
            # In place: tools and contexts may hold it already.
            merged = {**restored["state"], **self._run.invocation.context}
            state.clear()
            state.update(merged)
        return storable_state(self._run)

    def history(self, payload: dict[str, Any]) -> Steps:
        """The history that a hook chooses, or None."""
        stored, fallback = (_messages(payload[key]) for key in ("stored", "fallback"))
        for hook in self._run.runtime.hooks:
            chosen = yield hook.session_history(self._run, stored=stored, fallback=fallback)
            if chosen is not None:
                return [message.to_dict() for message in chosen]
        return None

    def _operate(self, payload: dict[str, Any]) -> Steps:
        session, operation = self._session(payload), payload["op"]
        if operation == "synchronize":
            yield from self._enter()
        elif operation == "release":
            yield from self._leave()
        elif operation == "load":
            found = yield from session._load(self._call)
            return None if found is None else found.to_dict()
        elif operation == "append":
            addition, count = Snapshot.from_dict(payload), payload["expected_count"]
            yield from session._write_append(self._call, addition, count)
        elif operation == "replace":
            yield from session._write_replace(self._call, Snapshot.from_dict(payload))
        else:
            raise Error(f"the engine asked for the session operation {operation!r}")
        return None

    def _session(self, payload: dict[str, Any]) -> Session:
        """The run's own session, or one that the engine keeps beside it."""
        own = self._run.session
        name = payload.get("id", own.id)
        if name == own.id:
            return own
        if name not in self._others:
            self._others[name] = Session(name, own.store, actor_id=own.actor_id)
        return self._others[name]

    def _enter(self) -> Steps:
        manager: Any = self._run.session.synchronize()
        if hasattr(manager, "__aenter__") and (
            self._asynchronous or not hasattr(manager, "__enter__")
        ):
            yield self._call(manager.__aenter__)
            self.leave = lambda: self._call(manager.__aexit__, None, None, None)
        elif hasattr(manager, "__enter__"):
            yield self._call(manager.__enter__)
            self.leave = lambda: self._call(manager.__exit__, None, None, None)
        else:
            store = type(self._run.session.store).__name__
            raise Error(f"synchronize of {store} must give a context manager")


def storable_state(run: Run) -> dict[str, Any]:
    """The run's state without what lives for this request only.

    The request's context may hold any object, such as a client of the application, which no later run could
    get. What tools put into the state has to be plain data.
    """
    run._note_state()
    context = run.invocation.context
    return {
        key: value
        for key, value in run.state.items()
        if context.get(key, run) is not value or is_jsonable(value)
    }


def _messages(values: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(Message.from_dict(value) for value in values)
