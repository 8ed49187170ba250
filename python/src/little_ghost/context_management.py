"""Conversations that outgrow the model's context window."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import _native


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextManagement:
    """Replaces older messages by a summary before a conversation fills the model's context window.

        class SupportAgent(Agent):
            context_management = ContextManagement(compression_threshold=0.75)

    The same model writes the summary, and its tokens count. Instructions and recent messages stay, and a
    tool call is never separated from its result. It also happens when a provider reports that a
    request was too long.

    Attributes:
        context_window_tokens: Size of the window of a model about which nothing is known.
        compression_threshold: Share of the window, above 0 and at most 1, from which messages are summarised.
        summary_ratio: Share of the conversation, 0.1 to 0.8, that becomes the summary.
        preserve_recent_messages: Latest messages that stay as they are, at least 2.

    Raises:
        ValueError: A number out of range.
    """

    context_window_tokens: int = 200_000
    compression_threshold: float = 0.85
    summary_ratio: float = 0.3
    preserve_recent_messages: int = 10

    def __post_init__(self) -> None:
        """Checks the numbers."""
        _native.check_agent({"context_management": self.to_dict()})

    def to_dict(self) -> dict[str, Any]:
        """The options as the engine takes them."""
        return asdict(self)
