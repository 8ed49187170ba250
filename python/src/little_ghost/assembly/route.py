"""What graphs are declared with: nodes and the routes between them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .policy import (
    ExceptionTypes,
    StepPolicy,
    check_policy,
    describe_policy,
    exception_types,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..invocation import MessageLike
    from .graph_state import GraphState
    from .table import HostTable

Condition: TypeAlias = "Callable[[GraphState], bool | Awaitable[bool]]"
"""Whether a route is taken."""

InputFunction: TypeAlias = "Callable[[GraphState], MessageLike | Awaitable[MessageLike]]"
"""What a node is asked."""


class Node:
    """A participant of a graph, and how it takes part.

    Attributes:
        participant: An agent or another assembly.
        input: Says what it is asked, unless the route that leads to it does.
        history: Whether it gets the caller's history.
        context: Whether it gets the caller's context.
        policy: How long an execution may take, and how often it is tried.
    """

    __slots__ = ("context", "history", "input", "participant", "policy")

    def __init__(
        self,
        participant: Any,
        *,
        input: InputFunction | None = None,
        history: bool = False,
        context: bool = False,
        **policy: Unpack[StepPolicy],
    ) -> None:
        """Declares a node.

        Args:
            participant: An `Agent`, `Workflow`, `Swarm` or `Graph`, a class of those, or an `AgentBuilder`.
            input: A function of the `GraphState` that gives a message. By default a node is asked the
                original request, with the results of its predecessors.
            history: Gives it the caller's history.
            context: Gives it the caller's context.
            **policy: See `StepPolicy`.

        Raises:
            TypeError: `input` is no function, or there is no such option.
        """
        self.participant = participant
        self.input = checked_function("input", input)
        self.history = history
        self.context = context
        check_policy(policy)
        self.policy = policy

    def describe(self, name: str, table: HostTable) -> dict[str, Any]:
        """The node as the engine takes it."""
        return {
            "name": name,
            "participant": table.describe(self.participant),
            "history": self.history,
            "context": self.context,
            "policy": describe_policy(self.policy, table),
            "input": key_of(self.input, table),
        }


class Edge:
    """A route of a graph.

    It leads from one node to one, from one to several that run in parallel, or from those to the node that
    waits for all of them.

    Attributes:
        source: The node, or the nodes, that it leads from.
        target: The node, or the nodes, that it leads to.
        when: Whether it is taken.
        input: What the node at its end is asked.
        max_concurrency: The most branches at work at once.
    """

    __slots__ = ("input", "max_concurrency", "source", "target", "when")

    def __init__(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str],
        *,
        when: Condition | None = None,
        input: InputFunction | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        """Declares a route.

        Args:
            source: Name of a node, or names of the last nodes of parallel branches.
            target: Name of a node, or names of the first nodes of parallel branches.
            when: A function of the `GraphState`. Of the routes with one, at most one may be true; one without
                is taken when none is.
            input: A function of the `GraphState` that gives the message for the target.
            max_concurrency: For a route to several nodes.

        Raises:
            TypeError: `when` or `input` is no function, or an end is no name.
            ValueError: The combination makes no sense.
        """
        self.source = source
        self.target = target
        self.when = checked_function("when", when)
        self.input = checked_function("input", input)
        self.max_concurrency = max_concurrency
        self._check()

    def _check(self) -> None:
        for end in (self.source, self.target):
            listed = [end] if isinstance(end, str) else end
            if not isinstance(listed, (list, tuple)) or not all(isinstance(n, str) for n in listed):
                raise TypeError(
                    f"an edge leads from a name or a list of names to another, not {end!r}"
                )
        if self.max_concurrency is not None and not isinstance(self.max_concurrency, int):
            raise TypeError(f"max_concurrency must be a whole number, not {self.max_concurrency!r}")
        forks, joins = not isinstance(self.target, str), not isinstance(self.source, str)
        problem = None
        if forks and joins:
            problem = "leads from several nodes to several; put a node between them"
        elif joins and self.when is not None:
            problem = "waits for several nodes, so it can have no condition"
        elif self.max_concurrency is not None and not forks:
            problem = "leads to one node, so it can have no max_concurrency"
        elif self.max_concurrency is not None and self.max_concurrency < 1:
            problem = "needs a max_concurrency of at least 1"
        for end in (self.source, self.target):
            if not isinstance(end, str) and (len(end) < 2 or len(set(end)) < len(end)):
                problem = "must list at least two nodes, each of them once"
        if problem is not None:
            raise ValueError(f"the edge {self.source!r} to {self.target!r} {problem}")

    def describe(self, table: HostTable) -> dict[str, Any]:
        """The route as the engine takes it."""
        return {
            "from": _names(self.source),
            "to": _names(self.target),
            "fans_in": not isinstance(self.source, str),
            "fans_out": not isinstance(self.target, str),
            "condition": key_of(self.when, table),
            "input": key_of(self.input, table),
            "max_concurrency": self.max_concurrency,
        }


class ErrorEdge:
    """A route for failures at a node, once no attempt is left.

    Attributes:
        source: The node that fails.
        target: The node that goes on.
        on: For which exceptions.
        input: What the target is asked.
    """

    __slots__ = ("input", "on", "source", "target")

    def __init__(
        self,
        source: str,
        target: str,
        *,
        on: ExceptionTypes,
        input: InputFunction | None = None,
    ) -> None:
        """Declares a route for failures.

        Args:
            source: The node that fails.
            target: The node that goes on.
            on: Exception classes. Cancellation, deadlines and failed clean-up are never caught.
            input: A function of the `GraphState`, which has the exception as `error`.

        Raises:
            TypeError: `on` holds no exception classes, or `input` is no function.
        """
        self.source = source
        self.target = target
        self.on = exception_types("on", on)
        self.input = checked_function("input", input)

    def describe(self, table: HostTable) -> dict[str, Any]:
        """The route as the engine takes it."""
        return {
            "from": self.source,
            "to": self.target,
            "on": table.key(self.on),
            "input": key_of(self.input, table),
        }


def checked_function(name: str, function: Any) -> Any:
    """A function of the `GraphState`, or None.

    Raises:
        TypeError: It is something else.
    """
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be a function of the GraphState, not {function!r}")
    return function


def key_of(function: Any, table: HostTable) -> int | None:
    """Where the engine finds a function."""
    return None if function is None else table.key(function)


def _names(end: str | Sequence[str]) -> list[str]:
    return [end] if isinstance(end, str) else list(end)
