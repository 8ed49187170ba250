"""What a tool can reach of the run that it works for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..agent import Agent
    from ..declaration import ModelChoice
    from ..premises import Premises
    from ..run import Run
    from ..runtime import Runtime
    from ..sandbox.sandbox import Sandbox
    from ..sandbox.scope import Scope
    from ..workspace import Workspace
    from .base import Tool

T = TypeVar("T", bound="Tool")


class Binding:
    """Agent, run, runtime and model of the tools of one run, and its workspace and sandbox. It cannot be changed.

    The engine binds the tools of a run. Make one by hand to test a tool that reads `self.binding`; what you
    leave out is None then. What
    the model chose is no part of it, and what the application knows of the request is in `run.invocation`.

    Attributes:
        agent: The agent whose tools they are.
        run: The run.
        runtime: What the run works with.
        model: The model that was chosen, as it was declared.
    """

    __slots__ = ("_premises", "_sandbox", "_workspace", "agent", "model", "run", "runtime")

    # Missing only where somebody made one by hand: the code of a run need not ask.
    agent: Agent
    run: Run
    runtime: Runtime
    model: ModelChoice | None

    def __init__(
        self,
        agent: Agent | None = None,
        run: Run | None = None,
        runtime: Runtime | None = None,
        model: ModelChoice | None = None,
        *,
        workspace: Workspace | None = None,
        sandbox: Sandbox | Scope | None = None,
        premises: Premises | None = None,
    ) -> None:
        """Holds what it is given; `premises` is for the engine, which gives it in place of the two before it."""
        given = {
            "agent": agent,
            "run": run,
            "runtime": runtime,
            "model": model,
            "_workspace": workspace,
            "_sandbox": sandbox,
            "_premises": premises,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def workspace(self) -> Workspace | None:
        """The workspace: the one that was given, else that of the sandbox or of the run."""
        if self._workspace is not None:
            return self._workspace
        if self._sandbox is not None:
            return self._sandbox.workspace
        found: Workspace | None = self._of_run("workspace")
        return found

    @property
    def sandbox(self) -> Sandbox | Scope | None:
        """The sandbox: the one that was given, else that of the run."""
        found: Sandbox | Scope | None = self._sandbox
        return self._of_run("sandbox") if found is None else found

    def replace(self, **changes: Any) -> Binding:
        """The same with some collaborators replaced."""
        same = {name.lstrip("_"): getattr(self, name) for name in self.__slots__}
        return type(self)(**{**same, **changes})

    def build(self, *classes: type[T]) -> list[T]:
        """An instance of each class, bound to this."""
        return [self.bind(cls()) for cls in classes]

    def bind(self, tool: T) -> T:
        """Binds a tool, and gives it back."""
        tool._binding = self
        return tool

    def _of_run(self, name: str) -> Any:
        premises = self._premises
        if premises is None:
            return None if self.run is None else getattr(self.run, name)
        return getattr(premises, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a binding cannot be changed; use replace({name}=...)")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Binding):
            return NotImplemented
        return all(getattr(self, name) is getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(id(getattr(self, name)) for name in self.__slots__))

    def __repr__(self) -> str:
        """Names the agent and the run."""
        return f"Binding(agent={self.agent!r}, run={self.run!r})"

    if TYPE_CHECKING:
        _premises: Premises | None
        _sandbox: Sandbox | Scope | None
        _workspace: Workspace | None


UNBOUND = Binding()
"""Of tools that belong to no run."""
