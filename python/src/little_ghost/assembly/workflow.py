"""Workflows: participants coordinated by ordinary Python."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..errors import AbstractMethodError, ConfigurationError, Error
from ..invocation_reader import at, read_history, read_message
from ..message import Message
from .base import Assembly
from .policy import StepPolicy, describe_policy

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from typing_extensions import Unpack

    from ..invocation import MessageLike
    from ..runtime import Runtime
    from .body import Body
    from .table import HostTable
    from .workflow_invocation import WorkflowInvocation

Participant: TypeAlias = Any
"""An `Agent`, `Workflow`, `Swarm` or `Graph`, a class of those, or an `AgentBuilder`."""


class Workflow(Assembly):
    """Participants coordinated by ordinary Python.

        class ResponseWorkflow(Workflow):
            def perform(self):
                evidence = self.invoke(ResearchAgent).output()
                return self.invoke(SupportAgent, input=f"{self.input.text} Evidence: {evidence}")

        run = ResponseWorkflow.ask("Why is transfer 481 pending?")

    `invoke` prepares a call. Reading its `output()` makes the call and waits for an intermediate answer;
    the last invocation is returned as it is, and its answer streams to the caller. `perform` may be a
    coroutine function, where it is `await self.invoke(...)`.

    `perform` runs in an instance of its own for each run, a shallow copy of the one that was asked. `ask` runs a
    plain one in the calling thread; where somebody follows the events, under asyncio, or inside of another
    assembly it has a thread of its own. A coroutine runs on the loop that asks, or on one of its own; it is cancelled
    when it still waits a second after the end of the run or of its step.
    """

    _kind = "workflow"
    _body: Body | None = None

    def __init__(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        prompt_locals: Mapping[str, Any] | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """Makes a workflow; what is left out comes from the class.

        Args:
            name: Identifier in events, steps and tools.
            description: What it is for.
            prompt_locals: What the templates of its agents may use.
            runtime: Connections and models of its own, instead of the shared ones. All participants use them.
        """
        self._declare(runtime, name=name, description=description, prompt_locals=prompt_locals)

    def perform(self) -> WorkflowInvocation | Awaitable[WorkflowInvocation]:
        """Coordinates the participants; to be written by the subclass.

        Returns:
            The final invocation, whose output nobody asked for.
        """
        raise AbstractMethodError(f"{type(self).__name__} must define perform")

    @property
    def input(self) -> Message:
        """The request."""
        return self._work.asked.message

    @property
    def history(self) -> tuple[Message, ...]:
        """Messages that precede the request."""
        return self._work.asked.history

    @property
    def context(self) -> Mapping[str, Any]:
        """What the application knows of the request."""
        return self._work.asked.context

    def invoke(
        self,
        participant: Participant,
        *,
        as_: str | None = None,
        input: MessageLike | None = None,
        history: Sequence[Message | Mapping[str, Any]] | None = None,
        context: Mapping[str, Any] | None = None,
        **policy: Unpack[StepPolicy],
    ) -> WorkflowInvocation:
        """Prepares a call; nothing is sent before its output is asked for, or it is returned.

        Args:
            participant: An agent or another assembly, or a class of those.
            as_: Its name in steps and events; by default its identifier.
            input: What it is asked instead of the workflow's own request.
            history: What precedes it, instead of the workflow's history; `[]` for nothing.
            context: What it may know of the request, instead of the workflow's context; `{}` for nothing.
                Each participant gets a copy, which becomes the state of its tools.
            **policy: See `StepPolicy`.

        Raises:
            ConfigurationError: It is no assembly.
            Error: This is not called by `perform`.
            TypeError: An option is unknown or of a wrong type.
        """
        from .workflow_invocation import WorkflowInvocation

        _check_call(as_, history, context)

        body = self._work
        table = body._driver.table
        described = table.describe(participant, body.place)
        call = {
            "participant": described,
            "name": as_,
            "message": None if input is None else at("input", read_message, input).to_dict(),
            "history": None
            if history is None
            else [message.to_dict() for message in read_history("history", history)],
            "context": None if context is None else dict(context),
            "policy": describe_policy(policy, table),
        }
        return WorkflowInvocation(body, body.invoke(call), as_ or described["id"])

    def parallel(self, *invocations: WorkflowInvocation, max_concurrency: int = 8) -> list[Any]:
        """Makes several calls at once, and waits for all. The first failure cancels the others.

        Args:
            *invocations: At least one, none of which was read.
            max_concurrency: How many may be at work at once.

        Returns:
            Their outputs, in order.

        Raises:
            BaseException: The first failure.
            ValueError: There is nothing to call.
        """
        tickets = _taken(invocations)
        outputs = self._work.settle(tickets, max_concurrency)
        return _kept(invocations, outputs)

    async def parallel_async(
        self, *invocations: WorkflowInvocation, max_concurrency: int = 8
    ) -> list[Any]:
        """`parallel` for `async def perform`."""
        tickets = _taken(invocations)
        outputs = await self._work.settle_async(tickets, max_concurrency)
        return _kept(invocations, outputs)

    def _describe(self, table: HostTable) -> dict[str, Any]:
        is_async = inspect.iscoroutinefunction(self.perform)
        return {**super()._describe(table), "can_be_dropped": is_async}

    @property
    def _work(self) -> Body:
        if self._body is None:
            raise Error("this workflow is not at work; only perform can use it")
        return self._body

    def _at_work(self, make: Callable[[Workflow], Body]) -> Body:
        """A body of an instance of its own."""
        own = copy.copy(self)
        own._body = make(own)
        return own._body


def _check_call(name: Any, history: Any, context: Any) -> None:
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise TypeError(f"as_ must be a name, not {name!r}")
    if history is not None and (isinstance(history, str) or not isinstance(history, Sequence)):
        raise TypeError(f"history must be a list of messages, not {type(history).__name__}")
    if context is not None and not isinstance(context, Mapping):
        raise TypeError(f"context must be a dict, not {type(context).__name__}")


def _taken(invocations: Sequence[Any]) -> list[int]:
    from .workflow_invocation import WorkflowInvocation

    for invocation in invocations:
        if not isinstance(invocation, WorkflowInvocation):
            raise TypeError(
                "parallel takes what invoke returned, as in parallel(self.invoke(A), self.invoke(B)), "
                f"not {type(invocation).__name__}"
            )
    return [invocation._take() for invocation in invocations]


def _kept(invocations: Sequence[WorkflowInvocation], outputs: list[Any]) -> list[Any]:
    for invocation, output in zip(invocations, outputs, strict=True):
        invocation._keep(output)
    return outputs


Performs: TypeAlias = "Callable[[Workflow], WorkflowInvocation | Awaitable[WorkflowInvocation]]"
"""A function that coordinates the participants; it gets the workflow."""


class FunctionWorkflow(Workflow):
    """A workflow whose body is a function; made by `@workflow`."""

    def __init__(
        self,
        function: Performs,
        *,
        name: str | None = None,
        description: str | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        """Takes the function's name and docstring where nothing else is given."""
        given: Any = function
        if not callable(given) or isinstance(given, type):
            raise ConfigurationError(
                f"@workflow takes a function of the workflow, not {function!r}"
            )
        super().__init__(
            name=name or getattr(function, "__name__", None),
            description=description or (function.__doc__ or "").strip() or None,
            runtime=runtime,
        )
        self._function = function

    def _at_work(self, make: Callable[[Workflow], Body]) -> Body:
        import functools

        body = super()._at_work(make)
        own: Any = body.workflow
        own.perform = functools.partial(self._function, own)
        return body


@overload
def workflow(function: Performs, /) -> FunctionWorkflow: ...


@overload
def workflow(
    *,
    name: str | None = None,
    description: str | None = None,
    runtime: Runtime | None = None,
) -> Callable[[Performs], FunctionWorkflow]: ...


def workflow(function: Performs | None = None, /, **options: Any) -> Any:
    """Makes a workflow of a function, which gets the workflow as its argument.

        @workflow
        def response(flow: Workflow) -> WorkflowInvocation:
            evidence = flow.invoke(ResearchAgent).output()
            return flow.invoke(SupportAgent, input=f"{flow.input.text} Evidence: {evidence}")

        run = response.ask("Why is transfer 481 pending?")

    Args:
        function: It may be a coroutine function. Its name and docstring become name and description.
        **options: `name`, `description` and `runtime`, as `Workflow` takes them.
    """
    if function is None:
        return lambda given: FunctionWorkflow(given, **options)
    return FunctionWorkflow(function, **options)
