"""What an application adds around every run."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .message import Message
    from .run import Run


class Hook:
    """Prepares runs, chooses their history, and words their errors.

        class TenantHook(Hook):
            def prepare_run(self, run: Run) -> None:
                run.register(TenantConnection(run.invocation.actor_id))

        little_ghost.configure(hooks=[TenantHook])

    Override only what you need. A class is instantiated once per `Runtime`; hooks are called in the order
    of the configuration, from every thread and event loop that runs agents. Where a method may be a
    coroutine function, a synchronous run awaits it in an event loop of its own.
    """

    def prepare_run(self, run: Run) -> None:
        """Prepares a new run, before anything is sent. What it raises reaches the caller of `ask`.

        A plain function: streams and executions are made without awaiting anything.

        Args:
            run: The run; what is registered on it closes with it, the last one first.
        """

    def prepare_execution(self, run: Run) -> Awaitable[None] | None:
        """Prepares a run that has begun, before its history and its agent. May be a coroutine function.

        Args:
            run: The run. What this raises makes it a failed one.
        """

    def session_history(
        self, run: Run, *, stored: Sequence[Message], fallback: Sequence[Message]
    ) -> Sequence[Message] | Awaitable[Sequence[Message] | None] | None:
        """Chooses the messages that precede the request. May be a coroutine function.

        Args:
            run: The run.
            stored: Messages of the session; none when it is new.
            fallback: The invocation's own history.

        Returns:
            The history, or None to leave it to later hooks and the default.
        """
        return None

    def prepare_interjection(
        self, run: Run, payload: Mapping[str, Any]
    ) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """Changes what `Execution.interject` got, before the agent sees it. May be a coroutine function.

        Args:
            run: The run.
            payload: `message`, the options of `Run.interject`, and what else the caller gave.

        Returns:
            The payload to use.
        """
        return payload

    def error_message(self, error: BaseException, run: Run) -> str | Awaitable[str | None] | None:
        """Words an error for whoever asked. May be a coroutine function.

        Args:
            error: What ended the run.
            run: The run.

        Returns:
            A message without secrets, or None to leave it to later hooks and the default.
        """
        return None

    @classmethod
    def _overrides(cls, name: str) -> bool:
        return getattr(cls, name) is not getattr(Hook, name)
