"""Tools that the engine brings itself."""

from __future__ import annotations

from typing import Any

from ..errors import Error
from .base import Tool


class EngineTool(Tool):
    """One of the engine's own tools, as callbacks see it, such as that by which members of a swarm hand off."""

    def __init__(self, name: str) -> None:
        """Names the tool."""
        self.name = name

    def call(self, input: Any) -> Any:
        """Cannot be called from here."""
        raise Error(f"{self.name} is a tool of the engine; only a model can call it")
