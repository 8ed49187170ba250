"""A prepared call of a participant."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from ..errors import ProtocolError

if TYPE_CHECKING:
    from .body import Body


class WorkflowInvocation:
    """A call of a participant that is prepared, but not made before somebody asks for its answer.

    Return the last one from `perform` as it is: its answer is that of the workflow, and streams to the
    caller.
    """

    __slots__ = ("_body", "_consumed", "_name", "_outputs", "_ticket")

    def __init__(self, body: Body, ticket: int, name: str) -> None:
        """Made by `Workflow.invoke`."""
        self._body = body
        self._ticket = ticket
        self._name = name
        self._consumed = False
        self._outputs: list[Any] | None = None

    def output(self) -> Any:
        """Makes the call if need be, and waits for its answer. In `async def perform`, write `await` instead.

        Returns:
            What the participant declares as its `result`, else its text. Asked again, the same.

        Raises:
            BaseException: What kept the participant from an answer.
            ProtocolError: The invocation belongs to a call that failed before, or to `parallel`.
        """
        if self._outputs is None:
            self._outputs = self._body.settle([self._take()], 1)
        return self._outputs[0]

    def __await__(self) -> Generator[Any, None, Any]:
        """`output` for `async def perform`."""
        return self._output_async().__await__()

    async def _output_async(self) -> Any:
        if self._outputs is None:
            self._outputs = await self._body.settle_async([self._take()], 1)
        return self._outputs[0]

    def _take(self) -> int:
        """The ticket; it can be used once."""
        if self._consumed:
            raise ProtocolError(
                f"the output of the invocation of {self._name} was asked for already"
            )
        self._consumed = True
        return self._ticket

    def _ticket_for(self, body: Body) -> int | None:
        return None if self._consumed or self._body is not body else self._ticket

    def _keep(self, output: Any) -> None:
        self._outputs = [output]

    def __repr__(self) -> str:
        """Names the participant."""
        return f"<WorkflowInvocation {self._name}>"
