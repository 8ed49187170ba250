"""Google's Gemini models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .base import ConnectionOptions, Provider
from .parts import CredentialResolver

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Gemini(Provider):
    """Gemini models by Google's Gemini API.

    Gemini(model="gemini-3-flash-preview", api_key=os.environ["GEMINI_API_KEY"])
    """

    adapter_name = "gemini"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier.
            api_key: The key; a server on this machine needs none.
            base_url: What paths are appended to.
            headers: Headers that are added to every request.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {"api_key": api_key, "base_url": base_url, "headers": headers}
        super().__init__(model, own, options)


class VertexAI(Provider):
    """Gemini models in a project of Google Cloud.

    VertexAI(model="gemini-3-flash-preview", project="my-project", location="europe-west4")
    """

    adapter_name = "vertex_ai"

    def __init__(
        self,
        *,
        model: str,
        project: str,
        location: str | None = None,
        access_token: str | None = None,
        credential_resolver: CredentialResolver | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier.
            project: The project of Google Cloud.
            location: Where the model runs; `"global"` by default.
            access_token: An OAuth token.
            credential_resolver: Gives a token before each attempt; a function or a coroutine function.
            base_url: Another address.
            headers: Headers that are added to every request.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {
            "project": project,
            "location": location,
            "access_token": access_token,
            "credential_resolver": credential_resolver,
            "base_url": base_url,
            "headers": headers,
        }
        super().__init__(model, own, options)
