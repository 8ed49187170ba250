"""How the programs of an agent run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import ConfigurationError

if TYPE_CHECKING:
    from .engine import Engine


@dataclass(frozen=True, slots=True)
class CodeMode:
    """How the programs of an agent run. What is None is as the application configured it.

        class ResearchAgent(Agent):
            tools = [help_center_lookup, confirm]
            code_mode = CodeMode(excluding=["confirm"], limits={"wall_seconds": 60})

    Attributes:
        engine: `"python"`, the default, `"javascript"`, `"ruby"`, the name of a registered engine, or an `Engine`,
            such as `PythonEngine(interpreter)`.
        sandbox: Where programs run, as for `Settings.sandbox`: `"native"` by default. It is made for each program, over
            a temporary workspace that it may write, and without network unless a policy says otherwise.
        limits: The engine's limits to change, such as `wall_seconds`; see `default_limits`.
        excluding: Names of tools that stay in the conversation, where the model calls them as steps of their own.

    Raises:
        ConfigurationError: A value of a wrong type, a limit that the engine named beside it does not have, or a sandbox
            that cannot be made. What depends on the application's configuration fails a run as it begins.
    """

    engine: str | Engine | None = None
    sandbox: Any = None
    limits: Mapping[str, Any] | None = None
    excluding: Sequence[str] | None = None

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ConfigurationError(f"CodeMode: {problem}")
        try:
            _native.code_mode_check(_declared(self))
        except (TypeError, ValueError) as unusable:
            raise ConfigurationError(f"CodeMode: {unusable}") from None

    @classmethod
    def of(cls, value: Any) -> CodeMode | None:
        """What a declaration means: True, a dict of these attributes, or nothing.

        Raises:
            ConfigurationError: It means nothing.
        """
        if value is None or value is False or isinstance(value, cls):
            return value or None
        if value is True:
            return cls()
        if not isinstance(value, Mapping):
            raise ConfigurationError(
                f"code_mode must be True, a CodeMode or a dict, not {type(value).__name__}"
            )
        known = [attribute.name for attribute in fields(cls)]
        unknown = [name for name in value if name not in known]
        if unknown:
            raise ConfigurationError(
                f"code_mode has no option {unknown[0]!r}; use {', '.join(known)}"
            )
        return cls(**value)

    def over(self, configured: CodeMode | None) -> CodeMode:
        """This, and of what it leaves open what `configured` says; limits are not mixed."""
        if configured is None:
            return self
        names = [attribute.name for attribute in fields(self)]
        own = {name: getattr(self, name) for name in names}
        return CodeMode(
            **{
                name: getattr(configured, name) if value is None else value
                for name, value in own.items()
            }
        )

    def _to_engine(self) -> dict[str, Any]:
        """As the engine takes it."""
        from .engines import declared_engine
        from .sandbox_factory import SandboxFactory

        engine = declared_engine(self.engine or "python")
        sandboxes = SandboxFactory(self.sandbox)
        sandboxes.check()
        answer: dict[str, Any] = {
            "engine": engine,
            "limits": dict(self.limits or {}),
            "except": list(self.excluding or ()),
        }
        if not isinstance(engine, dict) or "key" not in engine:
            answer["sandbox"] = sandboxes.declaration()
        return answer


def _declared(mode: CodeMode) -> dict[str, Any]:
    """What can be checked without a run, as the engine takes it."""
    from .engines import declared_engine, is_own
    from .sandbox_factory import SandboxFactory

    declared: dict[str, Any] = {"limits": dict(mode.limits or {})}
    # Another one may be registered yet.
    if mode.engine is not None and is_own(mode.engine):
        declared["engine"] = declared_engine(mode.engine)
    if mode.sandbox is not None:
        declared["sandbox"] = SandboxFactory(mode.sandbox).declaration()
    return declared


def _problem(mode: CodeMode) -> str | None:
    from .engine import Engine

    engine: Any = mode.engine
    limits: Any = mode.limits
    if not isinstance(engine, (str, Engine, type(None))):
        return f"engine must be a name or an Engine, not {type(engine).__name__}"
    if not isinstance(limits, (Mapping, type(None))):
        return f"limits must be a dict, not {type(limits).__name__}"
    sandbox = mode.sandbox
    if isinstance(sandbox, Mapping):
        sandbox = sandbox.get("provider")
    if not (sandbox is None or isinstance(sandbox, str) or callable(sandbox)):
        return (
            "sandbox must be the name of a provider, a dict with provider and options, or a class or function that "
            f"makes one for each program, not {type(sandbox).__name__}"
        )
    excluded: Any = mode.excluding
    if excluded is not None and (
        isinstance(excluded, (str, Mapping))
        or not isinstance(excluded, Sequence)
        or not all(isinstance(name, str) for name in excluded)
    ):
        return "excluding must be a list of names of tools"
    return None
