"""One conversation, as applications use it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from . import _native
from .errors import Error
from .message import Message
from .snapshot import Snapshot, keep, read_snapshot
from .steps import take_steps

if TYPE_CHECKING:
    from .result import RunResult
    from .session_store import SessionStore

T = TypeVar("T")

Caller: TypeAlias = Callable[..., Any]
"""How functions of a store are called: `directly` or `in_thread`."""

Steps: TypeAlias = Generator[Any, Any, T]
"""Work that yields what a store returned, awaitable or not."""


class Session:
    """One conversation in a store: messages, working state and metadata, kept together.

        store = MemoryStore()
        session = Session("conversation-42", store, actor_id="user-7")
        session.append([Message("user", "Hello")], state={"language": "en"})

        reopened = Session("conversation-42", store, actor_id="user-7")
        reopened.history()[-1].text  # "Hello"
        reopened.state()["language"]  # "en"

    Nothing is read before the first use, and then once. What is written has neither system messages nor
    messages whose metadata says `transient` nor the model's reasoning. Under asyncio, call `load_async`
    first and use the methods that end in `_async`.

    Attributes:
        id: Identifier of the conversation.
        store: Where it is kept.
        actor_id: Who owns it, as the application authenticated it. Without one, whoever knows the id has it.
    """

    __slots__ = ("_initial", "_loaded", "_persisted", "actor_id", "id", "store")

    def __init__(
        self,
        id: str,
        store: SessionStore,
        *,
        actor_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Opens a conversation without reading it.

        Args:
            id: Identifier of the conversation.
            store: Where it is kept.
            actor_id: Who owns it.
            metadata: Metadata of a conversation that has none yet.

        Raises:
            ValueError: The id is empty.
            TypeError: The id is no str.
        """
        given: Any = id
        if not isinstance(given, str):
            raise TypeError(f"the id of a session must be a str, not {type(given).__name__}")
        if not id:
            raise ValueError("a session needs an id")
        self.id = id
        self.store = store
        self.actor_id = actor_id
        self._initial = dict(metadata or {})
        self._loaded = False
        self._persisted: Snapshot | None = None

    # -- reading ----------------------------------------------------------------------------------

    def load(self) -> Snapshot | None:
        """The stored snapshot, or None before the first write. Asks the store once.

        Raises:
            ProtocolError: What is stored is unusable.
            Exception: What the store raised.
        """
        return self._persisted if self._loaded else _finished(self._load(directly))

    async def load_async(self) -> Snapshot | None:
        """`load` for asyncio."""
        return self._persisted if self._loaded else await _finished_async(self._load(in_thread))

    def history(self, fallback: Iterable[Message] = ()) -> tuple[Message, ...]:
        """The stored messages, or `fallback` for a new conversation."""
        found = self.load()
        return tuple(fallback) if found is None else found.messages

    def state(self) -> dict[str, Any]:
        """A copy of the stored state. Change it and hand it to `checkpoint`."""
        found = self.load()
        return {} if found is None else _copy(found.state)

    def metadata(self) -> dict[str, Any]:
        """A copy of the stored metadata, or of the constructor's for a new conversation."""
        found = self.load()
        return _copy(self._initial if found is None else found.metadata)

    # -- writing ----------------------------------------------------------------------------------

    def append(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds messages after those that are stored.

        Args:
            messages: What to add.
            state: The new state; by default the stored one.
            metadata: The new metadata; by default the stored one.

        Raises:
            ProtocolError: Another writer was faster, or something cannot be kept.
            Exception: What the store raised.
        """
        _finished(self._append(directly, messages, state, metadata))

    async def append_async(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """`append` for asyncio."""
        await _finished_async(self._append(in_thread, messages, state, metadata))

    def replace(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Replaces everything that is stored. Arguments and errors as for `append`."""
        _finished(self._replace(directly, messages, state, metadata))

    async def replace_async(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """`replace` for asyncio."""
        await _finished_async(self._replace(in_thread, messages, state, metadata))

    def checkpoint(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes the conversation as it is now.

        Adds what is new when what is stored has not changed, replaces it otherwise, and writes nothing when
        all is the same. Arguments and errors as for `append`.
        """
        _finished(self._checkpoint(directly, messages, state, metadata))

    async def checkpoint_async(
        self,
        messages: Iterable[Message],
        *,
        state: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """`checkpoint` for asyncio."""
        await _finished_async(self._checkpoint(in_thread, messages, state, metadata))

    def checkpoint_result(self, result: RunResult) -> None:
        """Writes the messages and the state of a result."""
        self.checkpoint(result.messages, state=result.state)

    async def checkpoint_result_async(self, result: RunResult) -> None:
        """`checkpoint_result` for asyncio."""
        await self.checkpoint_async(result.messages, state=result.state)

    def project_conversation(
        self, messages: Iterable[Message], *, metadata: Mapping[str, Any] | None = None
    ) -> Any:
        """Shows others a view of the conversation, where the store has one.

        Args:
            messages: What to show. Nothing is removed: leave out what is not meant for others.
            metadata: Facts about the view; by default the conversation's.

        Returns:
            What the store returned; None without such a view.
        """
        return _finished(self._project(directly, messages, metadata))

    async def project_conversation_async(
        self, messages: Iterable[Message], *, metadata: Mapping[str, Any] | None = None
    ) -> Any:
        """`project_conversation` for asyncio."""
        return await _finished_async(self._project(in_thread, messages, metadata))

    def synchronize(self) -> Any:
        """Keeps others out while you work on the conversation; see `SessionStore.synchronize`.

        Returns:
            A context manager, for `with` or `async with` as the store has it; those of the library
            are for both.
        """
        return self.store.synchronize(self.id, actor_id=self.actor_id)

    # -- steps ------------------------------------------------------------------------------------

    def _load(self, call: Caller) -> Steps[Snapshot | None]:
        if not self._loaded:
            found = read_snapshot((yield call(self.store.load, self.id, actor_id=self.actor_id)))
            if not self._loaded:
                self._persisted, self._loaded = found, True
        return self._persisted

    def _next(
        self,
        call: Caller,
        messages: Iterable[Message],
        state: Mapping[str, Any] | None,
        metadata: Mapping[str, Any] | None,
    ) -> Steps[Snapshot]:
        known = yield from self._load(call)
        stored = Snapshot(metadata=self._initial) if known is None else known
        return keep(
            messages,
            stored.state if state is None else state,
            stored.metadata if metadata is None else metadata,
        )

    def _append(self, call: Caller, messages: Any, state: Any, metadata: Any) -> Steps[None]:
        addition = yield from self._next(call, messages, state, metadata)
        yield from self._write_append(call, addition, len(self._known))

    def _replace(self, call: Caller, messages: Any, state: Any, metadata: Any) -> Steps[None]:
        current = yield from self._next(call, messages, state, metadata)
        yield from self._write_replace(call, current)

    def _checkpoint(self, call: Caller, messages: Any, state: Any, metadata: Any) -> Steps[None]:
        current = yield from self._next(call, messages, state, metadata)
        stored = None if self._persisted is None else self._persisted.to_dict()
        plan = _native.plan_write(stored, current.to_dict())
        if plan is None:
            return
        if "append" in plan:
            addition = Snapshot.from_dict(plan["append"])
            yield from self._write_append(call, addition, plan["expected_count"])
        else:
            yield from self._write_replace(call, current)

    def _project(self, call: Caller, messages: Any, metadata: Any) -> Steps[Any]:
        if metadata is None:
            known = yield from self._load(call)
            metadata = self._initial if known is None else known.metadata
        return (
            yield call(
                self.store.project_conversation,
                self.id,
                messages=tuple(messages),
                metadata=_copy(metadata),
                actor_id=self.actor_id,
            )
        )

    def _write_append(self, call: Caller, addition: Snapshot, expected_count: int) -> Steps[None]:
        before = self._known
        # A store of the engine need not tell what it has now.
        append = self.store._addition
        yield call(
            append,
            self.id,
            messages=addition.messages,
            state=_copy(addition.state),
            metadata=_copy(addition.metadata),
            expected_count=expected_count,
            actor_id=self.actor_id,
        )
        self._remember(Snapshot((*before, *addition.messages), addition.state, addition.metadata))

    def _write_replace(self, call: Caller, snapshot: Snapshot) -> Steps[None]:
        yield call(
            self.store.replace,
            self.id,
            messages=snapshot.messages,
            state=_copy(snapshot.state),
            metadata=_copy(snapshot.metadata),
            actor_id=self.actor_id,
        )
        self._remember(snapshot)

    @property
    def _known(self) -> tuple[Message, ...]:
        return () if self._persisted is None else self._persisted.messages

    def _remember(self, snapshot: Snapshot) -> None:
        self._persisted, self._loaded = snapshot, True

    def _forget(self) -> None:
        self._loaded = False

    def __repr__(self) -> str:
        """Names the conversation without its content."""
        return f"<Session {self.id!r}>"


def directly(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Calls a function of a store right here."""
    return function(*arguments, **keywords)


def in_thread(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Calls a coroutine function right here, and a plain one in a thread, so that the loop goes on."""
    if inspect.iscoroutinefunction(function):
        return function(*arguments, **keywords)
    return _aside(function, arguments, keywords)


async def _aside(function: Callable[..., Any], arguments: Any, keywords: Any) -> Any:
    import asyncio

    value = await asyncio.to_thread(function, *arguments, **keywords)
    return await value if inspect.isawaitable(value) else value


def _copy(value: Mapping[str, Any]) -> dict[str, Any]:
    from copy import deepcopy

    return deepcopy(dict(value))


def _finished(steps: Steps[T]) -> T:
    import asyncio

    # The public function would raise without a loop, and a store's exceptions would tell of it.
    if asyncio._get_running_loop() is None:
        value = take_steps(steps)
        return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value
    plain: Any = take_steps(_plainly(steps))
    return plain  # type: ignore[no-any-return]


def _plainly(steps: Steps[T]) -> Steps[T]:
    """As `steps`, which must not come to anything that a running event loop has to wait for."""
    value = None
    while True:
        try:
            value = steps.send(value)
        except StopIteration as done:
            result: T = done.value
            return result
        if inspect.isawaitable(value):
            getattr(value, "close", lambda: None)()
            raise Error(
                "this session's store is asynchronous; in an event loop, await load_async and the "
                "other methods that end in _async"
            )
        value = yield value


async def _finished_async(steps: Steps[T]) -> T:
    value = take_steps(steps)
    return await value if inspect.isawaitable(value) else value


async def _awaited(value: Any) -> Any:
    return await value
