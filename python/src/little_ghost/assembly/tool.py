"""Assemblies as tools of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.base import Tool
from .place import Place

if TYPE_CHECKING:
    from ..part import Part
    from .base import Assembly


class AssemblyTool(Tool):
    """An agent or another assembly that a model may ask; made by `Assembly.as_tool`.

    In an agent's run it answers in a part of that run: it starts with a copy of the working state, shares
    deadline, cancellation and request settings, and its tokens count. Its words reach the model that asked, and
    nobody else but `agent_stream` events. Called without an agent, as by `execute`, it asks in a run of its own.

    Attributes:
        assembly: What is asked.
        preserve_context: Each call of a run goes on from the conversation of the one before.
    """

    _binds = False

    def __init__(
        self,
        assembly: Assembly,
        *,
        name: str | None = None,
        description: str | None = None,
        preserve_context: bool = False,
    ) -> None:
        """Made by `Assembly.as_tool`."""
        self.assembly = assembly
        self.name = name or assembly.assembly_id
        self.description = (
            description
            or assembly.description
            or f"Delegate a task to {self.name} and get its answer."
        )
        self.preserve_context = preserve_context

    def call(self, input: str) -> Any:
        """Asks in a run of its own.

        Args:
            input: What it is asked.
        """
        result = self.assembly.ask(input).raise_for_outcome().result
        return None if result is None else result.output

    def _participant(self, part: Part) -> dict[str, Any]:
        # It also sees the prompt locals of the agent whose tool it is.
        return part.table.describe(self.assembly, Place(self.assembly, (), part))

    def _describe(self, part: Part) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "assembly": self._participant(part),
            "preserve_context": self.preserve_context,
        }
