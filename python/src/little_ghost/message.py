"""Messages of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .content import Content, Text, ToolUse, content_from_dict

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]


_KEYS = ("role", "content", "metadata")


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """One participant's contribution to a conversation.

    Attributes:
        role: Who speaks.
        content: What is said, block by block. A string given here becomes one text block.
        metadata: Application data that travels with the message and never reaches a model.
    """

    role: Role
    content: Sequence[Content]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        role: Role,
        content: str | Content | Iterable[Content | str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        # Written out so that a string can be given for the blocks.
        put = object.__setattr__
        put(self, "role", role)
        put(self, "content", content_blocks(content))
        put(self, "metadata", {} if metadata is None else metadata)

    @property
    def text(self) -> str:
        """All visible text, without reasoning and tool traffic."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The tool calls of this message, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    def to_dict(self) -> dict[str, Any]:
        """`role`, `content` and `metadata` as JSON-like data."""
        return {
            "role": self.role,
            "content": [block.to_dict() for block in self.content],
            "metadata": dict(self.metadata),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Message:
        """Reads what `to_dict` wrote.

        Raises:
            TypeError: A value of a wrong type.
            ValueError: Unknown key or block type, missing role or field, or bad base64.
        """
        if len(value) == 2 and "role" in value and type(value.get("content")) is str:
            # Most of a long history.
            return cls(value["role"], value["content"] or ())
        if "role" not in value:
            raise ValueError("message: role is missing")
        for key in value:
            if key not in _KEYS:
                raise ValueError(
                    f"message: unknown key {key!r}; a message has role, content and metadata, and "
                    "tool calls and results are content blocks of type tool_use and tool_result"
                )
        content, metadata = value.get("content") or (), value.get("metadata")
        if type(content) is not list and (
            isinstance(content, (str, Mapping)) or not isinstance(content, Iterable)
        ):
            content = (content,)
        if metadata is not None and not isinstance(metadata, Mapping):
            raise TypeError(f"message: metadata must be a dict, not {type(metadata).__name__}")
        return cls(
            value["role"],
            tuple(_block(index, block) for index, block in enumerate(content)),
            metadata,
        )


def _block(index: int, value: Any) -> Content:
    try:
        return content_from_dict(value)
    except (TypeError, ValueError) as problem:
        error = TypeError if isinstance(problem, TypeError) else ValueError
        raise error(f"message: content[{index}]: {problem}") from None


def content_blocks(content: str | Content | Iterable[Content | str]) -> tuple[Content, ...]:
    """Blocks from what a user may write for them.

    Raises:
        TypeError: Something that is neither text nor a content block.
    """
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, Content):
        return (content,)
    if type(content) is not tuple and (
        isinstance(content, Mapping) or not isinstance(content, Iterable)
    ):
        raise TypeError(f"content must be text or content blocks, not {type(content).__name__}")
    blocks = tuple(Text(block) if isinstance(block, str) else block for block in content)
    for block in blocks:
        if not isinstance(block, Content):
            raise TypeError(f"content must be text or content blocks, not {type(block).__name__}")
    return blocks
