"""Public objects in the JSON shapes that all three languages share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from little_ghost import Error, HTTPError, RunResult


def error_shape(error: BaseException | None) -> dict[str, Any] | None:
    """`{class, message, status?}`, which is what every language can say about an error."""
    if error is None:
        return None
    name = type(error).__name__
    if isinstance(error, ValueError) and not isinstance(error, Error):
        name = "ArgumentError"
    shape: dict[str, Any] = {"class": name, "message": str(error)}
    if isinstance(error, HTTPError) and error.status is not None:
        shape["status"] = error.status
    return shape


def plain(value: Any) -> Any:
    """A value of an event, a result or a state."""
    if isinstance(value, BaseException):
        return error_shape(value)
    if isinstance(value, RunResult):
        shape = {
            "message": plain(value.message),
            "stop_reason": value.stop_reason,
            "usage": plain(value.usage),
            "messages": plain(value.messages),
        }
        if value.structured is not None:
            # Not every language keeps how the model gave the result.
            structured = value.structured
            shape["structured"] = {"name": structured.name, "value": plain(structured.value)}
        return shape
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    assert value is None or isinstance(value, (str, int, float)), f"no JSON: {value!r}"
    return value
