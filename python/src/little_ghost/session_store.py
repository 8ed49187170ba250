"""Where conversations are kept."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any

from ._native import SessionStore as NativeStore
from .errors import AbstractMethodError, ProtocolError
from .message import Message
from .snapshot import Snapshot
from .store_call import SessionLock, wait_call


class SessionStore:
    """A place for conversations.

    Subclass it for a database or a service of your own:

        class DatabaseStore(SessionStore):
            async def load(self, id, *, actor_id=None):
                return await rows.find(id, actor_id)  # a Snapshot, a dict of its fields, or None

            async def append(self, id, *, messages, state, metadata, expected_count, actor_id=None):
                ...

            async def replace(self, id, *, messages, state, metadata, actor_id=None):
                ...

        little_ghost.configure(session_store=DatabaseStore())

    `load`, `append`, `replace` and `project_conversation` may be plain functions or coroutine functions. Under
    asyncio, plain ones run in threads; in a synchronous run, coroutine functions run in an event loop of their
    own. What comes here is already stripped of system messages, transient messages and reasoning.
    """

    def load(
        self, id: str, *, actor_id: str | None = None
    ) -> Snapshot | Mapping[str, Any] | Awaitable[Snapshot | Mapping[str, Any] | None] | None:
        """Finds a conversation.

        Args:
            id: Identifier of the conversation.
            actor_id: Who asks. It must be refused when it is not the owner.

        Returns:
            The snapshot, or None before the first write.
        """
        raise AbstractMethodError(f"{type(self).__name__} must implement load")

    def append(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        expected_count: int,
        actor_id: str | None = None,
    ) -> Any:
        """Adds messages and takes state and metadata, all at once. Makes a new conversation if there is none.

        Args:
            id: Identifier of the conversation.
            messages: What comes after those that are stored.
            state: Working state, JSON-like.
            metadata: Metadata, JSON-like.
            expected_count: How many messages must be stored. Raise `ProtocolError` when there are
                others: another writer was faster.
            actor_id: Who writes; the first writer owns the conversation.
        """
        raise AbstractMethodError(f"{type(self).__name__} must implement append")

    def replace(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        actor_id: str | None = None,
    ) -> Any:
        """Replaces everything that is stored, all at once. Arguments as for `append`."""
        raise AbstractMethodError(f"{type(self).__name__} must implement replace")

    def project_conversation(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        metadata: Mapping[str, Any],
        actor_id: str | None = None,
    ) -> Any:
        """Shows others a view of the conversation; the stored one stays. Does nothing by default.

        Nothing is removed from `messages` on the way here.
        """
        return None

    def synchronize(
        self, id: str, *, actor_id: str | None = None
    ) -> AbstractContextManager[Any] | AbstractAsyncContextManager[Any]:
        """Keeps others out while a run works on a conversation.

        By default within this store in this process. Override it to lock across processes. Under
        asyncio, a context manager without `__aenter__` is entered and left in threads, which may differ.

        Returns:
            A context manager, for `with` or `async with` or, as by default, both. Not re-entrant.
        """
        locks: NativeStore | None = self.__dict__.get("_locks")
        if locks is None:
            # One wins, whoever comes first.
            locks = self.__dict__.setdefault("_locks", NativeStore.memory())
        return SessionLock(lambda: locks.synchronize(id, actor_id))

    @property
    def _engine(self) -> NativeStore | None:
        """The engine's store behind this one, when it does all the work itself."""
        return None

    @property
    def _addition(self) -> Callable[..., Any]:
        """`append` for a `Session`, which knows what is stored then."""
        return self.append


class _EngineStore(SessionStore):
    """A store of the engine. A subclass that changes an operation is used through its methods."""

    _native: NativeStore

    def load(self, id: str, *, actor_id: str | None = None) -> Snapshot | None:
        """The snapshot, or None before the first write. Waits without the GIL.

        Raises:
            Error: The conversation belongs to another actor.
            ProtocolError: What is stored is not what was written.
        """
        found = wait_call(self._native.load(id, actor_id))
        return None if found is None else Snapshot.from_dict(found)

    def append(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        expected_count: int,
        actor_id: str | None = None,
    ) -> Snapshot:
        """Adds messages; see `SessionStore.append`. Waits without the GIL.

        Returns:
            The new snapshot.

        Raises:
            Error: The conversation belongs to another actor.
            ProtocolError: Other messages are stored than expected, or something cannot be written. Nothing is
                changed then.
        """
        self._add(
            id,
            messages=messages,
            state=state,
            metadata=metadata,
            expected_count=expected_count,
            actor_id=actor_id,
        )
        return self.load(id, actor_id=actor_id) or Snapshot()

    def replace(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        actor_id: str | None = None,
    ) -> Snapshot:
        """Replaces everything that is stored. Returns and raises as `append`."""
        value = _plain(messages, state, metadata)
        _write(lambda: self._native.replace(id, actor_id, value))
        return self.load(id, actor_id=actor_id) or Snapshot()

    def _add(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        expected_count: int,
        actor_id: str | None,
    ) -> None:
        value = _plain(messages, state, metadata)
        _write(lambda: self._native.append(id, actor_id, value, expected_count))

    def synchronize(self, id: str, *, actor_id: str | None = None) -> SessionLock:
        """Keeps others out, for `with` and `async with`. Not re-entrant."""
        return SessionLock(lambda: self._native.synchronize(id, actor_id))

    @property
    def _addition(self) -> Callable[..., Any]:
        return self.append if self._engine is None else self._add

    @property
    def _engine(self) -> NativeStore | None:
        return self._native if type(self) in (MemoryStore, FilesystemStore) else None

    def __repr__(self) -> str:
        """Names the class only: what is stored is private."""
        return f"<{type(self).__name__}>"


class MemoryStore(_EngineStore):
    """Keeps conversations for the life of the process. The default of every runtime.

    The actor that first loads or writes a conversation owns it; any other, and none, gets an
    `Error`. Conversations under an id of yours stay until the process ends. Of those whose id was generated for
    one run, the 1,000 that were used last stay.
    """

    def __init__(self) -> None:
        """Starts without conversations."""
        self._native = NativeStore.memory()


class FilesystemStore(_EngineStore):
    """Keeps conversations in a directory, across restarts, for all processes that share it.

    The directory holds readable data: its whole path must belong to the application. It is made with
    mode 0700, files with 0600, and anything else in their place is refused. Names say nothing about
    ids. The actor of the first write owns a conversation.

    Each write is a new file that takes the place of the old one, on the disk before the call returns.
    Runs of one conversation wait for each other, in this process and in others, as long as it takes;
    other threads and tasks go on. The file system needs `flock` and atomic rename.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Opens the directory and makes it when it is missing.

        Args:
            root: The directory.

        Raises:
            ValueError: It is empty, a symbolic link, no directory, or open to others.
            TypeError: It is no path.
        """
        self._native = NativeStore.filesystem(os.fspath(root))


def _plain(
    messages: Sequence[Message], state: Mapping[str, Any], metadata: Mapping[str, Any]
) -> dict[str, Any]:
    return Snapshot(tuple(messages), state, metadata).to_dict()


def _write(begin: Any) -> None:
    try:
        call = begin()
    except (TypeError, ValueError) as problem:
        raise ProtocolError(f"the session holds a value that cannot be kept: {problem}") from None
    wait_call(call)
