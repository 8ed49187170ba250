"""The participants behind a result."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..usage import Usage

StepStatus: TypeAlias = Literal["completed", "failed"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a step.

    Attributes:
        number: From one.
        status: How it ended.
        started_at: When it began.
        finished_at: When it ended.
        usage: Its tokens.
        error: Class name of the failure, or None.
    """

    number: int
    status: StepStatus
    started_at: datetime.datetime
    finished_at: datetime.datetime
    usage: Usage
    error: str | None = None

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Attempt:
        """Reads the engine's description."""
        return cls(
            value["number"],
            value["status"],
            _moment(value["started_at"]),
            _moment(value["finished_at"]),
            Usage.from_dict(value["usage"]),
            value["error"],
        )

    def to_dict(self) -> dict[str, Any]:
        """The attempt as JSON-like data; times are Unix seconds."""
        return {
            "number": self.number,
            "status": self.status,
            "started_at": self.started_at.timestamp(),
            "finished_at": self.finished_at.timestamp(),
            "usage": self.usage.to_dict(),
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One participant's part in the work of an assembly.

    Attributes:
        id: Identifier of this step.
        participant: Name of the participant.
        assembly_id: Identifier of the assembly that took part.
        assembly_kind: Its kind, such as `"agent"`.
        status: How it ended.
        attempts: All attempts.
        usage: Tokens of all attempts.
        output: The participant's output as JSON-like data, unless it was larger than 64 KiB.
        output_truncated: Whether the output was too large to be kept.
        parent_id: The step that contains it, of a nested assembly.
        predecessor_ids: The steps whose results led to it.
        branch_id: The parallel branch of a graph.
    """

    id: str
    participant: str
    assembly_id: str
    assembly_kind: str
    status: StepStatus
    attempts: tuple[Attempt, ...]
    usage: Usage
    output: Any = None
    output_truncated: bool = False
    parent_id: str | None = None
    predecessor_ids: tuple[str, ...] = ()
    branch_id: str | None = None

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Step:
        """Reads the engine's description."""
        return cls(
            **{
                **value,
                "attempts": tuple(Attempt.from_dict(attempt) for attempt in value["attempts"]),
                "predecessor_ids": tuple(value["predecessor_ids"]),
                "usage": Usage.from_dict(value["usage"]),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The step as JSON-like data."""
        return {
            "id": self.id,
            "parent_id": self.parent_id,
            "predecessor_ids": list(self.predecessor_ids),
            "participant": self.participant,
            "assembly_id": self.assembly_id,
            "assembly_kind": self.assembly_kind,
            "branch_id": self.branch_id,
            "status": self.status,
            "attempts": [attempt.to_dict() for attempt in self.attempts],
            "usage": self.usage.to_dict(),
            "output": self.output,
            "output_truncated": self.output_truncated,
        }


class Trajectory(Sequence[Step]):
    """Questions about the steps behind a result; the steps themselves in the order in which they ended.

    Attributes:
        steps: All steps.
    """

    __slots__ = ("_by_id", "steps")

    def __init__(self, steps: Sequence[Step]) -> None:
        """Asks about `steps`."""
        self.steps = tuple(steps)
        self._by_id = {step.id: step for step in self.steps}

    def __getitem__(self, index: Any) -> Any:
        """A step by its position."""
        return self.steps[index]

    def __len__(self) -> int:
        """How many steps there are."""
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        """The steps, one after the other."""
        return iter(self.steps)

    def step(self, step_id: str) -> Step | None:
        """The step with that identifier."""
        return self._by_id.get(step_id)

    def children(self, step_id: str) -> tuple[Step, ...]:
        """The steps inside of a step."""
        return tuple(step for step in self.steps if step.parent_id == step_id)

    def attempts_for(self, step_id: str) -> tuple[Attempt, ...]:
        """The attempts at a step; none when there is no such step."""
        step = self.step(step_id)
        return () if step is None else step.attempts

    @property
    def transitions(self) -> tuple[tuple[str, str], ...]:
        """Which step led to which, by identifier."""
        return tuple((one, step.id) for step in self.steps for one in step.predecessor_ids)

    def concurrent(self, first_id: str, second_id: str) -> bool:
        """Whether attempts at both steps went on at the same time."""
        others = self.attempts_for(second_id)
        return any(
            one.started_at < other.finished_at and other.started_at < one.finished_at
            for one in self.attempts_for(first_id)
            for other in others
        )

    def __repr__(self) -> str:
        """Names the participants."""
        return f"<Trajectory {', '.join(step.participant for step in self.steps)}>"


def _moment(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
