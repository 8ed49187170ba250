"""Copies of JSON-like data that nobody else can change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_MAX_DEPTH = 100


def detached(value: Any, path: str = "$", depth: int = 0) -> Any:
    """A deep copy of JSON-like data.

    Args:
        value: None, text, numbers, booleans, lists, tuples, and dicts with text as keys.
        path: Where it is, for error messages.
        depth: How deep that is.

    Raises:
        TypeError: Something else is in it.
        ValueError: A number that is not finite, more than 100 levels, or a cycle.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        # An Enum with text for a value, and other subclasses, become what they stand for.
        return value if type(value) is str else str.__str__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{path} must be a finite number, not {value}")
        return value
    if depth >= _MAX_DEPTH:
        raise ValueError(f"{path} is nested more than {_MAX_DEPTH} levels deep, or contains itself")
    if isinstance(value, Mapping):
        copy: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"keys of {path} must be str, not {type(key).__name__}")
            copy[key] = detached(item, f"{path}.{key}", depth + 1)
        return copy
    if isinstance(value, (list, tuple)):
        return [detached(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise TypeError(f"{path} must be JSON-like data, not {type(value).__name__}")
