"""Expected JSON against actual JSON, with masks for what no script can fix."""

from __future__ import annotations

from typing import Any

MASKS = {"$any", "$between", "$contains", "$object"}


def matches(expected: Any, actual: Any) -> bool:
    """Whether `actual` is what `expected` describes."""
    if isinstance(expected, dict):
        if len(expected) == 1 and MASKS & expected.keys():
            ((name, argument),) = expected.items()
            return _masked(name, argument, actual)
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(matches(value, actual[key]) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(matches(*pair) for pair in zip(expected, actual, strict=True))
        )
    # True is 1 in Python, but not in JSON.
    return isinstance(expected, bool) == isinstance(actual, bool) and bool(expected == actual)


def _masked(name: str, argument: Any, actual: Any) -> bool:
    if name == "$any":
        kinds: dict[str, bool] = {
            "string": isinstance(actual, str) and actual != "",
            "number": isinstance(actual, (int, float)) and not isinstance(actual, bool),
        }
        return kinds[argument]
    if name == "$between":
        low, high = argument
        return isinstance(actual, (int, float)) and low <= actual <= high
    if name == "$contains":
        return isinstance(actual, str) and argument in actual
    return isinstance(actual, dict) and all(
        key in actual and matches(value, actual[key]) for key, value in argument.items()
    )
