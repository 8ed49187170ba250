"""Where the store of a session keeps what its subagents said, for whoever looks at that or erases it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from . import _native

if TYPE_CHECKING:
    from .session import Session


def registry_session_id(session: Session) -> str:
    """The session that says which conversations belong to a session."""
    return _native.registry_session_id(session.id, session.actor_id)


def conversation_session_id(conversation_id: str) -> str:
    """The session that holds the transcript of a conversation."""
    return _native.conversation_session_id(conversation_id)


def commit_session_id(conversation_id: str, slot: Literal[0, 1]) -> str:
    """The session that holds a committed state of a conversation; they take turns.

    Raises:
        ValueError: There is no such slot.
    """
    if slot not in (0, 1):
        raise ValueError(f"slot must be 0 or 1, not {slot!r}")
    return _native.commit_session_id(conversation_id, slot)


def parent_link(session: Session) -> str:
    """The pseudonym of a session in the metadata of what its subagents keep."""
    return _native.parent_link(session.id, session.actor_id)
