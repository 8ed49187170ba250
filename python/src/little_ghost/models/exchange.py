"""One model request outside a run."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Generator
from typing import TYPE_CHECKING, Any

from .. import _native
from .._native import CALL, CANCELLED, DONE, EVENT
from ..errors import Error, error_from_value
from ..event import StreamEvent
from ..overlay import overlaid
from ..result import ModelResponse
from ..usage import Usage

if TYPE_CHECKING:
    from ..model_request import ModelRequest
    from ..providers.aside import Aside
    from ..providers.parts import Parts


class ModelExchange:
    """Sends one request to a model of the engine and hands its events on."""

    __slots__ = ("_aside", "_model", "_native", "_request")

    def __init__(
        self,
        runtime: _native.Runtime,
        model: Any,
        request: ModelRequest,
        parts: Parts | None = None,
    ) -> None:
        self._model = model
        self._request = request
        invocation: dict[str, Any] = {"message": "(one model request)"}
        if request.deadline_at is not None:
            invocation["deadline_at"] = request.deadline_at
        self._native = _native.Run(overlaid(runtime), invocation, request.cancellation_token)
        self._aside: Aside | None = None
        if parts is not None and parts.names:
            from ..providers.aside import Aside

            self._aside = Aside(self._native, parts)

    def events(self) -> Generator[StreamEvent, None, None]:
        """The events; leaving early closes the connection."""
        from ..pump import waiter

        native = self._native
        wait = waiter(native.fd)
        items: deque[Any] = deque()
        self._start()
        try:
            while True:
                native.drain(items, True)
                if not items:
                    wait(None)
                while items:
                    item = items.popleft()
                    if self._is_end(item):
                        self._raise_failure()
                        return
                    event = self._event(item, on_loop=False)
                    if event is not None:
                        yield event
        finally:
            self._leave()

    async def events_async(self) -> AsyncGenerator[StreamEvent, None]:
        """The events, on the running loop."""
        from ..waker import Waker

        waker = Waker(self._native, deliver=True)
        self._start()
        try:
            while True:
                while waker.items:
                    item = waker.items.popleft()
                    if self._is_end(item):
                        self._raise_failure()
                        return
                    event = self._event(item, on_loop=True)
                    if event is not None:
                        yield event
                await waker.wait()
        finally:
            self._leave()
            waker.dispose()

    def _start(self) -> None:
        self._native.start({"events": True, "kind": "model"})

    @staticmethod
    def _is_end(item: Any) -> bool:
        return type(item) is not StreamEvent and item[0] == DONE

    def _leave(self) -> None:
        self._native.interrupt(None)
        if self._aside is not None:
            self._aside.close()

    def _event(self, item: Any, *, on_loop: bool) -> StreamEvent | None:
        if type(item) is StreamEvent:
            return item
        if item[0] == EVENT:
            return StreamEvent(item[1], {key: _read(key, value) for key, value in item[2].items()})
        if item[0] == CANCELLED and self._aside is not None:
            self._aside.withdraw(item[1])
        elif item[0] == CALL and item[2] != "entrypoint" and self._aside is not None:
            self._aside.begin(item[1], item[3], on_loop=on_loop)
        elif item[0] == CALL:
            answer = {"model": self._model, "request": self._request.to_dict()}
            self._native.complete(item[1], answer)
        return None

    def _raise_failure(self) -> None:
        _, _, _, _, error, raised, _ = self._native.report()
        failure = raised if raised is not None else error
        if failure is not None:
            raise (
                error_from_value(failure) if self._aside is None else self._aside.exception(failure)
            )
        if self._native.model_response() is None:
            raise Error("the model request ended without a response")


def _read(key: str, value: Any) -> Any:
    if key == "response" and isinstance(value, dict):
        return ModelResponse.from_dict(value)
    if key == "usage":
        return Usage.from_dict(value)
    if key == "tool_use":
        from ..content import tool_use_from_dict

        return tool_use_from_dict(value)
    return value
