"""Anthropic, and services that speak its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .base import ConnectionOptions, Provider

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Anthropic(Provider):
    """Anthropic, by the Messages API.

    Anthropic(model="claude-sonnet-4-5", api_key=os.environ["ANTHROPIC_API_KEY"])
    """

    adapter_name = "anthropic"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api_version: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier.
            api_key: The key; a server on this machine needs none.
            base_url: What paths are appended to.
            api_version: The version of the API; `"2023-06-01"` by default.
            headers: Headers that are added to every request, such as `anthropic-beta`.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {
            "api_key": api_key,
            "base_url": base_url,
            "api_version": api_version,
            "headers": headers,
        }
        super().__init__(model, own, options)
