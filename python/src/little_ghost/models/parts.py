"""Which options of a connection are objects of the application.

Apart from the parts themselves, because most programs have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

METHODS = {
    "transport": "stream",
    "client": "converse_stream",
    "sleeper": "__call__",
    "on_retry": "__call__",
    "credential_resolver": "__call__",
    "clock": "__call__",
}
"""What each must have."""

NAMED = ("client", "credential_resolver")
"""What adapters have to know of when they make a connection."""


def has_part(option: str) -> bool:
    """Whether the option is one."""
    return option in METHODS


def has_parts(options: Mapping[str, Any]) -> bool:
    """Whether the options of a connection hold some."""
    return any(options.get(name) is not None for name in METHODS)


def told(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the engine takes them, which knows of objects only that they are there."""
    plain = {name: value for name, value in options.items() if name not in METHODS}
    marks = {name: True for name in NAMED if options.get(name) is not None}
    return {**plain, **marks}
