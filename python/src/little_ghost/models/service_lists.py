"""The lists of models that services keep themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .. import _native
from .catalog import CatalogSource, Records, answer

Options = Mapping[str, Any]
"""Options of a connection, such as `api_key` and `base_url`."""


class ServiceList(CatalogSource):
    """What the service behind a connection says about its models."""

    adapter: ClassVar[str]
    """The adapter of the connection."""
    options: ClassVar[tuple[str, ...]] = ("api_key", "base_url", "allow_insecure_http")
    """Options of the connection that the list needs."""

    def __init__(
        self, connection: str, options: Options | Callable[[], Options] | None = None
    ) -> None:
        """A source for a connection.

        Args:
            connection: Its name.
            options: Its options, or what gives them when they are needed.
        """
        self.name = f"{self.adapter}:{connection}"
        self._connection = connection
        self._options = options

    def refresh(self, target: str | None) -> Records:
        """See `CatalogSource`."""
        given = (self._options() if callable(self._options) else self._options) or {}
        options = {name: given[name] for name in self.options if given.get(name) is not None}
        job = _native.Job.own_models(self.adapter, self._connection, options, target)
        return answer(job)


class OpenRouterSource(ServiceList):
    """OpenRouter's own list of models: limits, prices and parameters. It is public."""

    adapter = "openrouter"


class AnthropicSource(ServiceList):
    """Anthropic's own list of models: which ones a key may use, limits and inputs."""

    adapter = "anthropic"
    options = (*ServiceList.options, "api_version")
    merge_strategies = {"supported_parameters": "union"}


class GeminiSource(ServiceList):
    """The list of models of the Gemini API: which ones a key may use, and limits."""

    adapter = "gemini"


class BedrockSource(ServiceList):
    """Amazon Bedrock's list of models in a region, and AWS's price list.

    Needs the permission `bedrock:ListFoundationModels`; prices, which are asked for when one model is
    refreshed, need `pricing:GetProducts`, and are left out without it. Without a region, in the options or where
    AWS's own tools look for it, there is nothing to ask.
    """

    adapter = "bedrock"
    options = ("region", "credentials", "profile", "api_key", "endpoint")
    merge_strategies = {"input_modalities": "union", "output_modalities": "union"}


SERVICE_LISTS: Mapping[str, type[ServiceList]] = {
    source.adapter: source
    for source in (OpenRouterSource, AnthropicSource, GeminiSource, BedrockSource)
}
"""Sources by the adapter of connections."""
