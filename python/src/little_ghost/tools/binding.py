"""What a tool can reach of the run that it works for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..agent import Agent
    from ..declaration import ModelChoice
    from ..run import Run
    from ..runtime import Runtime
    from .base import Tool

T = TypeVar("T", bound="Tool")


@dataclass(frozen=True, slots=True)
class Binding:
    """Agent, run, runtime and model of the tools of one run.

    The engine binds the tools of a run. Make one by hand to test a tool that reads `self.binding`; what you
    leave out is None then. What
    the model chose is no part of it, and what the application knows of the request is in `run.invocation`.

    Attributes:
        agent: The agent whose tools they are.
        run: The run.
        runtime: What the run works with.
        model: The model that was chosen, as it was declared.
    """

    # Missing only where somebody made one by hand: the code of a run need not ask.
    agent: Agent = None  # type: ignore[assignment]
    run: Run = None  # type: ignore[assignment]
    runtime: Runtime = None  # type: ignore[assignment]
    model: ModelChoice | None = None

    def replace(self, **changes: Any) -> Binding:
        """The same with some collaborators replaced."""
        return dataclasses.replace(self, **changes)

    def build(self, *classes: type[T]) -> list[T]:
        """An instance of each class, bound to this."""
        return [self.bind(cls()) for cls in classes]

    def bind(self, tool: T) -> T:
        """Binds a tool, and gives it back."""
        tool._binding = self
        return tool


UNBOUND = Binding()
"""Of tools that belong to no run."""
