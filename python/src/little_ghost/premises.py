"""The workspace and the sandbox of a run, or of one agent in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .calling import call_with, in_event_loop
from .errors import ConfigurationError

if TYPE_CHECKING:
    from .run import Run
    from .sandbox.sandbox import Sandbox
    from .sandbox.scope import Scope
    from .workspace import Workspace

Steps: TypeAlias = Generator[Any, Any, None]

T = TypeVar("T")


class Premises:
    """Makes, opens and closes what was declared; what was given is only used.

    What nobody declared is made for whoever asks: the application's root, and a sandbox that isolates nothing
    and may read it.
    """

    __slots__ = ("_declared", "_lock", "_register", "_run", "_sandbox", "_workspace")

    def __init__(
        self,
        run: Run,
        workspace: Any,
        sandbox: Any,
        register: Callable[[Any, Callable[[Any], Any]], Any],
    ) -> None:
        self._run = run
        self._declared = (workspace, sandbox)
        self._register = register
        self._lock = threading.RLock()
        self._workspace: Workspace | None = None
        self._sandbox: Sandbox | Scope | None = None

    def open(self) -> Steps:
        """Opens what was declared, step by step: yields what may be awaitable.

        Raises:
            ConfigurationError: A declaration cannot work.
            Exception: What code of the application, or the system, said.
        """
        workspace, sandbox = self._declared
        if workspace is not None:
            yield from self._open_workspace(workspace)
        if sandbox is not None:
            if not _is_given(sandbox) and self._workspace is None:
                yield from self._open_workspace("directory")
            yield from self._open_sandbox(sandbox)

    @property
    def workspace(self) -> Workspace | None:
        """The workspace. None before a declared one is open, and after a run that needed none."""
        if self._workspace is None and self._may_provide(*self._declared):
            return self._provide_workspace()
        return self._workspace

    @property
    def sandbox(self) -> Sandbox | Scope | None:
        """The sandbox. None before a declared one is open, and after a run that needed none."""
        if self._sandbox is None and self._may_provide(self._declared[1]):
            with self._lock:
                if self.workspace is not None:
                    return self._provide_sandbox()
        return self._sandbox

    def _may_provide(self, *declared: Any) -> bool:
        return all(one is None for one in declared) and self._run.outcome is None

    def _provide_workspace(self) -> Workspace:
        with self._lock:
            if self._workspace is None:
                made: Workspace = make_workspace("directory", self._run)
                self._own(made)
                made.open(self._run)
                self._workspace = made
            return self._workspace

    def _provide_sandbox(self) -> Sandbox | Scope:
        with self._lock:
            if self._sandbox is None:
                made: Sandbox = make_sandbox("unrestricted", self._run, self.workspace)
                self._own(made)
                made.open(self._run)
                self._sandbox = made
            return self._sandbox

    def _open_workspace(self, declared: Any) -> Steps:
        made = declared
        if not _is_given(declared):
            made = yield make_workspace(declared, self._run)
            _must_be(made, "workspace")
            self._own(made)
        yield open_here(made, self._run)
        self._workspace = made

    def _open_sandbox(self, declared: Any) -> Steps:
        made = declared
        if not _is_given(declared):
            made = yield make_sandbox(declared, self._run, self._workspace)
            _must_be(made, "sandbox")
            self._own(made)
        else:
            yield open_here(made.workspace, self._run)
        yield open_here(made, self._run)
        self._sandbox = made
        self._workspace = made.workspace

    def _own(self, made: Any) -> None:
        self._register(made, close_here)


def make_workspace(declared: Any, run: Run) -> Any:
    """The workspace that a declaration means, awaitable or not; it is not open."""
    from .workspace import Workspace

    provider, options = _read(declared, "directory")
    if isinstance(provider, str):
        provider = Workspace.resolve_provider(provider)
    if isinstance(provider, type) and issubclass(provider, Workspace):
        root = run.runtime.root
        given = options.get("root")
        return provider(**{**options, "root": root if given is None else root / given})
    return _make(provider, options, run)


def make_sandbox(declared: Any, run: Run, workspace: Any) -> Any:
    """The sandbox that a declaration means, awaitable or not; it is not open."""
    from .sandbox.sandbox import Sandbox

    provider, options = _read(declared, "native")
    if isinstance(provider, str):
        provider = Sandbox.resolve_provider(provider)
    if isinstance(provider, type) and issubclass(provider, Sandbox):
        return provider(workspace, **split_policy(options))
    return _make(provider, options, run, workspace=workspace)


def split_policy(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the keys of a policy among them, as `policy` and the others.

    Raises:
        PolicyError: They have both.
    """
    from .errors import PolicyError
    from .sandbox.policy import POLICY_KEYS

    flat = {name: value for name, value in options.items() if name in POLICY_KEYS}
    if not flat:
        return dict(options)
    if options.get("policy") is not None:
        raise PolicyError("give policy, or its keys beside the other options, but not both")
    others = {name: value for name, value in options.items() if name not in POLICY_KEYS}
    return {**others, "policy": flat}


def check_premises(kind: str, value: Any) -> str | None:
    """What is wrong with a declaration of a workspace or a sandbox, or None."""
    if isinstance(value, (str, Mapping)) or _is_given(value) or callable(value):
        return None
    return (
        f"must be a {kind.capitalize()}, the name of a provider, a dict with provider and options, or a function, "
        f"not {type(value).__name__}"
    )


def open_here(resource: Any, run: Run | None) -> Any:
    """Opens a workspace or a sandbox in the way that fits this thread; may return an awaitable."""
    if in_event_loop() and hasattr(resource, "open_async"):
        return resource.open_async(run)
    return resource.open(run)


def close_here(resource: Any) -> Any:
    """Closes one in the way that fits this thread; may return an awaitable."""
    if in_event_loop() and hasattr(resource, "close_async"):
        return resource.close_async()
    return resource.close()


def _read(declared: Any, default: str) -> tuple[Any, dict[str, Any]]:
    if not isinstance(declared, Mapping):
        return declared, {}
    options = dict(declared)
    return options.pop("provider", None) or default, options


def _make(provider: Any, options: Mapping[str, Any], run: Run, **more: Any) -> Any:
    if isinstance(provider, type):
        return provider(**options, **more)
    if not callable(provider):
        raise ConfigurationError(
            f"{provider!r} makes nothing; declare a name, a class or a function"
        )
    offered = {"runtime": run.runtime, "invocation": run.invocation}
    return call_with(provider, **offered, **options, **more)


def _is_given(value: Any) -> bool:
    return not isinstance(value, type) and callable(getattr(value, "_premises_kind", None))


def _must_be(made: Any, kind: str) -> None:
    if not _is_given(made) or made._premises_kind() != kind:
        raise ConfigurationError(
            f"the declaration must make a {kind.capitalize()}, not {type(made).__name__}"
        )
