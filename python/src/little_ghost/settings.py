"""The settings of an application, and what is wrong with a bad one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from .errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from .code_mode.code_mode import CodeMode
    from .events import Listener
    from .hook import Hook
    from .instrumentation import Subscriber
    from .invocation import Invocation
    from .models.catalog import CatalogSource
    from .models.resolved import ModelAdapter
    from .sandbox.sandbox import Sandbox
    from .sandbox.scope import Scope
    from .session_store import SessionStore
    from .workspace import Workspace

WorkspaceDeclaration: TypeAlias = "str | Mapping[str, Any] | Callable[..., Any] | Workspace"
"""What makes the workspace of a run, or one that is given."""

SandboxDeclaration: TypeAlias = "str | Mapping[str, Any] | Callable[..., Any] | Sandbox | Scope"
"""What makes the sandbox of a run, or one that is given."""

Concurrency: TypeAlias = Literal["thread", "inline"]


class Settings(TypedDict, total=False):
    """Settings of `configure`, `Configuration` and `Runtime`. None stands for the default.

    Attributes:
        root: The application's folder, which relative paths start from; by default the current one.
        providers: Connections by name: `adapter` and its options, such as `api_key` and `base_url`.
        models: Roles by name: a dict with `target`, a `connection:model-id`, and `settings`.
        default_model: The role or `connection:model-id` of agents that choose none.
        provider_credentials: Called with the name of a connection and of its adapter whenever a model is made;
            gives a dict of options, such as `{"api_key": ...}`, that goes over those of the connection.
        provider_adapters: Adapters of the application by name: functions of a `ModelConnection` that
            give a `Model`.
        catalog_sources: `CatalogSource` objects that `runtime.models.refresh` asks instead of the usual ones.
        service_name: Name of the service in instrumentation; `"little-ghost"` by default.
        session_store: Where conversations are kept, a `SessionStore`; by default a `MemoryStore` of the runtime.
        session_actor: Who owns the session of an `Invocation`; by default its `actor_id`. Derive it
            from authenticated identity where several tenants share a store.
        hooks: `Hook` classes or instances, called in this order around every run.
        invocation: The class of requests, a subclass of `Invocation`.
        concurrency: Where plain tools run that would block or overlap: `"thread"`, the default, starts
            threads; `"inline"` runs them one after the other where the run is driven, for tools that
            must not leave that thread. A plain tool then keeps everything of its run waiting, also a timeout:
            it is told by its `context`, and what it answers too late is dropped.
        providers_path: YAML file with `providers`; by default `config/little_ghost/providers.yml` below
            `root`, where there is one. `providers` wins over it.
        models_path: YAML file with `models` and `default_model`; by default
            `config/little_ghost/models.yml`, where there is one. `models` and `default_model` win over it.
        prompt_paths: Folders of prompt templates, first match wins; `["app/prompts"]` by default.
        subscribers: `instrumentation.Subscriber` objects, which the process tells of operations from
            the first runtime with them on.
        event_listeners: Listeners of `events`, which hear the process in the same way.
        workspace: The workspace of each run: the name of a provider such as `"directory"`, a dict with `provider` and
            its options, a class or function that makes one (see `Workspace.register_provider`), or a `Workspace` that
            all runs share and none closes.
        sandbox: The sandbox of each run, in the same way: a dict may hold the keys of a `Policy` and options of the
            sandbox, beside `provider`, which is `"native"` without one.
        code_mode: How programs of agents with code mode run, where the agents leave it open: a `CodeMode`, or a
            dict with its attributes.
        log_events_to: `"stdout"` or `"stderr"`, for events as lines of JSON. For the whole process, from
            the moment that it is set.
    """

    root: str | os.PathLike[str] | None
    providers: Mapping[str, Mapping[str, Any]] | None
    models: Mapping[str, Any] | None
    default_model: str | None
    provider_credentials: Callable[[str, str], Mapping[str, Any]] | None
    provider_adapters: Mapping[str, ModelAdapter] | None
    catalog_sources: Sequence[CatalogSource] | None
    service_name: str | None
    session_store: SessionStore | None
    session_actor: Callable[[Any], str | None] | None
    hooks: Sequence[Hook | type[Hook]] | None
    invocation: type[Invocation] | None
    concurrency: Concurrency | None
    providers_path: str | os.PathLike[str] | None
    models_path: str | os.PathLike[str] | None
    prompt_paths: Sequence[str | os.PathLike[str]] | None
    subscribers: Sequence[Subscriber] | None
    event_listeners: Sequence[Listener] | None
    log_events_to: Literal["stdout", "stderr"] | None
    workspace: WorkspaceDeclaration | None
    sandbox: SandboxDeclaration | None
    code_mode: CodeMode | Mapping[str, Any] | None


USUAL_PROMPT_PATH = "app/prompts"

DEFAULTS: dict[str, Any] = {
    "root": None,
    "providers": None,
    "models": None,
    "default_model": None,
    "provider_credentials": None,
    "provider_adapters": {},
    "catalog_sources": (),
    "service_name": "little-ghost",
    "session_store": None,
    "session_actor": None,
    "hooks": (),
    "invocation": None,
    "concurrency": "thread",
    "providers_path": None,
    "models_path": None,
    "prompt_paths": (USUAL_PROMPT_PATH,),
    "subscribers": (),
    "event_listeners": (),
    "log_events_to": None,
    "workspace": None,
    "sandbox": None,
    "code_mode": None,
}


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with containers of their own, so that callers may reuse theirs.

    Raises:
        TypeError: There is no such setting.
        ConfigurationError: A value is unusable.
    """
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if name not in DEFAULTS:
            raise TypeError(unknown_setting(name))
        checked[name] = None if value is None else _CHECKS[name](name, value)
    return checked


