"""Values of tools as JSON-like data."""

from __future__ import annotations

import dataclasses
import enum
import os
import sys
from collections.abc import Mapping, Sequence, Set, ValuesView
from typing import Any

_MAX_DEPTH = 200
"""Past the nesting that the engine takes, so that it reports a cycle."""


_BINARY = (bytes, bytearray, memoryview)


def to_jsonable(value: Any, depth: int = 0) -> Any:
    """Turns common Python values into dicts, lists and scalars.

    Dataclasses and mappings become dicts, sets and other sequences lists, Enum members their values,
    dates ISO 8601 text, and Pydantic models what their `model_dump` gives. Anything else is left
    as it is, for the engine to refuse with its path.
    """
    result = value
    deeper = depth + 1
    if deeper > _MAX_DEPTH:
        return None
    if isinstance(value, enum.Enum):
        result = to_jsonable(value.value, deeper)
    elif value is None or isinstance(value, (str, int, float, bool)):
        pass
    elif isinstance(value, Mapping):
        result = {_key(key): to_jsonable(item, deeper) for key, item in value.items()}
    elif isinstance(value, (Sequence, Set, ValuesView)) and not isinstance(value, _BINARY):
        result = [to_jsonable(item, deeper) for item in value]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        result = {
            field.name: to_jsonable(getattr(value, field.name), deeper)
            for field in dataclasses.fields(value)
        }
    elif hasattr(value, "model_dump") and not isinstance(value, type):
        result = value.model_dump(mode="json")
    elif _is(value, "datetime", "date", "time"):
        result = value.isoformat()
    elif _is(value, "uuid", "UUID") or _is(value, "decimal", "Decimal"):
        result = str(value)
    elif isinstance(value, os.PathLike):
        result = os.fspath(value)
    return result


def is_jsonable(value: Any, depth: int = 0) -> bool:
    """Whether `to_jsonable` makes something of it that the engine takes."""
    value = to_jsonable(value)
    if value is None or isinstance(value, (str, int, float)):
        return True
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, dict):
        return all(
            isinstance(key, str) and is_jsonable(item, depth + 1) for key, item in value.items()
        )
    return isinstance(value, list) and all(is_jsonable(item, depth + 1) for item in value)


def _is(value: Any, module: str, *names: str) -> bool:
    # A module that nobody has imported has no instances, and importing it takes time.
    found = sys.modules.get(module)
    return found is not None and isinstance(value, tuple(getattr(found, name) for name in names))


def _key(key: Any) -> Any:
    return key.value if isinstance(key, enum.Enum) else key
