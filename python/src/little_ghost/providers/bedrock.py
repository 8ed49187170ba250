"""Models of Amazon Bedrock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .base import ConnectionOptions, Provider
from .parts import AwsKeys, CredentialResolver

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Bedrock(Provider):
    """Models of Amazon Bedrock, by the Converse API.

        Bedrock(model="anthropic.claude-sonnet-4-5-20250929-v1:0", region="eu-central-1")

    No SDK is needed. A boto3 client can send the requests instead:

        Bedrock(model=model, client=boto3.client("bedrock-runtime"))
    """

    adapter_name = "bedrock"

    def __init__(
        self,
        *,
        model: str,
        region: str | None = None,
        api_key: str | None = None,
        profile: str | None = None,
        credentials: AwsKeys | Mapping[str, str] | None = None,
        credential_resolver: CredentialResolver | None = None,
        client: Any | None = None,
        endpoint: str | None = None,
        max_frame_bytes: int | None = None,
        clock: Callable[[], Any] | None = None,
        **options: Unpack[ConnectionOptions],
    ) -> None:
        """A connection.

        Args:
            model: The model's identifier, or that of an inference profile.
            region: The region, by default that of the environment or of the AWS profile.
            api_key: A key of Bedrock's own, instead of signatures.
            profile: The profile of the AWS files whose keys sign; by default that of `AWS_PROFILE`.
            credentials: Keys; by default they are found as AWS's SDKs find them.
            credential_resolver: Gives keys before each attempt; a function or a coroutine function.
            client: Sends the requests by its `converse_stream`, such as a client of boto3.
            endpoint: Another address.
            max_frame_bytes: The largest event; 16 MiB by default.
            clock: Gives the time for signatures, as a `datetime` or Unix seconds.
            **options: See `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unusable.
        """
        own = {
            "region": region,
            "api_key": api_key,
            "profile": profile,
            "credentials": credentials,
            "credential_resolver": credential_resolver,
            "client": client,
            "endpoint": endpoint,
            "max_frame_bytes": max_frame_bytes,
            "clock": clock,
        }
        super().__init__(model, own, options)
