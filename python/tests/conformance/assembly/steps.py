"""The steps of a result, short: what is usual is left out, and steps are named by their participants."""

from __future__ import annotations

from collections import Counter
from typing import Any

from little_ghost import Step, Trajectory

from ..notation import counts_of
from ..shape import plain

Data = dict[str, Any]


class Steps:
    """The steps of one result."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.names: dict[str, str] = {}
        seen: Counter[str] = Counter()
        for step in trajectory:
            seen[step.participant] += 1
            number = seen[step.participant]
            self.names[step.id] = (
                step.participant if number == 1 else f"{step.participant} {number}"
            )

    def shorten(self) -> list[Data]:
        """All steps."""
        self._check()
        return [self._short(step) for step in self.trajectory]

    def concurrent(self, first: str, second: str) -> bool:
        """Whether the steps of these names went on at the same time."""
        ids = {name: identifier for identifier, name in self.names.items()}
        return self.trajectory.concurrent(ids[first], ids[second])

    def _short(self, step: Step) -> Data:
        entry: Data = {
            "step": self.names[step.id],
            "ran": f"{step.assembly_kind} {step.assembly_id}",
            "output": plain(step.output),
        }
        attempts = [
            attempt.error.split(".")[-1] if attempt.error else "completed"
            for attempt in step.attempts
        ]
        counts = counts_of(plain(step.usage))
        more = {
            "after": [self.names[identifier] for identifier in step.predecessor_ids] or None,
            "in": self.names[step.parent_id] if step.parent_id else None,
            "branch": step.branch_id,
            "attempts": None if attempts == ["completed"] else attempts,
            "status": None if step.status == "completed" else step.status,
            "usage": None if counts == [10, 5] else counts,
            "truncated": step.output_truncated or None,
        }
        return entry | {key: value for key, value in more.items() if value is not None}

    def _check(self) -> None:
        """What must hold of every trajectory."""
        steps = list(self.trajectory)
        links = [(before, step.id) for step in steps for before in step.predecessor_ids]
        assert list(self.trajectory.transitions) == links
        for step in steps:
            assert self.trajectory.step(step.id) is step
            assert [attempt.number for attempt in step.attempts] == [
                number + 1 for number in range(len(step.attempts))
            ]
            total = sum(attempt.usage.total_tokens for attempt in step.attempts)
            assert total == step.usage.total_tokens
            assert all(attempt.started_at <= attempt.finished_at for attempt in step.attempts)
            inside = [inner for inner in steps if inner.parent_id == step.id]
            assert list(self.trajectory.children(step.id)) == inside
