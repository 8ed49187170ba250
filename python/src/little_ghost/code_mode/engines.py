"""Engines by the names that declarations use."""

from __future__ import annotations

import sys
from typing import Any

from .. import _native
from ..errors import ConfigurationError
from .code_mode import BUILT_IN
from .engine import Engine

_registered: dict[str, Engine] = {}


def register_engine(name: str, engine: Engine) -> None:
    """Has declarations mean an engine by a name, in all of the process.

    Args:
        name: The name; those of the engine's own are taken.
        engine: The engine.

    Raises:
        ValueError: The name is taken by one of the engine's own.
    """
    if not isinstance(engine, Engine):
        raise TypeError(f"a code-mode engine is an Engine, not {type(engine).__name__}")
    if name in BUILT_IN:
        raise ValueError(f"{name!r} is one of the engine's own; use another name")
    _registered[name] = engine


def resolve_engine(value: str | Engine) -> Engine | None:
    """The engine of the application that is meant; None for one of the engine's own.

    Raises:
        ConfigurationError: There is no engine of that name.
    """
    if isinstance(value, Engine):
        return value
    if value in BUILT_IN:
        return None
    try:
        return _registered[value]
    except KeyError:
        raise ConfigurationError(
            f"there is no code-mode engine {value!r}; use {', '.join((*BUILT_IN, *_registered))}, "
            "or register one"
        ) from None


def declared_engine(value: str | Engine) -> dict[str, Any]:
    """The engine as the engine takes it."""
    own = resolve_engine(value)
    if own is not None:
        return {"key": 0, "language": own.language}
    if value == "python" and sys.executable:
        # The one that runs this process, whatever PATH says.
        return {"name": value, "interpreter": sys.executable}
    return {"name": value}


def default_limits(engine: str) -> dict[str, int]:
    """The limits of one of the engine's own, with their defaults.

    Args:
        engine: `"python"`, `"javascript"` or `"ruby"`.

    Raises:
        ConfigurationError: There is no such engine.
    """
    limits: dict[str, int] = _native.code_mode_limits(engine)
    return limits
