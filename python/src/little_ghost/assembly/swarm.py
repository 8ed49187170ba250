"""Swarms: agents that hand a request to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..agent import Agent
from ..builder import AgentBuilder
from ..errors import ConfigurationError
from .policy import StepPolicy, check_policy, describe_policy
from .routed import Routed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .routed import RoutedOptions
    from .table import HostTable

AgentReference: TypeAlias = "type[Agent] | Agent | AgentBuilder"
"""An agent class, an agent, or a builder of one."""

MemberReference: TypeAlias = "AgentReference | Member | str"
"""A member: the agent, or the member's name."""


class Member:
    """One agent of a swarm, and how it takes part.

    Attributes:
        agent: The agent.
        name: How others hand off to it; None for its `agent_id`.
        history: Whether it gets the caller's history.
        context: Whether it gets the caller's context.
        policy: How long it may take, and how often it is tried.
    """

    __slots__ = ("agent", "context", "history", "name", "policy")

    def __init__(
        self,
        agent: AgentReference,
        *,
        as_: str | None = None,
        history: bool = False,
        context: bool = False,
        **policy: Unpack[StepPolicy],
    ) -> None:
        """Declares a member.

        Args:
            agent: The agent.
            as_: Its name; by default its `agent_id`.
            history: Gives it the caller's history.
            context: Gives it the caller's context.
            **policy: See `StepPolicy`.

        Raises:
            TypeError: `as_` is no name, or there is no such option.
        """
        check_policy(policy)
        if as_ is not None and not (isinstance(as_, str) and as_.strip()):
            raise TypeError(f"as_ must be a name, not {as_!r}")
        self.agent = agent
        self.name = as_
        self.history = history
        self.context = context
        self.policy = policy


class Swarm(Routed):
    """Agents that hand a request to one another.

        class ProblemSolver(Swarm):
            members = [TriageAgent, BillingAgent, Member(AccountAgent, context=True)]
            start = TriageAgent
            handoffs = {TriageAgent: [BillingAgent, AccountAgent], BillingAgent: [TriageAgent]}

        run = ProblemSolver.ask("Why was I charged twice?")

    or on the spot: `Swarm(name=..., members=[...], start=...)`. One member is active at a time: it answers, or
    uses a tool to hand the request to another one. Words of members that hand off are not the
    swarm's answer. What a member says in a handoff comes from a model: never take it for a permission.

    Attributes:
        members: Agents, or `Member` where one takes part in its own way.
        start: The member that begins.
        handoffs: To whom a member may hand off. Without any, everybody may hand off to everybody else; with
            some, members that are not listed hand off to nobody.
        max_steps: The most executions of members; 20 by default.
        max_handoff_repeats: How often the same handoff may happen; 3 by default.
    """

    _kind = "swarm"

    members: Sequence[AgentReference | Member] = ()
    start: MemberReference | None = None
    handoffs: Mapping[Any, MemberReference | Sequence[MemberReference]] | None = None
    max_handoff_repeats: int | None = None

    def __init__(
        self,
        *,
        members: Sequence[AgentReference | Member] | None = None,
        start: MemberReference | None = None,
        handoffs: Mapping[Any, MemberReference | Sequence[MemberReference]] | None = None,
        max_handoff_repeats: int | None = None,
        **options: Unpack[RoutedOptions],
    ) -> None:
        """Makes a swarm; what is left out comes from the class. See the attributes.

        Args:
            members: Its agents.
            start: The member that begins.
            handoffs: To whom a member may hand off.
            max_handoff_repeats: How often the same handoff may happen.
            **options: See `RoutedOptions`.
        """
        super().__init__(
            options,
            members=members,
            start=start,
            handoffs=handoffs,
            max_handoff_repeats=max_handoff_repeats,
        )

    def _describe(self, table: HostTable) -> dict[str, Any]:
        members = [self._member(declared, table) for declared in self.members]
        names = {id(reference): name for name, references, _ in members for reference in references}

        def name_of(reference: Any) -> str:
            if isinstance(reference, str):
                return reference
            if id(reference) in names:
                return names[id(reference)]
            raise ConfigurationError(
                f"{self.assembly_id} names {_shown(reference)}, which is not among its members"
            )

        if not isinstance(self.handoffs or {}, Mapping):
            raise ConfigurationError(
                f"handoffs of {self.assembly_id} must be a dict from members to members, "
                f"not {type(self.handoffs).__name__}"
            )
        handoffs = [
            {"from": name_of(source), "to": [name_of(target) for target in _listed(targets)]}
            for source, targets in (self.handoffs or {}).items()
        ]
        return {
            **super()._describe(table),
            "members": [described for _, _, described in members],
            "start": None if self.start is None else name_of(self.start),
            "handoffs": handoffs,
            "max_handoff_repeats": self.max_handoff_repeats,
        }

    def _member(
        self, declared: Any, table: HostTable
    ) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        member = declared if isinstance(declared, Member) else Member(declared)
        agent = table.describe(member.agent)
        name = member.name or agent["id"]
        described = {
            "name": name,
            "agent": agent,
            "history": member.history,
            "context": member.context,
            "policy": describe_policy(member.policy, table),
        }
        return name, (declared, member.agent), described


def _listed(targets: Any) -> list[Any]:
    listed = list(targets) if isinstance(targets, (list, tuple, set, frozenset)) else [targets]
    if not listed or len({id(target) for target in listed}) < len(listed):
        raise ValueError("a handoff must lead to at least one member, and to each only once")
    return listed


def _shown(reference: Any) -> str:
    return getattr(reference, "__name__", None) or repr(reference)
