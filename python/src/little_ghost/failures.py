"""Failures of listeners, which must not disturb the work that they listen to."""

from __future__ import annotations

from typing import Any

_told: set[tuple[str, type, type]] = set()


def report_once(part: str, owner: Any, error: Exception) -> bool:
    """Logs a failure of user code that only observes, once for each class of it.

    The message of the exception stays out: it may hold what was observed.

    Returns:
        Whether it is the first of its kind.
    """
    key = (part, type(owner), type(error))
    if key in _told:
        return False
    _told.add(key)
    import logging

    name = getattr(owner, "__qualname__", type(owner).__qualname__)
    logging.getLogger("little_ghost").error("%s %s failed: %s", part, name, type(error).__name__)
    return True
