"""A language of programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .broker import Broker
    from .sandbox_factory import SandboxFactory
    from .session import Session


class Engine(ABC):
    """A language of programs, for engines of your own.

    One engine serves many agents and runs, perhaps at the same time: what belongs to a program belongs to its
    `Session`. Methods may be coroutine functions; plain ones are called in threads.

    Attributes:
        language: The name of the language.
    """

    language: str = "program"

    @abstractmethod
    def instructions(self, catalog: Sequence[Mapping[str, Any]]) -> str | Awaitable[str]:
        """What a model is told about the language and the tools.

        Args:
            catalog: `name`, `description` and `input_schema` of each tool.
        """

    @abstractmethod
    def open_session(
        self, broker: Broker, sandboxes: SandboxFactory, limits: Mapping[str, Any]
    ) -> Session | Awaitable[Session]:
        """Opens a session of its own for each caller.

        Args:
            broker: Makes the tool calls of programs. It stays in this process.
            sandboxes: Makes the sandboxes that programs run in.
            limits: As the application wrote them; checking them, and defaults, are the engine's.
        """
