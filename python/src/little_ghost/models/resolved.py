"""Models as they are selected."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _native
from .capabilities import ModelCapabilities
from .details import ModelDetails
from .exchange import ModelExchange
from .model import Model

if TYPE_CHECKING:
    from ..event import StreamEvent
    from ..model_request import ModelRequest
    from ..providers.parts import Parts


@dataclass(frozen=True)
class ModelConnection:
    """What an adapter of the application makes a model of.

    Attributes:
        name: The connection.
        model: The model's identifier there.
        options: Options of the connection, credentials included.
        role: The role that selects the model, if one does.
        settings: What every request starts from; they are applied without the adapter's help.
        details: What is known about the model.
    """

    name: str
    model: str
    options: Mapping[str, Any] = dataclasses.field(repr=False)
    role: str | None
    settings: Mapping[str, Any]
    details: ModelDetails


ModelAdapter = Callable[[ModelConnection], Model]
"""Makes a model for a connection with an adapter of the application."""


class SelectedModel(Model):
    """A model with the settings of the profile that selected it.

    Attributes:
        settings: What every request starts from.
        adapter: The adapter of its connection.
    """

    def __init__(self, described: Mapping[str, Any]) -> None:
        """Takes what the engine says of a selection."""
        self._target: str = described["target"]
        self._role: str | None = described["role"]
        self._details = ModelDetails.from_dict(described["details"])
        self._capabilities = ModelCapabilities.from_dict(described["capabilities"])
        self.settings: Mapping[str, Any] = described["settings"]
        self.adapter: str = described["adapter"]

    @property
    def target(self) -> str:
        """Canonical `connection:model-id`."""
        return self._target

    @property
    def role(self) -> str | None:
        """The role that was asked for, if it was one."""
        return self._role

    @property
    def capabilities(self) -> ModelCapabilities:
        """What the model can do, as far as it is known."""
        return self._capabilities

    @property
    def details(self) -> ModelDetails:
        """What is known about the model."""
        return self._details


class ResolvedModel(SelectedModel):
    """A model of a configured connection.

    `stream` sends one request outside any run, `stream_async` does it on an event loop:

        model = runtime.models.resolve("support")
        for event in model.stream(ModelRequest([Message("user", "Hello")])):
            print(event.data.get("text", ""), end="")
    """

    def __init__(
        self,
        runtime: _native.Runtime,
        described: Mapping[str, Any],
        options: Mapping[str, Any],
        parts: Parts,
        adapter: str | None = None,
    ) -> None:
        """Takes a description, the options that go over those of the connection, and its parts.

        With an adapter, the options are all there are.
        """
        super().__init__(described)
        self._runtime = runtime
        self._parts = parts
        names = ("connection", "role", "settings", "request")
        self._selection: dict[str, Any] = {
            **{name: described[name] for name in names},
            "model": described["model_id"],
            "options": dict(options),
            "host": parts.names,
        }
        if adapter is not None:
            self._selection["adapter"] = adapter
        if self._details.known:
            self._selection["details"] = described["details"]

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """Sends a request and yields its events, `message_stop` last. Closing the generator ends it.

        Raises:
            UnsupportedInputError: The request has an attachment that the model does not take.
            ProviderError: The request failed.
        """
        return ModelExchange(self._runtime, self._to_engine(), request, self._parts).events()

    def stream_async(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """`stream` for asyncio. Not a coroutine: `async for event in model.stream_async(request)`."""
        return ModelExchange(self._runtime, self._to_engine(), request, self._parts).events_async()

    def _to_engine(self) -> dict[str, Any]:
        return {"resolved": self._selection}


class AdaptedModel(SelectedModel):
    """A model that an adapter of the application made, with the settings of its profile."""

    def __init__(self, described: Mapping[str, Any], inner: Model) -> None:
        """Takes a description and the adapter's own model."""
        super().__init__(described)
        self._inner = inner
        self._capabilities = inner.capabilities
        function = inner.stream
        if inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(function):
            self.stream = self._stream_async  # type: ignore[method-assign]

    def stream(self, request: ModelRequest) -> Iterator[StreamEvent] | AsyncIterator[StreamEvent]:
        """As the adapter's model, with the settings of the profile under those of the request."""
        return self._inner.stream(self._prepared(request))

    async def _stream_async(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        stream: Any = self._inner.stream(self._prepared(request))
        if inspect.isawaitable(stream):
            stream = await stream
        async for event in stream:
            yield event

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        _native.check_attachments(
            self.target,
            [message.to_dict() for message in request.messages],
            dict(self.details.attributes),
        )
        settings = {**self.settings, **request.settings}
        most, wanted = self.details.max_output_tokens, settings.get("max_tokens")
        if most is not None and isinstance(wanted, int) and wanted > most:
            settings["max_tokens"] = most
        return dataclasses.replace(request, settings=settings)
