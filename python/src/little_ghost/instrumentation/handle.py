"""Work that has begun."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bus import Bus


class Handle:
    """One operation between `start` and `finish`.

    A handle belongs to the thread and task that started it, and ends there, after all that began
    within it. A detached one may end anywhere, but not before its children either.

    Attributes:
        name: Which operation.
        operation_id: Its identifier.
        parent_operation_id: The operation that it is a part of, or None.
        payload: The attributes of its start.
        previous: The handle that was current before it.
        started_at: When it began, in seconds of the monotonic clock.
        detached: Whether it stands outside the order of its thread or task.
    """

    __slots__ = (
        "_bus",
        "_children",
        "_owner",
        "_parent",
        "detached",
        "name",
        "operation_id",
        "parent_operation_id",
        "payload",
        "previous",
        "started_at",
    )

    def __init__(
        self,
        bus: Bus,
        name: str,
        operation_id: str,
        *,
        parent: Handle | str | None,
        payload: Mapping[str, Any],
        previous: Handle | None,
        detached: bool,
    ) -> None:
        """Made by `Bus.start`."""
        self._bus = bus
        self._parent = parent if isinstance(parent, Handle) else None
        self._children = 0
        self._owner = here()
        self.name = name
        self.operation_id = operation_id
        self.parent_operation_id = parent.operation_id if isinstance(parent, Handle) else parent
        self.payload = payload
        self.previous = previous
        self.detached = detached
        self.started_at = time.monotonic()

    @property
    def active(self) -> bool:
        """Whether it has not been finished."""
        return self._bus.active(self)

    @property
    def local_parent(self) -> bool:
        """Whether it is part of an operation of the same bus that goes on."""
        return self._parent is not None and self._parent.active

    @property
    def owned(self) -> bool:
        """Whether it was started by this thread and task."""
        return self._owner == here()

    def finish(self, *, diagnostic: Mapping[str, Any] | None = None, **attributes: Any) -> Any:
        """Ends the operation; see `Bus.finish`."""
        return self._bus.finish(self, diagnostic=diagnostic, **attributes)

    def __repr__(self) -> str:
        """Names the operation."""
        return f"<Handle {self.name} {self.operation_id}>"


def here() -> tuple[int, int | None]:
    """The thread, and the task if one runs in it."""
    # Without asyncio there is no task.
    asyncio = sys.modules.get("asyncio")
    task = None
    if asyncio is not None:
        try:
            task = asyncio.current_task()
        except RuntimeError:
            task = None
    return threading.get_ident(), None if task is None else id(task)
