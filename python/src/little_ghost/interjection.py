"""Something said to an agent while it works."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from .errors import CancelledError
from .invocation_reader import at, checked_token, read_deadline, read_message
from .pump import waiter

if TYPE_CHECKING:
    import datetime

    from . import _native
    from ._native import CancellationToken
    from .invocation import MessageLike
    from .run import Run

_SLICE = 0.05
"""Seconds after which a waiting caller looks at its token."""


class InterjectionOptions(TypedDict, total=False):
    """Options of `interject`.

    Attributes:
        interjection_id: Identifier; the same one with the same message is said once, and answered to all.
        batch_key: Waiting messages that follow each other with one key are said together.
        metadata: JSON-like data that travels with the message.
        target_operation_id: Which invocation is meant, where the run has several.
        deadline_at: How long to wait: a `datetime` or Unix seconds.
        timeout: The same as seconds from now.
        cancellation_token: Ends the waiting. What is not said yet is taken back.
    """

    interjection_id: str | None
    batch_key: str | None
    metadata: Mapping[str, Any] | None
    target_operation_id: str | None
    deadline_at: datetime.datetime | float | None
    timeout: float | None
    cancellation_token: CancellationToken | None


@dataclass(frozen=True, slots=True)
class InterjectionAnswer:
    """What an agent said to an interjection.

    Attributes:
        text: Its immediate answer.
        tool_calls: Whether it calls tools next.
        interjection_ids: The interjections that this answers.
        batch_key: Their key, if any.
    """

    text: str
    tool_calls: bool
    interjection_ids: tuple[str, ...]
    batch_key: str | None = None


def interjection_payload(
    message: MessageLike | Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Message and options together, as hooks see them.

    Raises:
        TypeError: An unknown option. A dict may hold more than options, for hooks.
    """
    for name in options:
        if name not in InterjectionOptions.__annotations__:
            raise TypeError(_unknown_option(name))
    if isinstance(message, Mapping) and "message" in message:
        return {**message, **options}
    return {"message": message, **options}


def _unknown_option(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, InterjectionOptions.__annotations__, 1)
    hint = (
        f"did you mean {close[0]}?"
        if close
        else f"use {', '.join(InterjectionOptions.__annotations__)}"
    )
    return f"interject takes no {name}; {hint}"


def prepare_interjection(
    run: Run, payload: Mapping[str, Any]
) -> Generator[Any, Any, dict[str, Any]]:
    """What is left for `Run.interject` after the hooks had their say, step by step.

    Yields:
        What each hook returned, awaitable or not.

    Raises:
        TypeError: A hook returned no dict.
    """
    for hook in run.runtime.hooks:
        payload = yield hook.prepare_interjection(run, payload)
        if not isinstance(payload, Mapping):
            raise TypeError(
                f"{type(hook).__name__}.prepare_interjection must return a dict, "
                f"not {type(payload).__name__}"
            )
    known = {"message", *InterjectionOptions.__annotations__}
    return {name: value for name, value in payload.items() if name in known}


def send(
    native: _native.Run, message: MessageLike, options: Mapping[str, Any]
) -> tuple[_native.Ticket, CancellationToken | None]:
    """Hands a message to the engine.

    Returns:
        The ticket for the answer, and what ends the waiting.

    Raises:
        TypeError: An unknown option.
        AgentInterjectionError: No agent is there to listen.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in InterjectionOptions.__annotations__:
            raise TypeError(_unknown_option(name))
    token = checked_token(given.pop("cancellation_token", None))
    until = read_deadline(given.pop("deadline_at", None), given.pop("timeout", None))
    payload = {"message": at("message", read_message, message).to_dict(), **given}
    if until is not None:
        payload["deadline_at"] = until
    if token is not None and token.cancelled:
        raise CancelledError("the interjection was cancelled")
    return native.interject(payload), token


def wait(ticket: _native.Ticket, token: CancellationToken | None) -> InterjectionAnswer:
    """Waits for the answer in this thread; signals are handled meanwhile."""
    try:
        # The engine itself answers at the deadline.
        wait_readable = waiter(ticket.fd)
        while not wait_readable(None if token is None else _SLICE):
            _check(token)
        return _answer(ticket)
    finally:
        ticket.withdraw()


async def wait_async(ticket: _native.Ticket, token: CancellationToken | None) -> InterjectionAnswer:
    """`wait` for asyncio. A cancelled task takes back what is not said yet."""
    loop = asyncio.get_running_loop()
    answered = asyncio.Event()
    descriptor = ticket.fd
    loop.add_reader(descriptor, answered.set)
    try:
        while not answered.is_set():
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(answered.wait(), None if token is None else _SLICE)
            if not answered.is_set():
                _check(token)
        return _answer(ticket)
    finally:
        loop.remove_reader(descriptor)
        ticket.withdraw()


def _check(token: CancellationToken | None) -> None:
    if token is not None and token.cancelled:
        raise CancelledError("the interjection was cancelled")


def _answer(ticket: _native.Ticket) -> InterjectionAnswer:
    value = ticket.take()
    return InterjectionAnswer(
        value["text"],
        value["tool_calls"],
        tuple(value["interjection_ids"]),
        value.get("batch_key"),
    )
