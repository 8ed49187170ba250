"""Turns of a script, and how the engine needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..errors import Error, error_kind
from ..usage import Usage
from .functions import Function

if TYPE_CHECKING:
    from ..tools.base import Tool


class Call(TypedDict, total=False):
    """A tool call of a turn."""

    tool: str | Tool | type[Tool]
    input: Mapping[str, Any]
    id: str


class Turn(TypedDict, total=False):
    """One answer of a scripted model. Everything may be left out.

    Attributes:
        text: The text, or the pieces in which it arrives.
        json: A value that is sent as text, for structured results.
        reasoning: Visible reasoning, or its pieces.
        tool: A tool that is called, by name or as the tool itself.
        input: Its input.
        id: Its id; by default `call_1`, `call_2` and so on.
        tools: Several calls.
        usage: Token counts.
        stop_reason: Why the model stopped.
        delay: Seconds before the answer.
        pause: Seconds between pieces.
        error: What the model call fails with afterwards: an exception, its class, or a message.
    """

    text: str | Sequence[str]
    json: Any
    reasoning: str | Sequence[str]
    tool: str | Tool | type[Tool]
    input: Mapping[str, Any]
    id: str
    tools: Sequence[Call]
    usage: Usage | Mapping[str, int]
    stop_reason: str
    delay: float
    pause: float
    error: Exception | type[Exception] | str


def described(turn: Any, kept: list[Function] | None = None) -> Any:
    """A turn as the engine needs it.

    Args:
        turn: What a user wrote.
        kept: Takes what must be held for as long as the turn is of use. Without it nothing can be put off:
            an exception of another library is raised at once.

    Raises:
        ValueError: It cannot be a turn.
    """
    if isinstance(turn, Mapping):
        return _described_mapping(turn, kept)
    if _is_exception(turn):
        return _failure(turn, kept)
    if callable(turn) and kept is not None:
        return _function(turn, kept)
    return turn


def _is_exception(value: Any) -> bool:
    return isinstance(value, BaseException) or (
        isinstance(value, type) and issubclass(value, BaseException)
    )


def _described_mapping(turn: Mapping[str, Any], kept: list[Function] | None) -> Any:
    described = _named(turn)
    if isinstance(described.get("tools"), Sequence):
        described["tools"] = [
            _named(call) if isinstance(call, Mapping) else call for call in described["tools"]
        ]
    if isinstance(described.get("usage"), Usage):
        described["usage"] = described["usage"].to_dict()
    if not _is_exception(described.get("error")):
        return described
    error = described.pop("error")
    return {**described, **_plain(error)} if described else _failure(error, kept)


def _named(call: Mapping[str, Any]) -> dict[str, Any]:
    named = dict(call)
    tool = named.get("tool")
    if tool is not None and not isinstance(tool, str):
        named["tool"] = getattr(tool() if isinstance(tool, type) else tool, "name", tool)
    if isinstance(named.get("input"), Mapping):
        named["input"] = dict(named["input"])
    return named


def _failure(error: Any, kept: list[Function] | None) -> Any:
    """The library's own exceptions are described; any other is raised as the object it is."""
    raised = _instance(error)
    if isinstance(raised, Error):
        return _plain(raised)
    if kept is None:
        raise raised

    def fail(_request: Any) -> Any:
        raise raised

    return _function(fail, kept)


def _plain(error: Any) -> dict[str, Any]:
    raised = _instance(error)
    if not isinstance(raised, Error):
        raise ValueError(
            "a turn that also says something can only fail with a little_ghost.Error, "
            f"not {type(raised).__name__}"
        )
    value: dict[str, Any] = {"kind": error_kind(raised), "message": str(raised)}
    for name in ("status", "body", "code"):
        if getattr(raised, name, None) is not None:
            value[name] = getattr(raised, name)
    return {"error": value}


def _instance(error: Any) -> BaseException:
    made: BaseException = error("the scripted failure") if isinstance(error, type) else error
    return made


def _function(function: Callable[..., Any], kept: list[Function]) -> dict[str, int]:
    known = Function(function)
    kept.append(known)
    return {"function": known.number}
