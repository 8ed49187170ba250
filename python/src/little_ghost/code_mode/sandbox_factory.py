"""Sandboxes of programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..calling import call_with, settle
from ..errors import ConfigurationError
from ..premises import split_policy

if TYPE_CHECKING:
    from ..sandbox.sandbox import Sandbox
    from ..workspace import Workspace


class SandboxFactory:
    """Makes the sandboxes of programs from what was declared."""

    __slots__ = ("_declared",)

    def __init__(self, declared: Any = None) -> None:
        """Made for `Engine.open_session`.

        Args:
            declared: The name of a provider, a dict with `provider` and options, a class or a function that takes
                `workspace` and `runtime_paths`; `"native"` by default.
        """
        self._declared = "native" if declared is None else declared

    def make(self, workspace: Workspace, runtime_paths: Iterable[str] = ()) -> Sandbox:
        """A sandbox over a workspace, not open yet.

        Programs may write the workspace and have no network, unless a policy was declared.

        Args:
            workspace: Where programs work.
            runtime_paths: Names of its paths that programs need besides, to read.

        Raises:
            ConfigurationError: The declaration makes none.
        """
        from ..sandbox.sandbox import Sandbox

        provider, options = self._split()
        if isinstance(provider, str):
            provider = Sandbox.resolve_provider(provider)
        if isinstance(provider, type) and issubclass(provider, Sandbox):
            return provider(workspace, **_with_paths(options, runtime_paths))
        offered = {"workspace": workspace, "runtime_paths": tuple(runtime_paths)}
        made = settle(call_with(provider, **offered, **options), "give a plain function")
        if not isinstance(made, Sandbox):
            raise ConfigurationError(
                f"the sandbox of code mode must be a Sandbox, not {type(made).__name__}"
            )
        return made

    def check(self) -> None:
        """Looks for the provider.

        Raises:
            DependencyError: There is none of that name.
        """
        from ..sandbox.sandbox import Sandbox

        provider, _ = self._split()
        if isinstance(provider, str):
            Sandbox.resolve_provider(provider)

    def declaration(self) -> str | dict[str, Any]:
        """As the engine takes it: data, or that the application makes the sandboxes."""
        from ..sandbox.providers import OWN

        provider, options = self._split()
        if provider not in OWN or not _is_data(options):
            return {"host": True}
        return {**options, "provider": provider} if options else str(provider)

    def _split(self) -> tuple[Any, dict[str, Any]]:
        declared = self._declared
        if not isinstance(declared, Mapping):
            return declared, {}
        options = dict(declared)
        provider = options.pop("provider", None) or "native"
        return provider, split_policy(options)


def _is_data(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_data(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return all(_is_data(item) for item in value)
    return value is None or isinstance(value, (str, int, float))


def _with_paths(options: dict[str, Any], runtime_paths: Iterable[str]) -> dict[str, Any]:
    from ..sandbox.policy import Policy

    given = options.get("policy") or {}
    policy = given._declared() if isinstance(given, Policy) else dict(given)
    needed = dict.fromkeys(runtime_paths, "read_only")
    return {
        **options,
        "policy": {
            "files": {"root": "read_write"},
            "network": "none",
            **{name: value for name, value in policy.items() if value is not None},
            "runtime_paths": {**needed, **(policy.get("runtime_paths") or {})},
        },
    }
