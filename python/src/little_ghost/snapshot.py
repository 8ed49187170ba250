"""What a session store keeps of one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _native
from .errors import ProtocolError
from .jsonable import to_jsonable
from .message import Message


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Messages, working state and metadata of one conversation.

    Attributes:
        messages: The conversation, oldest message first.
        state: Working state of the application; JSON-like.
        metadata: Facts about the conversation itself; JSON-like.
    """

    messages: tuple[Message, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """`messages`, `state` and `metadata` as JSON-like data."""
        return {
            "messages": [message.to_dict() for message in self.messages],
            "state": to_jsonable(self.state),
            "metadata": to_jsonable(self.metadata),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Snapshot:
        """Reads what `to_dict` wrote; what is absent is empty.

        Raises:
            ProtocolError: It is no snapshot.
        """
        try:
            messages = tuple(_message(entry) for entry in value.get("messages") or ())
            state, metadata = dict(value.get("state") or {}), dict(value.get("metadata") or {})
        except (AttributeError, TypeError, ValueError) as problem:
            raise ProtocolError(f"the session's snapshot is unusable: {problem}") from None
        return cls(messages, state, metadata)


def _message(entry: Any) -> Message:
    return entry if isinstance(entry, Message) else Message.from_dict(entry)


def keep(
    messages: Iterable[Message | Mapping[str, Any]],
    state: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Snapshot:
    """The snapshot with only those messages that may be kept, and plain data.

    Raises:
        ProtocolError: Something cannot be kept.
    """
    try:
        plan = _native.plan_write(
            None,
            {
                "messages": [_message(entry).to_dict() for entry in messages],
                "state": to_jsonable(state),
                "metadata": to_jsonable(metadata),
            },
        )
    except (TypeError, ValueError) as problem:
        raise ProtocolError(f"the session holds a value that cannot be kept: {problem}") from None
    return Snapshot.from_dict({} if plan is None else plan["append"])


def read_snapshot(found: Any) -> Snapshot | None:
    """What a store returned, as a snapshot with only what may be kept.

    Raises:
        ProtocolError: It is neither a `Snapshot` nor a mapping nor None.
    """
    if found is None:
        return None
    if not isinstance(found, Snapshot):
        if not isinstance(found, Mapping):
            raise ProtocolError(
                f"load of a session store must give a Snapshot or None, not {type(found).__name__}"
            )
        found = Snapshot.from_dict(found)
    return keep(found.messages, found.state, found.metadata)
