"""Subagents without an agent that delegates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import _native
from .agent_path import ROOT, validate
from .configuration import shared_runtime
from .errors import ConfigurationError
from .invocation_reader import read_deadline
from .managed import Closable
from .subagent import Subagent
from .subagent_service import Desk, Observer, Service
from .tools.base import Tool

if TYPE_CHECKING:
    import datetime

    from ._native import CancellationToken
    from .agent import Agent
    from .builder import AgentBuilder
    from .context import RunContext
    from .runtime import Runtime
    from .session import Session
    from .subagent import SubagentLimits
    from .tools.binding import Binding

Mode: TypeAlias = Literal["sync", "async"]
"""Whether to wait for the answer."""

Answer: TypeAlias = "dict[str, Any]"
"""What a model would read: `status`, and what belongs to it."""


class SubagentManager(Closable):
    """Coordinates subagents for an application that has no agent for it. Agents get one of their own from `subagents`.

        with SubagentManager([ResearchAgent]) as manager:
            manager.spawn("research", "fees", "What does a transfer cost?")
            # {"status": "finished", "subagent_id": "/root/fees", "kind": "research", "turn": 1, "response": "..."}
            manager.send_message("/root/fees", "And abroad?", "async")
            manager.wait()

    Turns of different subagents work at the same time, those of one in the order of its messages. They begin with the
    first use: their code runs on the event loop of that use, or in threads. A limit that is reached and a turn that
    failed are told by the `status` of an answer. With a session, kinds that persist can be gone on with later, by
    another manager with the same session.

    Attributes:
        kinds: What can be created, by name.
    """

    def __init__(
        self,
        subagents: Iterable[type[Agent] | Agent | AgentBuilder | Subagent],
        *,
        limits: SubagentLimits | None = None,
        runtime: Runtime | None = None,
        session: Session | None = None,
        path: str = ROOT,
        observer: Observer | None = None,
        cancellation_token: CancellationToken | None = None,
        timeout: float | None = None,
        deadline_at: datetime.datetime | float | None = None,
    ) -> None:
        """Makes a manager; nothing is created yet.

        Args:
            subagents: The kinds, as an agent declares them.
            limits: Bounds of them.
            runtime: Connections and models of its own, instead of the shared ones.
            session: Whom the conversations belong to that persist; without one, none does.
            path: The path that those of subagents start with.
            observer: Called with the `event` of each `subagent` event; what it raises is ignored.
            cancellation_token: Stops all of them when it is cancelled.
            timeout: Seconds from now on until all of them are stopped.
            deadline_at: The same as a moment: a `datetime` or Unix seconds.

        Raises:
            ConfigurationError: There are no kinds, or two of one name, or limits cannot work.
            ValueError: `path` is none.
        """
        listed = [one if isinstance(one, Subagent) else Subagent(one) for one in subagents]
        if not listed:
            raise ConfigurationError("a SubagentManager needs at least one kind of subagent")
        desk = Desk(name="subagents", subagents=listed, subagent_limits=limits, runtime=runtime)
        desk._path = validate(path)
        self.kinds: Mapping[str, Subagent] = MappingProxyType({one.kind: one for one in listed})
        self._service = Service(
            desk,
            runtime or shared_runtime(),
            session=session,
            token=cancellation_token,
            deadline_at=read_deadline(deadline_at, timeout),
            observer=observer,
        )

    def spawn(
        self,
        kind: str,
        task_name: str,
        task: str,
        mode: Mode = "sync",
        *,
        context: RunContext | None = None,
    ) -> Answer:
        """Creates a subagent and gives it its first task.

        Args:
            kind: One of `kinds`.
            task_name: The last part of its path: 1 to 40 lower-case letters, digits and underscores.
            task: What it is asked.
            mode: `"sync"` waits for its answer, `"async"` does not.
            context: Of the work that this is a part of; ends the wait, and is where it stands in traces.

        Raises:
            ToolError: There is no such kind, the name is taken or none, or the manager is closed.
            CancelledError, DeadlineExceededError: The manager or the context was stopped.
        """
        return self._operate("spawn_subagent", _spawn(kind, task_name, task, mode), context)

    async def spawn_async(
        self,
        kind: str,
        task_name: str,
        task: str,
        mode: Mode = "sync",
        *,
        context: RunContext | None = None,
    ) -> Answer:
        """`spawn` for asyncio."""
        given = _spawn(kind, task_name, task, mode)
        return await self._operate_async("spawn_subagent", given, context)

    def send_message(
        self,
        subagent_id: str,
        message: str,
        mode: Mode = "sync",
        *,
        context: RunContext | None = None,
    ) -> Answer:
        """Sends a message, which a subagent reads after all that it has to do already. See `spawn`."""
        given = {"subagent_id": subagent_id, "message": message, "mode": mode}
        return self._operate("send_message_to_subagent", given, context)

    async def send_message_async(
        self,
        subagent_id: str,
        message: str,
        mode: Mode = "sync",
        *,
        context: RunContext | None = None,
    ) -> Answer:
        """`send_message` for asyncio."""
        given = {"subagent_id": subagent_id, "message": message, "mode": mode}
        return await self._operate_async("send_message_to_subagent", given, context)

    def interject(
        self, subagent_id: str, message: str, *, context: RunContext | None = None
    ) -> Answer:
        """Says something to a subagent at work, and waits for its next response. See `spawn`."""
        given = {"subagent_id": subagent_id, "message": message}
        return self._operate("interject_subagent", given, context)

    async def interject_async(
        self, subagent_id: str, message: str, *, context: RunContext | None = None
    ) -> Answer:
        """`interject` for asyncio."""
        given = {"subagent_id": subagent_id, "message": message}
        return await self._operate_async("interject_subagent", given, context)

    def wait(
        self, subagent_ids: Sequence[str] | None = None, *, context: RunContext | None = None
    ) -> Answer:
        """Waits until subagents are done, for at most `wait_timeout` of the limits.

        Args:
            subagent_ids: Which; by default all.
            context: Ends the wait.
        """
        return self._operate("wait_for_subagents", _given(subagent_ids=subagent_ids), context)

    async def wait_async(
        self, subagent_ids: Sequence[str] | None = None, *, context: RunContext | None = None
    ) -> Answer:
        """`wait` for asyncio."""
        given = _given(subagent_ids=subagent_ids)
        return await self._operate_async("wait_for_subagents", given, context)

    def list(
        self, kind: str | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> Answer:
        """One page of the subagents, those first that changed last, with those of earlier managers of the session.

        Args:
            kind: Only of that kind.
            limit: Entries of a page.
            cursor: Where it begins: the `next_cursor` of the page before.
        """
        return self._operate("list_subagents", _given(kind=kind, limit=limit, cursor=cursor), None)

    async def list_async(
        self, kind: str | None = None, *, limit: int = 20, cursor: str | None = None
    ) -> Answer:
        """`list` for asyncio."""
        given = _given(kind=kind, limit=limit, cursor=cursor)
        return await self._operate_async("list_subagents", given, None)

    def tools(self, binding: Binding | None = None) -> Sequence[Tool]:
        """The five tools for an agent's model. As a provider, the manager itself may be among an agent's `tools`.

        Args:
            binding: What the agent can reach; not needed.
        """
        described = [
            {"kind": one.kind, "description": one.description} for one in self.kinds.values()
        ]
        return [ManagedTool(self, tool) for tool in _native.subagent_tools(described)]

    def close(self) -> None:
        """Stops all subagents. Doing it again is fine.

        Raises:
            CleanupError: Some do not stop in time.
        """
        self._service.close()

    async def close_async(self) -> None:
        """`close` for asyncio."""
        await self._service.close_async()

    def _operate(self, name: str, given: dict[str, Any], context: RunContext | None) -> Answer:
        operation = None if context is None else context.agent_operation_id
        answered: Answer = self._service.operate(name, given, operation, context)
        return answered

    async def _operate_async(
        self, name: str, given: dict[str, Any], context: RunContext | None
    ) -> Answer:
        operation = None if context is None else context.agent_operation_id
        answered: Answer = await self._service.operate_async(name, given, operation, context)
        return answered

    def __repr__(self) -> str:
        """Names the kinds."""
        return f"<{type(self).__name__} {', '.join(self.kinds)}>"


class ManagedTool(Tool):
    """One of the tools of a manager."""

    def __init__(self, manager: SubagentManager, specification: Mapping[str, Any]) -> None:
        """Made by `SubagentManager.tools`."""
        self._manager = manager
        self.name = specification["name"]
        self.description = specification["description"]
        self._schema: Mapping[str, Any] = specification["input_schema"]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the input."""
        return self._schema

    def invoke(self, given: Mapping[str, Any], context: RunContext) -> Answer:
        """Has the manager do it."""
        return self._manager._operate(self.name, dict(given), context)


def _spawn(kind: str, task_name: str, task: str, mode: str) -> dict[str, Any]:
    return {"kind": kind, "task_name": task_name, "task": task, "mode": mode}


def _given(**options: Any) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, (tuple, list)) else value
        for name, value in options.items()
        if value is not None
    }
