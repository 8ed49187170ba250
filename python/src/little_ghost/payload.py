"""What callbacks are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .content import ToolUse, content_from_dict, tool_use_from_dict
from .jsonable import to_jsonable
from .message import Message
from .model_request import ModelRequest
from .result import ModelResponse, RunResult
from .result_schema import declared_result
from .tools.outcome import ToolOutcome

if TYPE_CHECKING:
    from . import _native
    from .assembly.base import Assembly
    from .run import Run
    from .tools.base import Tool


@dataclass(frozen=True, slots=True)
class BeforeInvocation:
    """An invocation is about to begin. `Replace` takes a sequence of messages.

    Attributes:
        messages: The conversation so far, system message first.
    """

    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class AfterInvocation:
    """An invocation has its result. `Replace` takes a `RunResult`.

    Attributes:
        result: The result.
    """

    result: RunResult


@dataclass(frozen=True, slots=True)
class BeforeModel:
    """A request is about to be sent. `Replace` takes a `ModelRequest`.

    Attributes:
        request: The request.
        turn: Model call, counted from zero.
        parent_operation_id: What this invocation is a part of.
    """

    request: ModelRequest
    turn: int
    parent_operation_id: str | None = None


@dataclass(frozen=True, slots=True)
class AfterModel:
    """The model answered. `Replace` takes a `ModelResponse`.

    Attributes:
        request: The request.
        response: The answer.
        turn: Model call, counted from zero.
    """

    request: ModelRequest
    response: ModelResponse
    turn: int


@dataclass(frozen=True, slots=True)
class AfterModelError:
    """The model failed. `Replace` takes a `ModelRequest`, which is tried next: three times at most.

    Attributes:
        request: The request.
        error: What went wrong.
        turn: Model call, counted from zero.
        parent_operation_id: What this invocation is a part of.
    """

    request: ModelRequest
    error: BaseException
    turn: int
    parent_operation_id: str | None = None


@dataclass(frozen=True, slots=True)
class BeforeTool:
    """A tool is about to run. `Cancel` refuses the call; the model reads the reason.

    Attributes:
        tool_use: The model's call, whose input fits the schema of the tool.
        tool: The tool.
        operation_id: Identifier of this execution.
        parent_operation_id: The invocation that asked for it.
    """

    tool_use: ToolUse
    tool: Tool
    operation_id: str
    parent_operation_id: str | None = None


@dataclass(frozen=True, slots=True)
class AfterTool:
    """A tool call has its outcome. `Replace` takes a `ToolOutcome`, or another value of the tool.

    Attributes:
        tool_use: The model's call.
        tool: The tool.
        operation_id: Identifier of this execution.
        result: What came of it, whether it succeeded or not.
        parent_operation_id: The invocation that asked for it.
    """

    tool_use: ToolUse
    tool: Tool
    operation_id: str
    result: ToolOutcome
    parent_operation_id: str | None = None


Payload: TypeAlias = (
    BeforeInvocation
    | AfterInvocation
    | BeforeModel
    | AfterModel
    | AfterModelError
    | BeforeTool
    | AfterTool
)


def _messages(value: Any) -> tuple[Message, ...]:
    if isinstance(value, (str, Message)) or not isinstance(value, Sequence):
        raise TypeError(f"Replace(...) takes a list of messages, not {type(value).__name__}")
    for message in value:
        if not isinstance(message, Message):
            raise TypeError(f"Replace(...) takes messages, not {type(message).__name__}")
    return tuple(value)


def _one(name: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if type(value).__name__ != name:
            raise TypeError(f"Replace(...) takes a {name}, not {type(value).__name__}")
        return value

    return check


def _outcome(value: Any) -> ToolOutcome:
    if isinstance(value, ToolOutcome):
        return value
    from .tools.outcome import succeeded

    return succeeded(value)


class Source(Protocol):
    """What of a run never crosses into the engine."""

    @property
    def run(self) -> Run:
        """The run."""

    @property
    def agent(self) -> Assembly:
        """The agent whose callbacks they are."""

    @property
    def state(self) -> dict[str, Any]:
        """Its working state."""

    @property
    def native(self) -> _native.Run:
        """Its native side."""

    def named_tool(self, name: str) -> Tool:
        """The tool of that name."""

    def tool_value(self, tool_use_id: str) -> Any:
        """What the tool returned to that call, untouched."""

    def exception(self, value: dict[str, Any]) -> BaseException:
        """The exception for an error as the engine describes it."""


def read_payload(name: str, data: Mapping[str, Any], source: Source) -> Payload:
    """What the engine tells a callback, as objects."""
    if name == "before_invocation":
        return BeforeInvocation(tuple(Message.from_dict(item) for item in data["messages"]))
    if name == "after_invocation":
        return AfterInvocation(
            RunResult.from_dict(data["result"], source.state, declared_result(source.agent))
        )
    parent = data.get("parent_operation_id")
    if name in ("before_tool", "after_tool"):
        tool_use = tool_use_from_dict(data["tool_use"])
        tool = source.named_tool(tool_use.name)
        if name == "before_tool":
            return BeforeTool(tool_use, tool, data["operation_id"], parent)
        outcome = _read_outcome(data["result"], tool_use.id, source)
        return AfterTool(tool_use, tool, data["operation_id"], outcome, parent)
    request = ModelRequest.from_dict(data["request"], source.native.work_token)
    if name == "before_model":
        return BeforeModel(request, data["turn"], parent)
    if name == "after_model":
        return AfterModel(request, ModelResponse.from_dict(data["response"]), data["turn"])
    return AfterModelError(request, source.exception(data["error"]), data["turn"], parent)


def _read_outcome(data: Mapping[str, Any], tool_use_id: str, source: Source) -> ToolOutcome:
    content, error = data["content"], data.get("error")
    failure = None if error is None else source.exception(error)
    return ToolOutcome(
        source.tool_value(tool_use_id),
        content if isinstance(content, str) else tuple(map(content_from_dict, content)),
        data["status"],
        failure if isinstance(failure, Exception) else None,
    )


_REPLACED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "before_invocation": ("messages", _messages),
    "after_invocation": ("result", _one("RunResult")),
    "before_model": ("request", _one("ModelRequest")),
    "after_model": ("response", _one("ModelResponse")),
    "after_model_error": ("request", _one("ModelRequest")),
    "after_tool": ("result", _outcome),
}


def replaced(name: str, payload: Any, value: Any) -> Any:
    """The payload with what a callback put in place of its subject.

    Raises:
        TypeError: The callback cannot replace anything, or not by this value.
    """
    if name not in _REPLACED:
        rest = "None" if name == "after_initialize" else "Cancel(reason) or None"
        raise TypeError(f"it cannot replace anything; return {rest}")
    subject, check = _REPLACED[name]
    return replace(payload, **{subject: check(value)})


def replacement(name: str, payload: Any) -> dict[str, Any]:
    """The subject of a payload as the engine takes it."""
    subject = _REPLACED[name][0]
    value = getattr(payload, subject)
    if isinstance(value, ToolOutcome):
        written: Any = {
            "content": value.content
            if isinstance(value.content, str)
            else [block.to_dict() for block in value.content],
            "value": to_jsonable(value.value),
            "status": value.status,
        }
    elif subject == "messages":
        written = [message.to_dict() for message in value]
    else:
        written = value.to_dict()
    return {subject: written}
