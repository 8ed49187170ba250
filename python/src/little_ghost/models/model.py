"""Models that are written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..naming import snake_case
from .capabilities import ModelCapabilities
from .details import ModelDetails

if TYPE_CHECKING:
    from ..event import StreamEvent
    from ..model_request import ModelRequest


class Model(ABC):
    """What answers an agent. Subclass it to write a model in Python.

        class EchoModel(Model):
            def stream(self, request):
                text = request.messages[-1].text
                yield StreamEvent("text_delta", {"text": text})
                response = ModelResponse(Message("assistant", text), "end_turn", Usage())
                yield StreamEvent("message_stop", {"response": response})

        Agent(model=EchoModel()).ask("Hello")

    Override what differs of the properties.
    """

    @property
    def target(self) -> str:
        """`connection:model-id`; from the name of the class by default."""
        return f"python:{snake_case(type(self).__name__)}"

    @property
    def model_id(self) -> str:
        """The part of the target after the first colon."""
        return self.target.partition(":")[2]

    @property
    def role(self) -> str | None:
        """The role that selected the model, if one did."""
        return None

    @property
    def capabilities(self) -> ModelCapabilities:
        """What the model can do; everything by default."""
        return ModelCapabilities.permissive()

    @property
    def details(self) -> ModelDetails:
        """What is known about the model; nothing by default."""
        return ModelDetails(self.target)

    @abstractmethod
    def stream(self, request: ModelRequest) -> Iterator[StreamEvent] | AsyncIterator[StreamEvent]:
        """Answers a request: a generator, or an asynchronous one.

        A plain generator runs in a thread of its own unless the runtime's `concurrency` is `"inline"`; an
        asynchronous one runs on the event loop of the run, or on one of its own in a synchronous run. It is closed
        when nobody waits for the answer any more, which `request.cancellation_token` tells too.

        Args:
            request: The conversation, tools and settings.

        Yields:
            Events from `message_start` to `usage` as far as there are any, and `message_stop` with
            the `ModelResponse` as `response`.
        """

    def _to_engine(self) -> dict[str, Any]:
        details = self.details
        for name, kind in (
            ("target", str),
            ("capabilities", ModelCapabilities),
            ("details", ModelDetails),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise ConfigurationError(
                    f"{type(self).__name__}.{name} must be a {kind.__name__}, "
                    f"not {type(value).__name__}"
                )
        facts = {
            **details.attributes,
            "provenance": dict(details.provenance),
            "observed_at": details.observed_at,
        }
        return {
            "host": {
                "target": self.target,
                "model_id": self.model_id,
                "role": self.role,
                "capabilities": self.capabilities.to_dict(),
                "details": facts if details.known else {},
            }
        }

    def __repr__(self) -> str:
        """Names the model."""
        role = f" ({self.role})" if self.role else ""
        return f"<{type(self).__name__} {self.target}{role}>"
