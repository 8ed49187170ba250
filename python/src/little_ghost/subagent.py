"""Subagents: agents that a model creates, talks to and waits for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .errors import ConfigurationError

if TYPE_CHECKING:
    from .agent import Agent
    from .builder import AgentBuilder
    from .declaration import ModelChoice, ToolDeclaration
    from .part import Part
    from .run import Run


@dataclass(frozen=True, slots=True)
class SubagentRequest:
    """Which subagent a factory is to make.

    Attributes:
        path: Its path, such as `"/root/review_api"`.
        conversation_id: Identifier of its conversation, the same in later runs.
        run: The run that it works in.
    """

    path: str
    conversation_id: str
    run: Run


@dataclass(frozen=True, slots=True)
class SubagentLimits:
    """Bounds of the subagents that one agent has in one run. None is the default.

    Attributes:
        max_concurrent: Turns that work at the same time; 8.
        max_identities: New subagents; 20.
        max_turns: Turns of all subagents together; 100.
        max_queued_turns_per_identity: Messages that wait for one subagent, and interjections into one turn; 8.
        max_message_chars: Characters of one task or message; 50,000.
        max_response_chars: Characters of a response that the asking model reads; 100,000.
        wait_timeout: Seconds that `wait_for_subagents` watches; 30.
        close_timeout: Seconds that subagents have to stop at the end; 5.
    """

    max_concurrent: int | None = None
    max_identities: int | None = None
    max_turns: int | None = None
    max_queued_turns_per_identity: int | None = None
    max_message_chars: int | None = None
    max_response_chars: int | None = None
    wait_timeout: float | None = None
    close_timeout: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is given, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Subagent:
    """A kind of agent that a model may delegate to.

        class SupportAgent(Agent):
            subagents = [ResearchAgent, Subagent(ReviewAgent, kind="review", model="small")]

    Attributes:
        agent: The agent, a class of agents or a builder; None with a factory.
        kind: What the model asks for; by default the agent's identifier.
        description: What the model reads; by default the agent's description.
        model: Answers instead of the agent's own model; or a function that chooses one from the `Run`.
        tools: What it may call instead of the agent's own tools; or a function of the `Run` that gives the list.
        factory: Makes the agent for each turn, from a `SubagentRequest`.
        persist: Whether later runs of the same session may go on with its conversations.
    """

    __slots__ = ("agent", "description", "factory", "kind", "model", "persist", "tools")

    def __init__(
        self,
        agent: type[Agent] | Agent | AgentBuilder | None = None,
        *,
        kind: str | None = None,
        description: str | None = None,
        model: ModelChoice | Callable[[Run], ModelChoice] | None = None,
        tools: Sequence[ToolDeclaration] | Callable[[Run], Sequence[ToolDeclaration]] | None = None,
        factory: Callable[[SubagentRequest], Agent] | None = None,
        persist: bool = True,
    ) -> None:
        """Declares a kind; see the attributes.

        Raises:
            ConfigurationError: There is neither an agent nor a factory with a kind, or a value of a wrong type.
        """
        if (agent is None) == (factory is None):
            raise ConfigurationError("a Subagent needs an agent or a factory, and not both")
        if kind is not None and not isinstance(kind, str):
            raise ConfigurationError(f"the kind of a Subagent must be a name, not {kind!r}")
        if factory is not None and not callable(factory):
            raise ConfigurationError(
                f"the factory of a Subagent must be a function, not {factory!r}"
            )
        made = None if agent is None else _instance(agent)
        name = kind or (made.agent_id if made is not None else None)
        if not name or not name.strip():
            raise ConfigurationError("a Subagent with a factory needs a kind")
        self.agent = agent
        self.kind: str = name
        self.description: str = description or (made.description if made is not None else "") or ""
        self.model = model
        self.tools = tools
        self.factory = factory
        self.persist = persist

    def __repr__(self) -> str:
        """Names the kind."""
        return f"<Subagent {self.kind!r}>"


class Delegate:
    """A kind of subagent in one run, as the table of the run has it.

    Attributes:
        around: The part of the run that delegates.
    """

    __slots__ = ("_subagent", "around")

    def __init__(self, subagent: Subagent, around: Part) -> None:
        self._subagent = subagent
        self.around = around

    def open(self, path: str, conversation_id: str) -> Agent:
        """The agent for one turn.

        Raises:
            ConfigurationError: The factory makes something else.
        """
        subagent, run = self._subagent, self.around.run
        if subagent.factory is None:
            agent = _instance(subagent.agent)
        else:
            agent = subagent.factory(SubagentRequest(path, conversation_id, run))
            if not _is_agent(agent):
                raise ConfigurationError(
                    f"the factory of the subagent {subagent.kind!r} must return an Agent, "
                    f"not {type(agent).__name__}"
                )
        overrides = {
            name: value(run) if callable(value) and not hasattr(value, "_to_engine") else value
            for name, value in (("model", subagent.model), ("tools", subagent.tools))
            if value is not None
        }
        if overrides:
            from .declaration import check_declaration

            check_declaration(f"Subagent({subagent.kind!r})", overrides)
            # The agent itself may be at work elsewhere.
            agent = copy.copy(agent)
            agent.__dict__.update(overrides)
        agent._check()
        return agent


def describe_subagents(part: Part, declared: Iterable[Any]) -> dict[str, Any] | None:
    """The kinds of subagents of an agent, as the engine takes them.

    Args:
        part: The part of the run that the agent answers.
        declared: What it declares.
    """
    kinds = []
    for item in declared:
        subagent = item if isinstance(item, Subagent) else Subagent(item)
        kinds.append(
            {
                "kind": subagent.kind,
                "description": subagent.description,
                "persist": subagent.persist,
                "key": part.table.key(Delegate(subagent, part)),
            }
        )
    if not kinds:
        return None
    limits = part.agent.subagent_limits  # type: ignore[attr-defined]
    return {"kinds": kinds, "limits": {} if limits is None else limits.to_dict()}


def check_subagents(value: Any) -> str | None:
    """What to write instead of a bad declaration; None for a good one."""
    if callable(value) and not isinstance(value, type):
        return None
    if isinstance(value, (str, dict)) or not isinstance(value, Sequence):
        return f"must be a list, such as subagents = [ResearchAgent], not {type(value).__name__}"
    seen: set[str] = set()
    for item in value:
        try:
            subagent = item if isinstance(item, Subagent) else Subagent(item)
        except ConfigurationError as problem:
            return f"is not usable: {problem}"
        if subagent.kind in seen:
            return f"has two kinds called {subagent.kind!r}; give one of them another kind"
        seen.add(subagent.kind)
    return None


def check_subagent_limits(value: Any) -> str | None:
    """As `check_subagents`, for the limits."""
    if not isinstance(value, SubagentLimits):
        return f"must be SubagentLimits(...), not {type(value).__name__}"
    from . import _native

    try:
        _native.check_subagent_limits(value.to_dict())
    except ValueError as problem:
        return f"is not usable: {problem}"
    return None


def _instance(reference: Any) -> Agent:
    agent = reference
    if isinstance(reference, type) and _is_agent_class(reference):
        agent = reference()
    elif not _is_agent(reference) and callable(getattr(reference, "build", None)):
        agent = reference.build()
    if not _is_agent(agent):
        raise ConfigurationError(
            f"a subagent must be an Agent, a class of agents or a builder, not {reference!r}"
        )
    found: Agent = agent
    return found


def _is_agent(value: Any) -> bool:
    from .agent import Agent

    return isinstance(value, Agent)


def _is_agent_class(value: type) -> bool:
    from .agent import Agent

    return issubclass(value, Agent)
