"""The application's settings, and the runtime that agents share."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

from . import process
from .errors import ConfigurationError
from .settings import DEFAULTS, Settings, checked_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from typing_extensions import Unpack

    from .code_mode.code_mode import CodeMode
    from .events import Listener
    from .hook import Hook
    from .instrumentation import Subscriber
    from .invocation import Invocation
    from .models.catalog import CatalogSource
    from .models.resolved import ModelAdapter
    from .runtime import Runtime
    from .session_store import SessionStore
    from .settings import Concurrency, SandboxDeclaration, WorkspaceDeclaration

__all__ = [
    "Configuration",
    "Settings",
    "configure",
    "current_configuration",
    "shared_runtime",
    "with_configuration",
]

_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603
    _lock = threading.Lock()


process.renew_in_child(_renew_lock)


class _Building:
    """A runtime that is being built, and who waits for it."""

    __slots__ = ("done", "process", "thread")

    def __init__(self) -> None:
        self.process = os.getpid()
        self.thread = threading.get_ident()
        self.done = threading.Event()


class Configuration:
    """Settings that can be changed until their runtime is first used.

        configuration = Configuration(service_name="support-api", default_model="support")
        configuration.update(models={"support": {"target": "openrouter:openai/gpt-5.6-luna"}})

    Every setting of `Settings` can be read as an attribute. Most applications need no object of this
    class: `configure` sets up the one that all agents share.
    """

    __slots__ = ("_building", "_runtime", "_values")

    if TYPE_CHECKING:
        providers: Mapping[str, Mapping[str, Any]] | None
        models: Mapping[str, Any] | None
        default_model: str | None
        provider_credentials: Callable[[str, str], Mapping[str, Any]] | None
        provider_adapters: Mapping[str, ModelAdapter]
        catalog_sources: tuple[CatalogSource, ...]
        service_name: str
        session_store: SessionStore | None
        session_actor: Callable[[Any], str | None] | None
        hooks: tuple[Hook | type[Hook], ...]
        concurrency: Concurrency
        providers_path: str | None
        models_path: str | None
        prompt_paths: tuple[Any, ...]
        subscribers: tuple[Subscriber, ...]
        event_listeners: tuple[Listener, ...]
        log_events_to: Literal["stdout", "stderr"] | None
        workspace: WorkspaceDeclaration | None
        sandbox: SandboxDeclaration | None
        code_mode: CodeMode | None

    def __init__(self, **settings: Unpack[Settings]) -> None:
        """Takes the settings; see `Settings`.

        Raises:
            TypeError: There is no such setting.
            ConfigurationError: A value is unusable.
        """
        self._values: dict[str, Any] = checked_settings(settings)
        _log_events(self._values)
        self._runtime: Runtime | None = None
        self._building: _Building | None = None

    def update(self, **settings: Unpack[Settings]) -> Configuration:
        """Changes settings; what is left out stays, and None takes a setting back.

        Returns:
            The configuration itself.

        Raises:
            TypeError: There is no such setting.
            ConfigurationError: A value is unusable, or the runtime is in use already. Nothing is
                changed then.
        """
        checked = checked_settings(settings)
        with _lock:
            values = {**self._values, **checked}
            if values == self._values:
                return self
            if self._runtime is not None or self._building is not None:
                raise ConfigurationError(
                    "these settings are in use; configure before the first request, or keep "
                    "another setup apart with Runtime(...) or with_configuration(...)"
                )
            check_connections(values)
            self._values = values
            _log_events(checked)
        return self

    @property
    def root(self) -> Path:
        """The application's folder, with links resolved."""
        root: Path | None = self._values.get("root")
        if root is not None:
            return root
        from pathlib import Path

        return Path.cwd().resolve()

    @property
    def invocation(self) -> type[Invocation]:
        """The class of requests."""
        from .invocation import Invocation

        return self._values.get("invocation") or Invocation

    @property
    def locked(self) -> bool:
        """Whether the runtime is in use, so that nothing can be changed any more."""
        return self._runtime is not None

    @property
    def runtime(self) -> Runtime:
        """The runtime of these settings, built on first use; they are fixed from then on.

        Raises:
            ConfigurationError: Something in them cannot work; they can still be changed then.
        """
        runtime = self._runtime
        return self._build() if runtime is None else runtime

    def _build(self) -> Runtime:
        from .runtime import Runtime

        building = self._announce()
        if building is None:
            return self.runtime
        try:
            # Without the lock: hooks and listeners are user code.
            runtime = self._runtime = Runtime(self)
            return runtime
        finally:
            self._building = None
            building.done.set()

    def _announce(self) -> _Building | None:
        """Makes this thread the one that builds, or waits for the one that does."""
        with _lock:
            if self._runtime is not None:
                return None
            building = self._building
            # A forked child does not wait for a thread of its parent.
            if building is None or building.process != os.getpid():
                self._building = mine = _Building()
                return mine
        if building.thread == threading.get_ident():
            raise ConfigurationError("the runtime is being built; what it is made of cannot use it")
        building.done.wait()
        return None

    def __getattr__(self, name: str) -> Any:
        """The value of a setting, or its default."""
        if name not in DEFAULTS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        value = self._values.get(name)
        return DEFAULTS[name] if value is None else value

    def __repr__(self) -> str:
        """Names the settings that are given, and no value: some are secret."""
        given = sorted(name for name, value in self._values.items() if value is not None)
        return f"<Configuration {', '.join(given)}>" if given else "<Configuration>"


