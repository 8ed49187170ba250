"""Engines by the names that declarations use."""

from __future__ import annotations

from typing import Any

from .. import _native
from ..errors import ConfigurationError
from .built_in import BuiltInEngine, JavascriptEngine, PythonEngine, RubyEngine
from .engine import Engine

_OWN: dict[str, type[BuiltInEngine]] = {
    "python": PythonEngine,
    "javascript": JavascriptEngine,
    "ruby": RubyEngine,
}
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
    if name in _OWN:
        raise ValueError(f"{name!r} is one of the engine's own; use another name")
    _registered[name] = engine


def resolve_engine(value: str | Engine) -> Engine:
    """The engine that a declaration means.

    Args:
        value: One of the library's own by name, such as `"python"`; a registered name; or an engine itself.

    Raises:
        ConfigurationError: There is no engine of that name.
    """
    if isinstance(value, Engine):
        return value
    if value in _OWN:
        return _OWN[value]()
    try:
        return _registered[value]
    except (KeyError, TypeError):
        raise ConfigurationError(
            f"there is no code-mode engine {value!r}; use {', '.join((*_OWN, *_registered))}, "
            "or register one"
        ) from None


def is_own(value: str | Engine) -> bool:
    """Whether a declaration means one of the library's own."""
    return value in _OWN if isinstance(value, str) else isinstance(value, BuiltInEngine)


def declared_engine(value: str | Engine) -> dict[str, Any]:
    """The engine as the engine takes it."""
    found = resolve_engine(value)
    if isinstance(found, BuiltInEngine):
        return found._declaration()
    return {"key": 0, "language": found.language}


def default_limits(engine: str) -> dict[str, int]:
    """The limits of one of the engine's own, with their defaults.

    Args:
        engine: `"python"`, `"javascript"` or `"ruby"`.

    Raises:
        ConfigurationError: There is no such engine.
    """
    limits: dict[str, int] = _native.code_mode_limits(engine)
    return limits
