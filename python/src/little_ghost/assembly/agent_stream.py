"""Whose an event is: the agents in a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..message import Message

if TYPE_CHECKING:
    from ..event import StreamEvent


@dataclass(frozen=True, slots=True)
class AgentStreamStep:
    """One assembly step on the way to an agent.

    Attributes:
        assembly_id: The assembly that coordinates.
        assembly_kind: Its kind, such as `"graph"`.
        participant: Name of the participant.
        step_id: Identifier of the step, the same for all its attempts.
        branch_id: The parallel branch of a graph, or None.
    """

    assembly_id: str
    assembly_kind: str
    participant: str
    step_id: str
    branch_id: str | None = None


@dataclass(frozen=True, slots=True)
class AgentStreamSource:
    """The agent whose event an `agent_stream` event carries.

    Such an event has `source`, this; `event`, the agent's own `StreamEvent`; and with the first event of an
    invocation `input`, the message that the agent was asked.

    Attributes:
        agent_id: Identifier of the agent.
        agent_path: Its place among subagents; `"/root"` at the top.
        operation_id: Identifier of this invocation of it.
        parent_operation_id: What the invocation is a part of.
        assembly_path: The assembly steps around it, the outermost first; the last one names the participant.
    """

    agent_id: str
    agent_path: str
    operation_id: str
    parent_operation_id: str | None = None
    assembly_path: tuple[AgentStreamStep, ...] = ()

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> AgentStreamSource:
        """Reads the engine's description."""
        path = tuple(AgentStreamStep(**step) for step in value["assembly_path"])
        return cls(**{**value, "assembly_path": path})


def read_agent_stream(
    data: dict[str, Any], read: Callable[[str, dict[str, Any]], StreamEvent]
) -> None:
    """Puts objects in place of what the engine sent with an `agent_stream` event."""
    inner = data["event"]
    data["source"] = AgentStreamSource.from_dict(data["source"])
    data["event"] = read(inner["type"], inner["data"])
    if data.get("input") is not None:
        data["input"] = Message.from_dict(data["input"])
