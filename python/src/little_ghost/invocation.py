"""One request: what is asked, and what the application knows about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ._native import CancellationToken
from .content import Content
from .message import Message

if TYPE_CHECKING:
    import datetime

    from .prompt import TrustedPath

MessageLike: TypeAlias = str | Message | Content | Mapping[str, Any] | Sequence[Content | str]
"""A message: text, content blocks, a `Message`, or a serialised one with a `role`."""


class RunOptions(TypedDict, total=False):
    """Options of `ask`, `stream`, `ask_async`, `stream_async` and `start_execution`.

    Attributes:
        history: Messages that precede this one.
        context: Values of the request that your application vouches for, such as an account id. They
            are not shown to the model; tools find them in `context.state` and `run.invocation.context`.
        settings: Model settings such as `temperature`; they win over all others.
        metadata: JSON-like data that travels with the run.
        session_id: Identifier of the conversation; generated when absent.
        actor_id: Who asks, as your application authenticated it.
        run_id: Identifier of the run; generated when absent.
        deadline_at: When the run must end: an aware `datetime`, a naive one in local time, or
            Unix seconds. A run that reaches it is `partial`.
        timeout: The same as seconds from now. With both, the earlier one counts.
        template_paths: Folders of prompt templates, `TrustedPath` values, that come before those of the
            configuration.
        include_agent_events: Whether a stream also has the events of every agent in it, as `agent_stream` events
            that say whose they are. By default it does for workflows, swarms and graphs, and not for agents.
        cancellation_token: Cancels the run when it is cancelled.
    """

    history: Sequence[Message | Mapping[str, Any]] | None
    context: Mapping[str, Any] | None
    settings: Mapping[str, Any] | None
    metadata: Mapping[str, Any] | None
    session_id: str | None
    actor_id: str | None
    run_id: str | None
    deadline_at: datetime.datetime | float | None
    timeout: float | None
    template_paths: Sequence[TrustedPath] | None
    include_agent_events: bool | None
    cancellation_token: CancellationToken | None


@dataclass(frozen=True, slots=True)
class Invocation:
    """The request that a run answers.

    A subclass carries more, with types, and may refuse a request in `__post_init__`:

        @dataclass(frozen=True)
        class SupportInvocation(Invocation):
            account_id: str = ""

        SupportAgent.ask(SupportInvocation(message=Message("user", "Where is order 481?"), account_id="a-1"))

    Where `configure(invocation=SupportInvocation)` names it, `ask` takes its fields as options.

    Attributes:
        message: What is asked.
        history: Messages that precede it.
        context: Values of the request that the application vouches for.
        settings: Model settings of this request.
        metadata: Data that travels with the run.
        actor_id: Who asks, if the application said so.
        run_id: Identifier of the run.
        invocation_id: Identifier of the invocation; the run's unless given.
        session_id: Identifier of the conversation; the run's unless given.
        deadline_at: When the run must end, in Unix seconds, or None.
        template_paths: Folders of prompt templates that come first.
        include_agent_events: Whether a stream has the events of every agent; None where nobody said.
    """

    message: Message
    history: tuple[Message, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    actor_id: str | None = None
    run_id: str = ""
    invocation_id: str = ""
    session_id: str = ""
    deadline_at: float | None = None
    template_paths: tuple[TrustedPath, ...] = ()
    include_agent_events: bool | None = None

    def identified(self, run_id: str, invocation_id: str, session_id: str) -> Invocation:
        """The same with the identifiers that the engine generated."""
        return replace(self, run_id=run_id, invocation_id=invocation_id, session_id=session_id)

    def payload(self) -> dict[str, Any]:
        """What the engine needs of it."""
        payload = {
            "message": self.message.to_dict(),
            "history": [message.to_dict() for message in self.history],
            "settings": dict(self.settings),
            "metadata": dict(self.metadata),
            "actor_id": self.actor_id,
            "run_id": self.run_id or None,
            "invocation_id": self.invocation_id or None,
            "session_id": self.session_id or None,
            "deadline_at": self.deadline_at,
        }
        if self.include_agent_events is not None:
            payload["include_agent_events"] = self.include_agent_events
        return payload
