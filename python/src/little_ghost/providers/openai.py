"""OpenAI, and services that speak its formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from .base import ConnectionOptions, Provider

if TYPE_CHECKING:
    from typing_extensions import Unpack

Api: TypeAlias = Literal["responses", "chat_completions"]
"""The formats of OpenAI."""


class OpenAICompatible(Provider):
    """Any service that speaks an OpenAI format, such as Ollama, vLLM or llama.cpp.

    OpenAICompatible(model="qwen3:4b", base_url="http://localhost:11434/v1", api="chat_completions")
    """

    adapter_name = "openai_compatible"

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        api: Api | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier at the service.
            base_url: What paths are appended to; OpenAI's own by default.
            api_key: The key; a server on this machine needs none.
            api: The format: `"responses"` by default, or `"chat_completions"`.
            headers: Headers that are added to every request, over the provider's own.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {"base_url": base_url, "api_key": api_key, "api": api, "headers": headers}
        super().__init__(model, own, options)


class OpenAI(OpenAICompatible):
    """OpenAI.

    OpenAI(model="gpt-5.6-luna", api_key=os.environ["OPENAI_API_KEY"])

    Without an `api_key` it is that of the environment variable `OPENAI_API_KEY`.
    """

    adapter_name = "openai"


class OpenRouter(Provider):
    """OpenRouter: one key for the models of many vendors.

    OpenRouter(model="openai/gpt-5.6-luna", api_key=key, app_name="Support Console")

    A request that needs a feature is routed only to services that advertise it. Without an `api_key` it is
    that of the environment variable `OPENROUTER_API_KEY`.
    """

    adapter_name = "openrouter"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        site_url: str | None = None,
        app_name: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier at OpenRouter.
            api_key: The key.
            base_url: Another address.
            site_url: Tells OpenRouter whose site asks.
            app_name: Tells OpenRouter which application asks.
            headers: Headers that are added to every request.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {
            "api_key": api_key,
            "base_url": base_url,
            "site_url": site_url,
            "app_name": app_name,
            "headers": headers,
        }
        super().__init__(model, own, options)
