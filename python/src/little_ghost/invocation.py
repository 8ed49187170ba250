"""One request: what is asked, and what the application knows about it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

from ._native import CancellationToken
from .content import Content
from .message import Message

if TYPE_CHECKING:
    import datetime

    from .prompt import TrustedPath

T = TypeVar("T")

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
        template_paths: Folders of prompt templates, `TrustedPath` values, that come before those of the
            configuration.
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
    template_paths: Sequence[TrustedPath] | None
    cancellation_token: CancellationToken | None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The request that a run answers.

    A subclass carries more, with types, and may refuse a request in `__post_init__`:

        @dataclass(frozen=True)
        class SupportInvocation(Invocation):
            account_id: str = ""

        SupportAgent.ask(SupportInvocation(message=Message("user", "Where is order 481?"), account_id="a-1"))

    Where `configure(invocation=SupportInvocation)` names it, `ask` takes its fields as options.

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
        template_paths: Folders of prompt templates that come first.
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
    template_paths: tuple[TrustedPath, ...] = ()

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
            "invocation_id": self.invocation_id or None,
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
        return replace(payload, **_read_options(cls, given)) if given else payload
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


def _history(_name: str, history: Any) -> tuple[Message, ...]:
    if isinstance(history, (str, Mapping, Message)) or not isinstance(history, Iterable):
        raise TypeError(f"history must be a list of messages, not {type(history).__name__}")
    return tuple(at(f"history[{index}]", _earlier, entry) for index, entry in enumerate(history))


def _earlier(entry: Any) -> Message:
    if isinstance(entry, Message):
        return entry
    if isinstance(entry, Mapping):
        return Message.from_dict(entry)
    raise TypeError(f"must be a Message or a dict, not {type(entry).__name__}")


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "history": _history,
    "context": _mapping,
    "settings": _mapping,
    "metadata": _mapping,
    "session_id": _identifier,
    "actor_id": _identifier,
    "run_id": _identifier,
    "invocation_id": _identifier,
    "template_paths": _template_paths,
}


def _unknown_option(name: str, added: Iterable[str]) -> str:
    from difflib import get_close_matches

    known = [*RunOptions.__annotations__, *sorted(added)]
    close = get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
    return f"there is no option {name}; {hint}"


_FIELDS = frozenset(field.name for field in fields(Invocation))
