"""Redaction, capture of content, and truncation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from little_ghost import (
    ContentCapture,
    Image,
    Message,
    Redactor,
    approx_bytes_for_tokens,
    approx_token_count,
    approx_tokens_from_byte_count,
    truncate_middle_with_token_budget,
)


def test_takes_secrets_out_of_nested_values() -> None:
    redactor = Redactor(redactions=["hunter2-hunter2", "short"])
    value = {
        "user": "Ann",
        "apiKey": 12,
        "list": ("Bearer abc.def", {"accessToken": {"a": 1}}),
        3: "hunter2-hunter2 short",
    }
    assert redactor(value) == {
        "user": "Ann",
        "apiKey": "[REDACTED]",
        "list": ("Bearer [REDACTED]", {"accessToken": "[REDACTED]"}),
        3: "[REDACTED] short",
    }
    assert value[3] == "hunter2-hunter2 short"
    assert redactor({"a": 1}, key="password") == "[REDACTED]"
    assert Redactor(stringify_keys=True)({3: "x"}) == {"3": "x"}
    assert "hunter2" not in repr(redactor)


def test_redacts_cycles_and_broken_text() -> None:
    cycle: dict[str, Any] = {"name": "x"}
    cycle["self"] = [cycle]
    assert Redactor()(cycle) == {"name": "x", "self": ["[CIRCULAR]"]}
    assert Redactor().scrub("a\udc80b") == "a?b"
    assert Redactor.is_sensitive_key("Set-Cookie")
    assert not Redactor.is_sensitive_key("input_tokens")


def test_captures_nothing_unless_enabled() -> None:
    assert ContentCapture().capture({"input": "hello"}) == {}
    assert ContentCapture.disabled().capture({"input": "hello"}) == {}


def test_captures_the_known_kinds_redacted() -> None:
    policy = ContentCapture(enabled=True, redactions=["a-known-secret"])
    captured = policy.capture(
        {"input": {"text": "a-known-secret", "password": 1}, "output": None, "other": 1}
    )
    assert captured == {"diagnostic_input": '{"text":"[REDACTED]","password":"[REDACTED]"}'}


def test_the_scrubber_is_redacted_again() -> None:
    seen = []

    def scrub(kind: str, value: Any) -> Any:
        seen.append((kind, value))
        return {"again": "a-known-secret"}

    policy = ContentCapture(enabled=True, redactions=["a-known-secret"], scrubber=scrub)
    captured = policy.capture({"output": "a-known-secret!"})
    assert seen == [("output", "[REDACTED]!")]
    assert captured == {"diagnostic_output": '{"again":"[REDACTED]"}'}


def test_describes_media_and_exceptions() -> None:
    policy = ContentCapture(enabled=True)
    message = Message("user", [Image(b"ABCD", "image/png")])
    try:
        raise KeyError("missing")
    except KeyError as error:
        captured = policy.capture({"input": [message], "exception": error})
    block = json.loads(captured["diagnostic_input"])[0]["content"][0]
    assert block == {"type": "image", "media_type": "image/png", "bytes": 4}
    exception = json.loads(captured["diagnostic_exception"])
    assert (exception["type"], exception["message"]) == ("KeyError", "'missing'")
    assert "test_describes_media" in exception["stacktrace"]


def test_bounds_what_is_long_and_marks_what_cannot_be_written() -> None:
    policy = ContentCapture(enabled=True, max_bytes=64)
    captured = policy.capture({"input": "é" * 500, "tool_definitions": ["x" * 500]})
    assert len(captured["diagnostic_input"].encode()) <= 64
    assert json.loads(captured["diagnostic_input"])["truncated"] is True
    assert captured["diagnostic_tool_definitions"] == '{"truncated":true}'
    assert policy.capture({"input": object()}) == {"diagnostic_input": '"[unserializable]"'}
    with pytest.raises(ValueError, match="at least 64"):
        ContentCapture(enabled=True, max_bytes=63)


def test_truncates_the_middle() -> None:
    assert (approx_bytes_for_tokens(3), approx_tokens_from_byte_count(9)) == (12, 3)
    assert approx_token_count("éé!") == 2
    assert truncate_middle_with_token_budget("12345678", 2) == ("12345678", None)
    text, tokens = truncate_middle_with_token_budget("abcdefghijklmnop", 2)
    assert (text, tokens) == ("abcd…2 tokens truncated…mnop", 4)
