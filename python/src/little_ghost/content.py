"""Content blocks: the shared vocabulary of messages, models and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias


def _encode(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode("ascii")


def _decode(value: Mapping[str, Any]) -> bytes:
    data: str = value["data"]
    if not isinstance(data, str):
        raise TypeError(f"{value['type']}: data must be a str, not {type(data).__name__}")
    if value.get("encoding") != "base64":
        return data.encode()
    import base64

    return base64.b64decode(data, validate=True)


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str

    def to_dict(self) -> dict[str, Any]:
        """The serialised block."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True, slots=True)
class Image:
    """An image.

    Attributes:
        data: The original bytes.
        media_type: MIME type such as `image/png`.
        name: File name or label.
    """

    data: bytes
    media_type: str
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The serialised block, with the bytes as base64."""
        return _attachment("image", self.data, self.media_type, self.name)


@dataclass(frozen=True, slots=True)
class Document:
    """A document such as a PDF.

    Attributes:
        data: The original bytes.
        media_type: MIME type such as `application/pdf`.
        name: File name or label.
    """

    data: bytes
    media_type: str
    name: str

    def to_dict(self) -> dict[str, Any]:
        """The serialised block, with the bytes as base64."""
        return _attachment("document", self.data, self.media_type, self.name)


def _attachment(kind: str, data: bytes, media_type: str, name: str | None) -> dict[str, Any]:
    block = {"type": kind, "data": _encode(data), "encoding": "base64", "media_type": media_type}
    if name is not None:
        block["name"] = name
    return block


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning of the model, visible or opaque.

    Attributes:
        text: Visible text, or empty.
        signature: Signature over `text`, exactly as the provider sent it.
        redacted_content: Bytes that only the provider can read; excludes text and signature.
        details: Provider-specific objects.
    """

    text: str = ""
    signature: str | None = None
    redacted_content: bytes | None = None
    details: Sequence[Mapping[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The serialised block."""
        block: dict[str, Any] = {"type": "reasoning", "text": self.text}
        if self.signature is not None:
            block["signature"] = self.signature
        if self.redacted_content is not None:
            block["data"] = _encode(self.redacted_content)
            block["encoding"] = "base64"
        if self.details is not None:
            block["details"] = list(self.details)
        return block


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call that the model requested.

    Attributes:
        id: Identifier that the result repeats.
        name: Name of the tool.
        input: Arguments that the model chose.
    """

    id: str
    name: str
    input: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The serialised block."""
        return {"type": "tool_use", "id": self.id, "name": self.name, "input": dict(self.input)}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one tool call.

    Attributes:
        tool_use_id: Identifier of the call.
        content: What the model reads: text, or blocks.
        status: `"success"` or `"error"`.
    """

    tool_use_id: str
    content: str | Sequence[Content]
    status: Literal["success", "error"] = "success"

    def to_dict(self) -> dict[str, Any]:
        """The serialised block."""
        content = self.content
        return {
            "type": "tool_result",
            "tool_use_id": self.tool_use_id,
            "content": content
            if isinstance(content, str)
            else [block.to_dict() for block in content],
            "status": self.status,
        }


Content: TypeAlias = Text | Image | Document | Reasoning | ToolUse | ToolResult
"""Any content block."""


def tool_use_from_dict(value: Mapping[str, Any]) -> ToolUse:
    """Reads a serialised tool call."""
    return ToolUse(value["id"], value["name"], value["input"])


def tool_result_from_dict(value: Mapping[str, Any]) -> ToolResult:
    """Reads a serialised tool result."""
    content = value["content"]
    if not isinstance(content, str):
        content = tuple(content_from_dict(block) for block in content)
    return ToolResult(value["tool_use_id"], content, value["status"])


def content_from_dict(value: Mapping[str, Any] | Content | str) -> Content:
    """Reads a serialised block; a bare string is text, and a block is itself.

    Raises:
        TypeError: No block at all.
        ValueError: Unknown block type, missing field or bad base64.
    """
    if isinstance(value, str):
        return Text(value)
    if type(value) is not dict:
        if isinstance(value, Content):
            return value
        if not isinstance(value, Mapping):
            raise TypeError(f"content must be text or content blocks, not {type(value).__name__}")
    kind = value.get("type")
    try:
        if kind == "text":
            return Text(value["text"])
        if kind == "image":
            return Image(_decode(value), value["media_type"], value.get("name"))
        if kind == "document":
            return Document(_decode(value), value["media_type"], value["name"])
        if kind == "tool_use":
            return tool_use_from_dict(value)
        if kind == "tool_result":
            return tool_result_from_dict(value)
        if kind == "reasoning":
            return Reasoning(
                value.get("text") or "",
                value.get("signature"),
                _decode(value) if "data" in value else None,
                value.get("details"),
            )
    except KeyError as missing:
        raise ValueError(f"{kind}: {missing.args[0]} is missing") from None
    raise ValueError(f"content: unknown block type {kind!r}")
