"""One request: what is asked, and what the application knows about it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ._native import CancellationToken
from .content import Content
from .message import Message

if TYPE_CHECKING:
    import datetime

MessageLike: TypeAlias = str | Message | Content | Mapping[str, Any] | Sequence[Content | str]
"""A message: text, content blocks, a `Message`, or a serialised one with a `role`."""


class RunOptions(TypedDict, total=False):
    """Options of `ask`, `stream`, `ask_async`, `stream_async` and `start_execution`.

    Attributes:
        history: Messages that precede this one.
        context: Values of the request that your application vouches for, such as an account id. They
            are not shown to the model; tools find them in `context.state` and `run.invocation.context`.
        settings: Model settings such as `temperature`; they win over all others.
        metadata: JSON-like data that travels with the run.
        session_id: Identifier of the conversation; generated when absent.
        actor_id: Who asks, as your application authenticated it.
        run_id: Identifier of the run; generated when absent.
        deadline_at: When the run must end: an aware `datetime`, a naive one in local time, or
            Unix seconds. A run that reaches it is `partial`.
        timeout: The same as seconds from now. With both, the earlier one counts.
        cancellation_token: Cancels the run when it is cancelled.
    """

    history: Sequence[Message | Mapping[str, Any]] | None
    context: Mapping[str, Any] | None
    settings: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    session_id: str | None
    actor_id: str | None
    run_id: str | None
    deadline_at: datetime.datetime | float | None
    timeout: float | None
    cancellation_token: CancellationToken | None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The request that a run answers.

    Attributes:
        message: What is asked.
        history: Messages that precede it.
        context: Values of the request that the application vouches for.
        settings: Model settings of this request.
        metadata: Data that travels with the run.
        actor_id: Who asks, if the application said so.
        run_id: Identifier of the run.
        invocation_id: Identifier of the invocation; the run's unless given.
        session_id: Identifier of the conversation; the run's unless given.
        deadline_at: When the run must end, in Unix seconds, or None.
    """

    message: Message
    history: tuple[Message, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    actor_id: str | None = None
    run_id: str = ""
    invocation_id: str = ""
    session_id: str = ""
    deadline_at: float | None = None

    def identified(self, run_id: str, invocation_id: str, session_id: str) -> Invocation:
        """The same with the identifiers that the engine generated."""
        return replace(self, run_id=run_id, invocation_id=invocation_id, session_id=session_id)

    def payload(self) -> dict[str, Any]:
        """What the engine needs of it."""
        return {
            "message": self.message.to_dict(),
            "history": [message.to_dict() for message in self.history],
            "settings": dict(self.settings),
            "metadata": dict(self.metadata),
            "actor_id": self.actor_id,
            "run_id": self.run_id or None,
            "session_id": self.session_id or None,
            "deadline_at": self.deadline_at,
        }


def read_message(value: MessageLike | None) -> Message:
    """A message from what a user may write for one.

    Raises:
        TypeError: Something that is no message.
        ValueError: A dict that is no serialised message.
    """
    if isinstance(value, Message):
        return value
    if isinstance(value, Mapping):
        return Message.from_dict({"role": "user", **value})
    if value is None:
        # The engine says what is wrong with an empty message.
        return Message("user", "")
    return Message("user", value)


def read_deadline(
    deadline_at: datetime.datetime | float | None, timeout: float | None
) -> float | None:
    """The earlier of both, in Unix seconds.

    Raises:
        TypeError: Neither a datetime nor a number.
        ValueError: Not finite.
    """
    moments: list[float] = []
    # Whoever passes a datetime has imported the module.
    dates = sys.modules.get("datetime")
    if dates is not None and isinstance(deadline_at, dates.datetime):
        moments.append(deadline_at.timestamp())
    elif deadline_at is not None:
        moments.append(_seconds("deadline_at", deadline_at))
    if timeout is not None:
        moments.append(time.time() + _seconds("timeout", timeout))
    return min(moments, default=None)


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        wanted = "a datetime or Unix seconds" if name == "deadline_at" else "seconds"
        raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds):
        raise ValueError(f"{name} must be finite, not {seconds}")
    return seconds


def read_invocation(
    message: MessageLike | None,
    *,
    history: Sequence[Message | Mapping[str, Any]] | None = None,
    context: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    session_id: str | None = None,
    actor_id: str | None = None,
    run_id: str | None = None,
    deadline_at: datetime.datetime | float | None = None,
    timeout: float | None = None,
    **unknown: Any,
) -> Invocation:
    """An invocation from the options of a call; see `RunOptions`.

    Raises:
        TypeError: A value of a wrong type, or an unknown option.
        ValueError: An impossible value.
    """
    if unknown:
        raise TypeError(_unknown_option(next(iter(unknown))))
    for name, value in (("context", context), ("settings", settings), ("metadata", metadata)):
        _check_mapping(name, value)
    for name, identifier in (
        ("session_id", session_id),
        ("actor_id", actor_id),
        ("run_id", run_id),
    ):
        if identifier is not None and not isinstance(identifier, str):
            raise TypeError(f"{name} must be a str, not {type(identifier).__name__}")
    return Invocation(
        message=read_message(message),
        history=_read_history(history),
        context=dict(context or {}),
        settings=dict(settings or {}),
        metadata=dict(metadata or {}),
        actor_id=actor_id,
        run_id=run_id or "",
        session_id=session_id or "",
        deadline_at=read_deadline(deadline_at, timeout),
    )


def _read_history(history: Any) -> tuple[Message, ...]:
    if history is None:
        return ()
    if isinstance(history, (str, Mapping, Message)) or not isinstance(history, Iterable):
        raise TypeError(f"history must be a list of messages, not {type(history).__name__}")
    messages: list[Message] = []
    for entry in history:
        if isinstance(entry, Mapping):
            messages.append(Message.from_dict(entry))
        elif isinstance(entry, Message):
            messages.append(entry)
        else:
            raise TypeError(f"history must hold messages or dicts, not {type(entry).__name__}")
    return tuple(messages)


def _unknown_option(name: str) -> str:
    from difflib import get_close_matches

    known = list(RunOptions.__annotations__)
    close = get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
    return f"there is no option {name}; {hint}"


def _check_mapping(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"keys of {name} must be str, not {type(key).__name__}")