def unknown_setting(name: str) -> str:
    """What to tell about a name that is no setting."""
    from difflib import get_close_matches

    close = get_close_matches(name, DEFAULTS, 1)
    hint = f"did you mean {close[0]}?" if close else f"use {', '.join(DEFAULTS)}"
    return f"there is no setting {name}; {hint}"


def _bad(name: str, wanted: str, value: Any) -> ConfigurationError:
    shown = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    if isinstance(value, str) and not value.strip():
        shown = repr(value)
    return ConfigurationError(f"{name} must be {wanted}, not {shown}")


def _by_name(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _bad(name, "a dict by name", value)
    return {key: _plain(item) for key, item in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _bad(name, "a str that is not blank", value)
    return value


def _folder(name: str, value: Any) -> Path:
    from pathlib import Path

    if not isinstance(value, (str, os.PathLike)):
        raise _bad(name, "the path of a folder", value)
    try:
        found = Path(value).resolve(strict=True)
    except OSError as problem:
        raise ConfigurationError(f"{name} {value}: {problem.strerror}") from None
    if not found.is_dir():
        raise ConfigurationError(f"{name} {value} is no folder")
    return found


def _path(name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise _bad(name, "the path of a file", value)
    return os.fspath(value)


def _listed(name: str, value: Any, wanted: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise _bad(name, wanted, value)
    return tuple(value)


def _paths(name: str, value: Any) -> tuple[Any, ...]:
    paths = _listed(name, value, 'a list of folders, such as ["app/prompts"]')
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            raise _bad(f"each of {name}", "the path of a folder", path)
    return paths


def _hooks(name: str, value: Any) -> tuple[Any, ...]:
    from inspect import iscoroutinefunction

    from .hook import Hook

    hooks = _listed(name, value, "a list of Hook classes")
    for hook in hooks:
        cls = hook if isinstance(hook, type) else type(hook)
        if not issubclass(cls, Hook):
            raise _bad(f"each of {name}", "a subclass of Hook or an instance of one", hook)
        if iscoroutinefunction(cls.prepare_run):
            raise ConfigurationError(
                f"{cls.__name__}.prepare_run must be a plain function; prepare_execution may be "
                "a coroutine function"
            )
    return hooks


def _session_store(name: str, value: Any) -> Any:
    from .session_store import SessionStore

    if not isinstance(value, SessionStore):
        raise _bad(name, "a SessionStore", value)
    return value


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise _bad(name, "a function of the invocation", value)
    return value


def _credentials(name: str, value: Any) -> Any:
    if not callable(value):
        raise _bad(name, "a function of a connection and its adapter", value)
    return value


def _adapters(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _bad(name, "a dict of functions by name", value)
    for adapter, make in value.items():
        if not callable(make):
            raise _bad(f"{name}[{adapter!r}]", "a function of a ModelConnection", make)
    return dict(value)


def _sources(name: str, value: Any) -> tuple[Any, ...]:
    from .models.catalog import CatalogSource

    sources = _listed(name, value, "a list of catalog sources")
    for source in sources:
        if not isinstance(source, CatalogSource):
            raise _bad(f"each of {name}", "a CatalogSource", source)
    return sources


def _invocation(name: str, value: Any) -> Any:
    from .invocation import Invocation

    if not (isinstance(value, type) and issubclass(value, Invocation)):
        raise _bad(name, "a subclass of Invocation", value)
    return value


def _concurrency(name: str, value: Any) -> str:
    if value not in ("thread", "inline"):
        raise ConfigurationError(f'{name} must be "thread" or "inline", not {value!r}')
    return str(value)


def _subscribers(name: str, value: Any) -> tuple[Any, ...]:
    from .instrumentation import Subscriber

    subscribers = _listed(name, value, "a list of subscribers")
    for subscriber in subscribers:
        if not isinstance(subscriber, Subscriber):
            raise _bad(f"each of {name}", "an instance of a subclass of Subscriber", subscriber)
    return subscribers


def _listeners(name: str, value: Any) -> tuple[Any, ...]:
    listeners = _listed(name, value, "a list of listeners")
    for listener in listeners:
        if not callable(getattr(listener, "emit", listener)):
            raise _bad(f"each of {name}", "a function of the event", listener)
    return listeners


def _destination(name: str, value: Any) -> str:
    if value not in ("stdout", "stderr"):
        raise ConfigurationError(f'{name} must be "stdout" or "stderr", not {value!r}')
    return str(value)


def _premises(name: str, value: Any) -> Any:
    from .premises import check_premises

    problem = check_premises(name, value)
    if problem:
        raise ConfigurationError(f"{name} {problem}")
    return value


def _code_mode(name: str, value: Any) -> Any:
    from .code_mode.code_mode import CodeMode

    return CodeMode.of(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "root": _folder,
    "providers": _by_name,
    "models": _by_name,
    "default_model": _text,
    "provider_credentials": _credentials,
    "provider_adapters": _adapters,
    "catalog_sources": _sources,
    "service_name": _text,
    "session_store": _session_store,
    "session_actor": _callable,
    "hooks": _hooks,
    "invocation": _invocation,
    "concurrency": _concurrency,
    "providers_path": _path,
    "models_path": _path,
    "prompt_paths": _paths,
    "subscribers": _subscribers,
    "event_listeners": _listeners,
    "log_events_to": _destination,
    "workspace": _premises,
    "sandbox": _premises,
    "code_mode": _code_mode,
}
