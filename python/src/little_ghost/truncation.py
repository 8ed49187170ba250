"""Keeps long texts within a budget of tokens."""

from __future__ import annotations

from . import _native

APPROX_BYTES_PER_TOKEN = 4
"""Bytes that count as one token. An estimate: providers tokenise differently."""


def approx_bytes_for_tokens(tokens: int) -> int:
    """The size in bytes of so many tokens, roughly."""
    return _native.approx_bytes_for_tokens(tokens)


def approx_tokens_from_byte_count(byte_count: int) -> int:
    """The tokens in so many bytes, roughly; a started token counts."""
    return _native.approx_tokens_from_byte_count(byte_count)


def approx_token_count(text: str) -> int:
    """The tokens in a text, roughly."""
    return approx_tokens_from_byte_count(len(text.encode("utf-8", "replace")))


def truncate_middle_with_token_budget(text: str, max_tokens: int) -> tuple[str, int | None]:
    """Cuts the middle out of a text that is longer than the budget.

    Args:
        text: The text.
        max_tokens: The budget, at four bytes a token.

    Returns:
        The text, and the rough number of tokens before when it was cut, else None.
    """
    return _native.truncate_middle(text.encode("utf-8", "replace").decode(), max_tokens)
