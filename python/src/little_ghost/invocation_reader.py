"""Requests from what a user may write for them."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ._native import CancellationToken
from .invocation import Invocation, RunOptions
from .message import Message

if TYPE_CHECKING:
    import datetime

    from .invocation import MessageLike
    from .prompt import TrustedPath

T = TypeVar("T")


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


def checked_token(value: Any) -> CancellationToken | None:
    """The token that a caller gave, if any.

    Raises:
        TypeError: It is none.
    """
    if value is not None and not isinstance(value, CancellationToken):
        raise TypeError(
            f"cancellation_token must be a CancellationToken, not {type(value).__name__}"
        )
    return value


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


def parse_invocation(
    cls: type[Invocation],
    payload: Invocation | MessageLike | Mapping[str, Any],
    options: Mapping[str, Any],
) -> Invocation:
    """An invocation from a payload and the options of a call; see `RunOptions`.

    Args:
        cls: Its class. Fields that a subclass adds are options too.
        payload: A message, a dict with `message` and options, or an `Invocation`.
        options: They win over what the payload says.

    Raises:
        TypeError: A value of a wrong type, or an unknown option.
        ValueError: An impossible value.
    """
    given = dict(options)
    if isinstance(payload, Invocation):
        cls = type(payload)
        changes = _read_options(cls, given)
        message: Any = payload.message
        if not isinstance(message, Message):
            # Text, where somebody without a type checker made the invocation.
            changes["message"] = at("message", read_message, message)
        history: Any = payload.history
        if "history" not in changes and not _is_read(history):
            changes["history"] = read_history("history", history)
        return replace(payload, **changes) if changes else payload
    if isinstance(payload, Mapping) and "message" in payload:
        given = {**payload, **given}
    else:
        given["message"] = payload
    message = given.pop("message")
    return cls(message=at("message", read_message, message), **_read_options(cls, given))


def _read_options(cls: type[Invocation], given: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    deadline_at, timeout = given.pop("deadline_at", None), given.pop("timeout", None)
    if deadline_at is not None or timeout is not None:
        values["deadline_at"] = read_deadline(deadline_at, timeout)
    added: set[str] | None = None
    for name, value in given.items():
        read = _READERS.get(name)
        if read is not None:
            if value is not None:
                values[name] = read(name, value)
            continue
        if added is None:
            added = {field.name for field in fields(cls) if field.init}.difference(_FIELDS)
        if name not in added:
            raise TypeError(_unknown_option(name, added))
        values[name] = value
    return values


def at(path: str, read: Callable[..., T], *arguments: Any) -> T:
    """Reads a value; what is wrong with it is told together with its place.

    Raises:
        TypeError, ValueError: As `read` raised it, beginning with `path`.
    """
    try:
        return read(*arguments)
    except (TypeError, ValueError) as problem:
        if type(problem) is not TypeError and type(problem) is not ValueError:
            raise
        text = str(problem).removeprefix("message: ")
        joint = "." if text.startswith("content[") else ": "
        raise type(problem)(f"{path}{joint}{text}") from None


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict, not {type(value).__name__}")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"keys of {name} must be str, not {type(key).__name__}")
    return dict(value)


def _identifier(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return value


def _template_paths(name: str, value: Any) -> tuple[TrustedPath, ...]:
    from .prompt import TrustedPath

    if isinstance(value, (str, TrustedPath)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of TrustedPath values, not {type(value).__name__}")
    paths = tuple(value)
    for path in paths:
        if not isinstance(path, TrustedPath):
            raise ValueError(
                f"{name} must hold TrustedPath values, not {type(path).__name__}; make one of a "
                "folder that your application chose"
            )
    return paths


def read_history(_name: str, history: Any) -> tuple[Message, ...]:
    """Messages from what a user may write for them.

    Raises:
        TypeError: No list of messages; the message says which entry is none.
        ValueError: A dict that is no serialised message.
    """
    if isinstance(history, (str, Mapping, Message)) or not isinstance(history, Iterable):
        raise TypeError(f"history must be a list of messages, not {type(history).__name__}")
    return tuple(at(f"history[{index}]", _earlier, entry) for index, entry in enumerate(history))


def _is_read(history: Any) -> bool:
    return type(history) is tuple and all(isinstance(entry, Message) for entry in history)


def _earlier(entry: Any) -> Message:
    if isinstance(entry, Message):
        return entry
    if isinstance(entry, Mapping):
        return Message.from_dict(entry)
    raise TypeError(f"must be a Message or a dict, not {type(entry).__name__}")


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "history": read_history,
    "context": _mapping,
    "settings": _mapping,
    "metadata": _mapping,
    "session_id": _identifier,
    "actor_id": _identifier,
    "run_id": _identifier,
    "invocation_id": _identifier,
    "template_paths": _template_paths,
    "include_agent_events": _flag,
}


def _unknown_option(name: str, added: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = [*RunOptions.__annotations__, *sorted(added)]
    close = get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
    return f"there is no option {name}; {hint}"


_FIELDS = frozenset(field.name for field in fields(Invocation))
