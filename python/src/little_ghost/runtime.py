"""Connections and models, shared by all agents or kept apart."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import ConfigurationError


class Runtime:
    """Configured connections and models.

    Most applications call `configure` once, or nothing at all: without providers, the keys in the
    environment (`OPENROUTER_API_KEY`, `OPENAI_API_KEY`) decide. A runtime of your own keeps a setup apart:

        staging = Runtime(
            providers={"local": {"adapter": "openai", "base_url": "http://127.0.0.1:8080/v1"}},
        )
        agent = SupportAgent(runtime=staging)

    Safe to use from any thread and event loop, and after a fork.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        *,
        providers: Mapping[str, Mapping[str, Any]] | None = None,
        models: Mapping[str, Any] | None = None,
        default_model: str | None = None,
    ) -> None:
        """Checks and builds the setup.

        Args:
            providers: Connections by name: `adapter` and its options, such as `api_key` and `base_url`.
            models: Roles by name: a dict with `target`, a `connection:model-id`, and `settings`.
            default_model: The role or `connection:model-id` of agents that choose none.

        Raises:
            ConfigurationError: Something in it cannot work.
        """
        given = {"providers": providers, "models": models, "default_model": default_model}
        for name in ("providers", "models"):
            if given[name] is not None and not isinstance(given[name], Mapping):
                raise ConfigurationError(
                    f"{name} must be a dict by name, not {type(given[name]).__name__}"
                )
        try:
            self._native = _native.Runtime(
                {name: _plain(value) for name, value in given.items() if value is not None}
            )
        except (TypeError, ValueError) as problem:
            raise ConfigurationError(f"the configuration is unusable: {problem}") from None

    def __repr__(self) -> str:
        """Names no setting: some are secret."""
        return f"<Runtime at {id(self):#x}>"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


_lock = threading.Lock()
_settings: dict[str, Any] = {}
_shared: Runtime | None = None

_UNCHANGED: Any = object()


def configure(
    *,
    providers: Mapping[str, Mapping[str, Any]] | None = _UNCHANGED,
    models: Mapping[str, Any] | None = _UNCHANGED,
    default_model: str | None = _UNCHANGED,
) -> Runtime:
    """Sets up the runtime that agents share.

    What is left out stays as an earlier call set it; None takes a setting back. Runs that have
    begun keep the runtime they began with.

    Args:
        providers: As for `Runtime`.
        models: As for `Runtime`.
        default_model: As for `Runtime`.

    Returns:
        The new shared runtime.

    Raises:
        ConfigurationError: Something in it cannot work; nothing is changed then.
    """
    global _settings, _shared
    given = {"providers": providers, "models": models, "default_model": default_model}
    with _lock:
        settings = {**_settings}
        settings.update({key: value for key, value in given.items() if value is not _UNCHANGED})
        runtime = Runtime(**settings)
        _settings, _shared = settings, runtime
        return runtime


def shared_runtime() -> Runtime:
    """The runtime of agents that have none of their own; built on first use."""
    global _shared  # noqa: PLW0603
    runtime = _shared
    if runtime is None:
        with _lock:
            if _shared is None:
                _shared = Runtime(**_settings)
            runtime = _shared
    return runtime


def forget_lock_in_child() -> None:
    """A forked child gets a lock that no thread of the parent holds."""
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()
