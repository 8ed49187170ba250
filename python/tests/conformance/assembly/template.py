"""Texts with names in braces, which stand for what a workflow or a graph knows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from little_ghost import GraphState

from ..shape import error_shape, plain

NAME = re.compile(r"\{([A-Za-z_]\w*)(?:\.(\w+))?\}")


def fill(text: str, lookup: Callable[[str, str | None], Any]) -> str:
    """The text with what `lookup` says in place of each name."""
    return NAME.sub(lambda match: shown(lookup(match[1], match[2])), text)


def shown(value: Any) -> str:
    """A value in a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(entry) for entry in value)
    return json.dumps(plain(value), separators=(",", ":"))


def of_state(text: str, state: GraphState) -> str:
    """What a mapper says of a state."""

    def lookup(name: str, key: str | None) -> Any:
        match name:
            case "input":
                return state.input.text
            case "history":
                return [message.text for message in state.history]
            case "context":
                return state.context.get(key or "")
            case "out":
                return state.result(key or "").output
            case "results":
                return list(state.results)
            case "incoming":
                return [
                    f"{name}={shown(result.output)}"
                    for name, result in state.incoming_results.items()
                ]
            case "predecessors":
                return state.predecessors
            case "previous":
                return state.previous or "nobody"
            case "current":
                return state.current
            case "step":
                return state.step
            case "error":
                shape = error_shape(state.error)
                return shape["class"] if shape else "none"
        raise AssertionError(f"a state has no {name}")

    return fill(text, lookup)
