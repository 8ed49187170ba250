"""Session stores as applications write them; they note their calls."""

from __future__ import annotations

from typing import Any

from little_ghost import ProtocolError, SessionStore


class RecordingStore(SessionStore):
    """Plain functions; no constructor of the base class is called."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.snapshots: dict[tuple[str | None, str], Any] = {}

    def load(self, id: str, *, actor_id: str | None = None) -> Any:
        self.calls.append(("load", id, actor_id))
        return self.snapshots.get((actor_id, id))

    def append(
        self,
        id: str,
        *,
        messages: Any,
        state: Any,
        metadata: Any,
        expected_count: int,
        actor_id: str | None = None,
    ) -> Any:
        texts = [message.text for message in messages]
        self.calls.append(("append", texts, state, metadata, expected_count))
        before = self.snapshots.get((actor_id, id), {}).get("messages", ())
        if len(before) != expected_count:
            raise ProtocolError("changed")
        self._put(actor_id, id, (*before, *messages), state, metadata)

    def replace(
        self, id: str, *, messages: Any, state: Any, metadata: Any, actor_id: str | None = None
    ) -> Any:
        self.calls.append(("replace", [message.text for message in messages], state, metadata))
        self._put(actor_id, id, tuple(messages), state, metadata)

    def project_conversation(
        self, id: str, *, messages: Any, metadata: Any, actor_id: str | None = None
    ) -> Any:
        self.calls.append(("project", [message.text for message in messages], metadata))

    def _put(self, actor_id: str | None, id: str, messages: Any, state: Any, metadata: Any) -> None:
        self.snapshots[actor_id, id] = {
            "messages": messages,
            "state": state,
            "metadata": metadata,
        }


class AsyncRecordingStore(RecordingStore):
    """Coroutine functions."""

    async def load(self, id: str, *, actor_id: str | None = None) -> Any:
        return super().load(id, actor_id=actor_id)

    async def append(self, id: str, **options: Any) -> Any:
        return super().append(id, **options)

    async def replace(self, id: str, **options: Any) -> Any:
        return super().replace(id, **options)

    async def project_conversation(self, id: str, **options: Any) -> Any:
        return super().project_conversation(id, **options)
