"""What a tool knows about the run that called it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._native import CancellationToken
from .errors import CancelledError, DeadlineExceededError, Error

if TYPE_CHECKING:
    from .run import Run


class RunContext:
    """Working state, cancellation and time of one run, as a tool sees them.

    A tool gets it through a parameter that is annotated `RunContext` (or named `context`).

    Attributes:
        state: Working state of the run: a dict that starts with the caller's `context` and that
            tools may change. Tools that change it side by side have to synchronise, or be `exclusive`.
        cancellation_token: Cancelled when the engine gives this call up.
        deadline_at: When the run's time is up, in Unix seconds, or None.
        metadata: The caller's `metadata`.
    """

    __slots__ = ("_run", "cancellation_token", "deadline_at", "metadata", "state")

    def __init__(
        self,
        *,
        state: dict[str, Any] | None = None,
        cancellation_token: CancellationToken | None = None,
        deadline_at: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        run: Run | None = None,
    ) -> None:
        self.state = {} if state is None else state
        self.cancellation_token = cancellation_token or CancellationToken()
        self.deadline_at = deadline_at
        self.metadata: Mapping[str, Any] = {} if metadata is None else metadata
        self._run = run

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
