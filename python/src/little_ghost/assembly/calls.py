"""What the engine asks of an assembly: bodies, conditions, inputs, whether a failure matches."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from ..invocation_reader import at, read_message
from ..part import asked_of
from ..session_calls import storable_state
from ..steps import take_steps
from .body import Body, conclude
from .place import Place
from .table import HostTable

if TYPE_CHECKING:
    from collections.abc import Generator

    from ..driver import Driver


class AssemblyCalls:
    """Answers those calls for one run.

    Attributes:
        table: Participants and functions of the run.
    """

    __slots__ = ("_bodies", "_driver", "_settlements", "table")

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._bodies: dict[int, Body] = {}
        self._settlements: dict[tuple[int, int], Future[Any]] = {}
        self.table = HostTable(driver.run.runtime)

    def answer(self, kind: str, payload: dict[str, Any]) -> Any:
        """The answer of a call; it may be awaitable."""
        if kind == "settled":
            conclude(self.settlement(payload.get("scope", 0), payload["settled"]), payload)
            return None
        return take_steps(self._decide(payload))

    def _decide(self, payload: dict[str, Any]) -> Generator[Any, Any, Any]:
        code = self.table[payload["key"]]
        if payload["op"] == "matches":
            return isinstance(self._driver.exception(payload["error"]), code)
        from .graph_state import GraphState

        value = yield code(GraphState.read(payload["state"], self._driver))
        if payload["op"] == "condition":
            return bool(value)
        return at("input", read_message, value).to_dict()

    # -- bodies of workflows ----------------------------------------------------------------------

    def begin(self, call: int, payload: dict[str, Any]) -> Body:
        """The body that a call asks for, in an instance of its own."""
        scope = payload.get("scope", 0)
        declared = self.table[payload["participant"]]
        place = declared if isinstance(declared, Place) else None
        workflow: Any = self.table.participant(declared if place is None else place.reference)
        run = self._driver.run
        if scope == 0:
            # What the engine was not told at the start, and may have restored since.
            payload["context"] = storable_state(run)
        asked = asked_of(run.invocation, payload)
        body: Body = workflow._at_work(lambda own: Body(self._driver, own, scope, asked, place))
        self._bodies[call] = body
        return body

    def end(self, call: int) -> None:
        """A body is over."""
        body = self._bodies.pop(call, None)
        if body is not None:
            body.give_up()

    def has(self, call: int) -> bool:
        """Whether a call is that of a body at work."""
        return call in self._bodies

    def withdraw(self, call: int) -> None:
        """The engine gave a body up."""
        self.end(call)

    def give_up(self) -> None:
        """The run is over, or nobody wants it any more."""
        for call in tuple(self._bodies):
            self.end(call)

    def settlement(self, scope: int, number: int) -> Future[Any]:
        """What a body of `scope` waits for; it may be there before the body knows."""
        return self._settlements.setdefault((scope, number), Future())

    def forget(self, scope: int, number: int) -> None:
        """The body has it."""
        self._settlements.pop((scope, number), None)
