"""Which runs wait for the code that runs now: their callbacks and tools."""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .run import Run

_Place: TypeAlias = "tuple[int, Any]"

_waiting: ContextVar[tuple[tuple[Run, _Place], ...]] = ContextVar(
    "little_ghost_nesting", default=()
)


class Within:
    """A block that `run` waits for. It would wait for ever for what only that run's end can bring."""

    __slots__ = ("_run", "_token")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._token: Token[Any] | None = None

    def __enter__(self) -> None:
        self._token = _waiting.set((*_waiting.get(), (self._run, _place())))

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _waiting.reset(self._token)


def waiting_runs() -> tuple[Run, ...]:
    """The runs that wait for this thread and task. Others that were started from it only inherit them."""
    waiting = _waiting.get()
    if not waiting:
        return ()
    thread, task = _place()
    # Whoever waits without a task waits for all that its thread does meanwhile.
    return tuple(run for run, (its, waiter) in waiting if its == thread and waiter in (None, task))


def _place() -> _Place:
    # Without asyncio there is no task, and a synchronous run must not load it.
    asyncio = sys.modules.get("asyncio")
    running = None if asyncio is None else asyncio._get_running_loop()
    task = None if running is None else asyncio.current_task()  # type: ignore[union-attr]
    return threading.get_ident(), task
