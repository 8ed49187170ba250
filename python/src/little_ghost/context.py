"""What a tool knows about the run that called it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ._native import CancellationToken
from .errors import CancelledError, DeadlineExceededError, Error
from .usage import Tally, Usage

if TYPE_CHECKING:
    from .message import Message
    from .run import Run

T = TypeVar("T")


class RunContext:
    """Working state, cancellation and time of one run, as a tool sees them.

    A tool gets it through a parameter that is annotated `RunContext` (or named `context`).

    Attributes:
        state: Working state of the run: a dict that starts with the caller's `context` and that
            tools may change. Tools that change it side by side have to synchronise, or be `exclusive`.
        cancellation_token: Cancelled when the engine gives this call up.
        deadline_at: When the run's time is up, in Unix seconds, or None.
        metadata: The caller's `metadata`.
        agent_operation_id: The operation of the agent that this work belongs to, or None.
        conversation_id: The conversation of a subagent that outlives the run, or None.
    """

    __slots__ = (
        "_checkpoint",
        "_run",
        "_tally",
        "agent_operation_id",
        "cancellation_token",
        "conversation_id",
        "deadline_at",
        "metadata",
        "state",
    )

    def __init__(
        self,
        *,
        state: dict[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        deadline_at: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        run: Run | None = None,
        checkpoint: Callable[[Sequence[Message], dict[str, Any]], T] | None = None,
        agent_operation_id: str | None = None,
        conversation_id: str | None = None,
    ) -> None:
        """Made by the engine for tools and callbacks; make one by hand to test them.

        Args:
            state: Working state; the very dict.
            cancellation_token: What stops the work.
            deadline_at: When its time is up, in Unix seconds.
            metadata: Data that travels with it.
            run: The run that it is a part of.
            checkpoint: Called by the method of that name.
            agent_operation_id: The operation of the agent.
            conversation_id: The conversation of a subagent.
        """
        self.state = {} if state is None else state
        self.cancellation_token = cancellation_token or CancellationToken()
        self.deadline_at = deadline_at
        self.metadata: Mapping[str, Any] = {} if metadata is None else metadata
        self.agent_operation_id = agent_operation_id
        self.conversation_id = conversation_id
        self._run = run
        self._tally = Tally() if run is None else run._tally
        self._checkpoint: Callable[[Sequence[Message], dict[str, Any]], Any] | None = checkpoint

    @property
    def run(self) -> Run:
        """The run that owns this work.

        Raises:
            Error: The context was made by hand, without a run.
        """
        if self._run is None:
            raise Error("this context belongs to no run; give RunContext(run=...) one")
        return self._run

    def check(self) -> None:
        """Returns while work should go on.

        Raises:
            CancelledError: The work was cancelled.
            DeadlineExceededError: The deadline passed.
        """
        if self.deadline_at is not None and time.time() >= self.deadline_at:
            raise DeadlineExceededError("the deadline passed before the work was done")
        if self.cancellation_token.cancelled:
            raise CancelledError("the run was cancelled")

    def remaining_time(self, maximum: float | None = None) -> float | None:
        """Seconds until the deadline, never negative.

        Args:
            maximum: An upper bound, such as a client's own time limit.

        Returns:
            The seconds; `maximum` when there is no deadline.
        """
        if self.deadline_at is None:
            return maximum
        remaining = max(0.0, self.deadline_at - time.time())
        return remaining if maximum is None else min(remaining, maximum)

    def checkpoint(self, messages: Sequence[Message]) -> Any:
        """Hands messages and the state to the checkpoint function of this context, if it has one.

        Returns:
            What that function returned; it may be awaitable.
        """
        return None if self._checkpoint is None else self._checkpoint(messages, self.state)

    def record_usage(self, usage: Usage) -> None:
        """Adds tokens that your own code used, for `usage` to tell. `Run.usage` is the engine's count."""
        self._tally.add(usage)

    @property
    def usage(self) -> Usage:
        """What the run has used so far, with what `record_usage` added in any of its contexts."""
        recorded = self._tally.total
        return recorded if self._run is None else self._run._usage_so_far() + recorded