def _log_events(values: Mapping[str, Any]) -> None:
    if "log_events_to" in values:
        from .events import log_to

        log_to(values["log_events_to"])


def check_connections(values: Mapping[str, Any]) -> Any:
    """The engine's own runtime for the connections and models of settings and their files.

    Raises:
        ConfigurationError: Something in them cannot work.
    """
    from ._native import Runtime

    own = list(values.get("provider_adapters") or ())
    described = {**model_settings(values), "host_adapters": own}
    if "providers" in described:
        described["providers"] = _told(described["providers"], own)
    try:
        return Runtime(described)
    except (TypeError, ValueError) as problem:
        raise ConfigurationError(f"the configuration is unusable: {problem}") from None


def _told(providers: Mapping[str, Any], own: list[str]) -> dict[str, Any]:
    # What the engine is told of connections: objects stay here, and what adapters of the application are given.
    from .models.parts import told

    return {
        name: {"adapter": options["adapter"]} if options.get("adapter") in own else told(options)
        for name, options in providers.items()
    }


def model_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """`providers`, `models` and `default_model` as they are in force, files included.

    Raises:
        ConfigurationError: A file is unusable.
    """
    from ._native import read_configuration_files

    names = ("providers", "models", "default_model")
    given = {name: values[name] for name in names if values.get(name) is not None}
    root = values.get("root")
    if root is None:
        from pathlib import Path

        root = Path.cwd()
    files = read_configuration_files(
        str(root), values.get("providers_path"), values.get("models_path")
    )
    return {**files, **given}


_default = Configuration()
_current: ContextVar[Configuration | None] = ContextVar("little_ghost_configuration", default=None)


def current_configuration() -> Configuration:
    """The settings in force here: of the innermost `with_configuration`, or else the application's."""
    return _current.get() or _default


def shared_runtime() -> Runtime:
    """The runtime of agents that have none of their own.

    Raises:
        ConfigurationError: The settings or the environment cannot work.
    """
    return current_configuration().runtime


def configure(**settings: Unpack[Settings]) -> Configuration:
    """Sets up what agents share, before the first of them is asked.

        little_ghost.configure(default_model="openrouter:openai/gpt-5.6-luna", service_name="support")

    Without it, the keys in the environment (`OPENROUTER_API_KEY`, `OPENAI_API_KEY`) decide. What is
    left out stays as an earlier call set it; None takes a setting back. The first request fixes the settings.

    Args:
        **settings: See `Settings`.

    Returns:
        The configuration in force.

    Raises:
        TypeError: There is no such setting.
        ConfigurationError: A value cannot work, or a request was made already. Nothing is changed then.
    """
    return current_configuration().update(**settings)


@contextmanager
def with_configuration(
    configuration: Configuration | None = None, **settings: Unpack[Settings]
) -> Iterator[Configuration]:
    """Has agents use other settings within a `with` block: in this thread or task, and in what it starts.

        with little_ghost.with_configuration(providers={"local": ...}, default_model="local:small"):
            SupportAgent.ask("Where is order 481?")

    Args:
        configuration: The settings; by default new ones, without those outside the block.
        **settings: Settings of the new configuration, or changes to the one given.

    Yields:
        The configuration in force.
    """
    chosen = Configuration() if configuration is None else configuration
    if settings:
        chosen.update(**settings)
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)
