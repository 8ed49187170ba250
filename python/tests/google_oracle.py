"""Google's own client: told what a request of ours says, and given the same streams to read."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

import pydantic
from google.genai import Client, errors, types
from google.oauth2.credentials import Credentials
from pydantic.alias_generators import to_camel

Data = dict[str, Any]

STOP_REASONS = {
    "FINISH_REASON_UNSPECIFIED": "end_turn",
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "content_filter",
    "OTHER": "other",
    "NO_IMAGE": "no_image",
    "IMAGE_OTHER": "image_other",
    "TOO_MANY_TOOL_CALLS": "too_many_tool_calls",
    "MALFORMED_FUNCTION_CALL": None,
    "UNEXPECTED_TOOL_CALL": None,
    "MISSING_THOUGHT_SIGNATURE": None,
    "MALFORMED_RESPONSE": None,
}
"""Our word for each of the vendor's reasons; none where the answer is of no use."""


def client(adapter: str, connection: Data, base_url: str) -> Client:
    """A client of the service behind `adapter`, at the address of a scenario."""
    root, version = base_url.rstrip("/").rsplit("/", 1)
    options = types.HttpOptions(base_url=root, api_version=version)
    if adapter == "gemini":
        return Client(vertexai=False, api_key="test-key", http_options=options)
    return Client(
        vertexai=True,
        project="test-project",
        location=connection.get("location", "global"),
        credentials=Credentials(token="test-token"),
        http_options=options,
    )


def told(body: Data) -> tuple[list[types.Content], types.GenerateContentConfig]:
    """What the client must be told to send `body`.

    Raises pydantic.ValidationError for a field or a value that the vendor's types do not have.
    """
    rest = dict(body)
    contents = [types.Content.model_validate(content) for content in rest.pop("contents")]
    generation = rest.pop("generationConfig", {})
    types.GenerationConfig.model_validate(generation)
    return contents, types.GenerateContentConfig.model_validate({**generation, **rest})


FOREIGN = {"args", "response", "labels", "parametersJsonSchema", "responseJsonSchema"}
"""Fields whose values are the application's own."""


def normal(value: Any, key: str = "") -> Any:
    """A body without what means nothing.

    That is the alphabet of base64, the spelling of names, the role of instructions, and an empty
    configuration.
    """
    if key in FOREIGN:
        return value
    if isinstance(value, dict):
        names = {name: to_camel(name) for name in value}
        kept = {names[name]: normal(item, names[name]) for name, item in value.items()}
        if key == "systemInstruction":
            kept.pop("role", None)
        if kept.get("generationConfig") == {}:
            del kept["generationConfig"]
        return kept
    if isinstance(value, list):
        return [normal(item) for item in value]
    if key in ("thoughtSignature", "data"):
        return base64.urlsafe_b64decode(value.replace("+", "-").replace("/", "_"))
    return value


@dataclass
class Reading:
    """What the client read of one answer."""

    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str | None, str | None, Data]] = field(default_factory=list)
    signatures: list[bytes] = field(default_factory=list)
    finish: str | None = None
    blocked: str | None = None
    usage: Data = field(default_factory=dict)
    status: int | None = None
    failed: bool = False

    def stop_reason(self) -> str | None:
        """Our word for the end; none when the answer is of no use."""
        if self.failed or not (self.finish or self.blocked):
            return None
        if self.blocked:
            return "content_filter"
        reason = STOP_REASONS[self.finish or ""]
        return "tool_use" if reason == "end_turn" and self.calls else reason


def ask(api: Client, model: str, body: Data) -> Reading:
    """Sends what `body` says and reads the answer to its end."""
    contents, config = told(body)
    reading = Reading()
    try:
        stream = api.models.generate_content_stream(model=model, contents=contents, config=config)
        for chunk in stream:
            take(chunk, reading)
    except errors.APIError as error:
        reading.failed, reading.status = True, error.code
    except (pydantic.ValidationError, OSError):
        reading.failed = True
    except Exception as error:  # The client lets its HTTP library's exceptions through.
        assert type(error).__module__.startswith("httpx"), error
        reading.failed = True
    return reading


def take(chunk: types.GenerateContentResponse, reading: Reading) -> None:
    """Adds one chunk."""
    if chunk.usage_metadata:
        reading.usage = usage(chunk.usage_metadata)
    if chunk.prompt_feedback and chunk.prompt_feedback.block_reason:
        reading.blocked = chunk.prompt_feedback.block_reason.value
    for candidate in chunk.candidates or []:
        if candidate.index:
            continue
        for part in (candidate.content and candidate.content.parts) or []:
            if part.thought_signature:
                reading.signatures.append(part.thought_signature)
            if part.function_call:
                call = part.function_call
                reading.calls.append((call.id, call.name, call.args or {}))
            elif part.thought:
                reading.thoughts += part.text or ""
            else:
                reading.text += part.text or ""
        if candidate.finish_reason:
            reading.finish = candidate.finish_reason.value


def usage(counts: types.GenerateContentResponseUsageMetadata) -> Data:
    """The counts as we name them, without those that are zero."""
    cached = counts.cached_content_token_count or 0
    found = {
        "input_tokens": (counts.prompt_token_count or 0)
        - cached
        + (counts.tool_use_prompt_token_count or 0),
        "output_tokens": counts.candidates_token_count or 0,
        "cache_read_tokens": cached,
        "reasoning_tokens": counts.thoughts_token_count or 0,
    }
    return {name: count for name, count in found.items() if count}
