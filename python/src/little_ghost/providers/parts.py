"""What an application puts in the place of parts of a provider."""

from __future__ import annotations

import calendar
import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypedDict

from ..errors import ConfigurationError, CredentialError
from ..models.parts import METHODS, NAMED
from .client_transport import ClientTransport

_YEAR_10000 = 253_402_300_800
"""The first second in Unix time that a date of AWS cannot express."""

Sleeper: TypeAlias = Callable[[float], Awaitable[None] | None]
"""Waits so many seconds before the next attempt, or only notes them."""

OnRetry: TypeAlias = Callable[[int, BaseException, float], Awaitable[None] | None]
"""Told, before the pause, of a failed attempt: its number from 1, the error, and the pause in seconds."""


class AwsKeys(TypedDict, total=False):
    """Keys for AWS, as a `credential_resolver` may give them."""

    access_key_id: str
    secret_access_key: str
    session_token: str | None


CredentialResolver: TypeAlias = Callable[[], Any]
"""Called before each attempt. Gives a token for Vertex AI; `AwsKeys`, or an object with such
attributes, for Bedrock."""


class Parts:
    """Objects of the application by the option that takes them.

    Attributes:
        names: Those options.
    """

    __slots__ = ("_objects",)

    def __init__(self, objects: Mapping[str, Any]) -> None:
        """Takes the options of a connection that are such objects.

        Raises:
            ConfigurationError: One cannot do what it is for.
        """
        self._objects = {name: part for name, part in objects.items() if part is not None}
        for name, part in self._objects.items():
            method = METHODS[name]
            if not hasattr(part, method) and not (name == "transport" and callable(part)):
                wanted = "a function" if method == "__call__" else f"an object with {method}"
                raise ConfigurationError(f"{name} must be {wanted}, not {type(part).__name__}")
        if "client" in self._objects and "transport" in self._objects:
            raise ConfigurationError("a client sends requests itself; leave out the transport")

    @property
    def names(self) -> list[str]:
        """The options that are there."""
        return list(self._objects)

    @property
    def options(self) -> dict[str, bool]:
        """What stands for them among the options of the connection."""
        return {name: True for name in NAMED if name in self._objects}

    def transport(self) -> Callable[..., Any]:
        """The function that carries a request."""
        client = self._objects.get("client")
        if client is not None:
            return ClientTransport(client).stream
        transport = self._objects["transport"]
        function: Callable[..., Any] = getattr(transport, "stream", transport)
        return function

    def function(self, operation: str) -> Callable[..., Any]:
        """What does that operation of the engine."""
        function: Callable[..., Any] = self._objects[operation]
        return function

    def __repr__(self) -> str:
        """Names them: they may hold credentials."""
        return f"<Parts {', '.join(self._objects)}>"


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], Parts]:
    """The options of a connection as the engine takes them, and the parts among them."""
    parts = Parts({name: value for name, value in options.items() if name in METHODS})
    plain = {name: value for name, value in options.items() if name not in METHODS}
    return {**plain, **parts.options}, parts


def answer_of(operation: str, value: Any) -> Any:
    """What the engine is answered when the part returned `value`.

    Raises:
        ConfigurationError: It is no time.
        CredentialError: It is no credential.
    """
    if operation == "clock":
        return _time(value)
    if operation == "credential_resolver":
        return value if isinstance(value, str) else _keys(value)
    return None


def _time(value: Any) -> float:
    timestamp = getattr(value, "timestamp", None)
    if callable(timestamp):
        value = timestamp()
    elif isinstance(value, time.struct_time):
        value = calendar.timegm(value)
    # A bool is an int, but no time; nor is what signatures cannot write in four digits of a year.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigurationError(f"the clock must give a datetime, not {type(value).__name__}")
    if not 0 <= value < _YEAR_10000:
        raise ConfigurationError(f"the clock must give the time, not {value!r}")
    return float(value)


def _keys(found: Any) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for name, other in (
        ("access_key_id", "access_key"),
        ("secret_access_key", "secret_key"),
        ("session_token", "token"),
    ):
        if isinstance(found, Mapping):
            value = found.get(name)
        else:
            # Those of boto3 have the shorter names.
            value = getattr(found, name, None) or getattr(found, other, None)
        keys[name] = None if value is None else str(value)
    if keys["access_key_id"] is None or keys["secret_access_key"] is None:
        raise CredentialError(
            "the credential_resolver must give a token, or an object with access_key_id and "
            f"secret_access_key; it gave {type(found).__name__}"
        )
    return keys


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it needs an event loop."""
    call = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)
