"""Failures of listeners, which must not disturb the work that they listen to."""

from __future__ import annotations

from typing import Any

_told: set[tuple[str, str, str]] = set()


def report_once(part: str, owner: Any, error: Exception) -> bool:
    """Logs a failure of user code that only observes, once for each class of it.

    The message of the exception stays out: it may hold what was observed.

    Returns:
        Whether it is the first of its kind.
    """
    name = getattr(owner, "__qualname__", type(owner).__qualname__)
    key = (part, name, type(error).__name__)
    if key in _told:
        return False
    _told.add(key)
    import logging

    logging.getLogger("little_ghost").error("%s %s failed: %s", *key)
    return True
