"""What every provider can do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

from .. import _native
from ..errors import ConfigurationError, ProtocolError
from ..models.exchange import ModelExchange
from ..models.resolved import ResolvedModel, SelectedModel
from .parts import OnRetry, Parts, Sleeper, split
from .transport import Transport

if TYPE_CHECKING:
    from ..event import StreamEvent
    from ..model_request import ModelRequest
    from ..result import ModelResponse


class ConnectionOptions(TypedDict, total=False):
    """Options that all providers take.

    Attributes:
        settings: What every request starts from, such as `{"temperature": 0.2}`.
        details: Facts about the model that go over those of the catalog.
        open_timeout: Seconds until a connection must be there; 10 by default.
        read_timeout: Seconds of silence until a request fails; by default as long as reasoning models may be silent.
        allow_insecure_http: Whether plain HTTP may leave this machine, where anybody on the way can read it.
        max_response_bytes: The largest response; 50 MiB by default.
        max_retries: New attempts after failures that may pass; 2 by default.
        max_retry_delay: The longest pause before one, in seconds; 16 by default.
        transport: Carries the requests, a `Transport` or a function of a `TransportRequest`.
        sleeper: Called with seconds instead of waiting that long; a function or a coroutine function. Like the
            transport it may run in a thread of its own.
        on_retry: Called with the number of a failed attempt, its error and the pause; a function or a coroutine
            function.
    """

    settings: Mapping[str, Any] | None
    details: Mapping[str, Any] | None
    open_timeout: float | None
    read_timeout: float | None
    allow_insecure_http: bool | None
    max_response_bytes: int | None
    max_retries: int | None
    max_retry_delay: float | None
    transport: Transport | Any | None
    sleeper: Sleeper | None
    on_retry: OnRetry | None


_MAPPINGS = frozenset({"settings", "details", "credentials", "headers"})
"""Options that hold several values by name."""


class Provider(SelectedModel):
    """A connection to a model service, bound to one model.

        for event in provider.stream(ModelRequest([Message("user", "Hello")])):
            print(event.data.get("text", ""), end="")

    It is a `Model`: give it to an agent, or return it from an adapter of your own. Safe to share between
    threads and event loops. Make one of its subclasses.
    """

    adapter_name: ClassVar[str]

    def __init__(self, model: str, own: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Checks the options; those that are None count as absent.

        Args:
            model: The model's identifier at the service.
            own: Options of the adapter.
            options: The `ConnectionOptions`.

        Raises:
            ConfigurationError: An option is unknown or unusable.
        """
        kind = type(self).__name__
        if not isinstance(model, str) or not model.strip():
            raise ConfigurationError(f"model of {kind} must be a str that is not blank")
        known = ConnectionOptions.__annotations__
        for name in options:
            if name not in known:
                raise ConfigurationError(
                    f"{kind} has the unknown option {name!r}; it takes {', '.join([*own, *known])}"
                )
        given = {
            name: _copied(kind, name, value)
            for name, value in {**options, **own}.items()
            if value is not None
        }
        settings, details = given.pop("settings", {}), given.pop("details", None)
        plain, self._parts = split(given)
        name = self.adapter_name
        described, self._runtime = _made(name, model, plain, settings, details)
        super().__init__(described)
        self._selection: dict[str, Any] = {
            "connection": name,
            "adapter": name,
            "model": model,
            "options": plain,
            "settings": settings,
            "host": self._parts.names,
        }
        if self._details.known:
            self._selection["details"] = described["details"]

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """Sends a request and yields its events, `message_stop` last. Closing the generator ends it.

        Raises:
            CredentialError: The service needs a credential and there is none.
            UnsupportedInputError: The request has an attachment that the model does not take.
            ProviderError: The request failed.
        """
        return self._exchange(request).events()

    def stream_async(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """`stream` for asyncio. Not a coroutine: `async for event in provider.stream_async(request)`."""
        return self._exchange(request).events_async()

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Sends a request and waits for its whole response.

        Raises:
            ProviderError: As `stream` does.
        """
        for event in self.stream(request):
            if event.type == "message_stop":
                return _response(event)
        raise ProtocolError("the request ended without a response")

    async def complete_async(self, request: ModelRequest) -> ModelResponse:
        """`complete` for asyncio."""
        response: ModelResponse | None = None
        async for event in self.stream_async(request):
            if event.type == "message_stop":
                response = _response(event)
        if response is None:
            raise ProtocolError("the request ended without a response")
        return response

    def _selected(self, runtime: _native.Runtime, described: Mapping[str, Any]) -> ResolvedModel:
        """The model of a connection whose adapter made this."""
        own = {
            **described,
            "settings": {**self.settings, **described["settings"]},
            "capabilities": self._capabilities.to_dict(),
            "request": {},
        }
        options = self._selection["options"]
        return ResolvedModel(runtime, own, options, self._parts, self.adapter_name)

    def _exchange(self, request: ModelRequest) -> ModelExchange:
        return ModelExchange(self._runtime, self._to_engine(), request, self._parts)

    def _to_engine(self) -> dict[str, Any]:
        return {"resolved": self._selection}


def _copied(kind: str, name: str, value: Any) -> Any:
    if name not in _MAPPINGS:
        return value
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"{name} of {kind} must be a mapping, such as a dict, not {type(value).__name__}"
        )
    return dict(value)


def _made(
    name: str,
    model: str,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    details: Mapping[str, Any] | None,
) -> tuple[dict[str, Any], _native.Runtime]:
    target = f"{name}:{model}"
    profile: dict[str, Any] = {"target": target, "settings": settings}
    if details is not None:
        profile["details"] = details
    try:
        runtime = _native.Runtime(
            {"providers": {name: {"adapter": name, **options}}, "models": {"itself": profile}}
        )
    except (TypeError, ValueError) as problem:
        raise ConfigurationError(f"the options of {name} are unusable: {problem}") from None
    described = runtime.describe("itself", {})
    return {**described, "role": None}, runtime


def _response(event: StreamEvent) -> ModelResponse:
    response: ModelResponse = event.data["response"]
    return response


__all__ = ["ConnectionOptions", "Parts", "Provider"]
