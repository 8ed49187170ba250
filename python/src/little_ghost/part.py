"""One agent at work in a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from .context import RunContext
from .errors import ConfigurationError
from .jsonable import is_jsonable
from .message import Message
from .opening import Opening
from .premises import Premises

if TYPE_CHECKING:
    from . import _native
    from .assembly.base import Assembly
    from .assembly.place import Place
    from .assembly.table import HostTable
    from .code_mode.program_calls import ProgramCalls
    from .driver import Driver
    from .invocation import Invocation
    from .run import Run
    from .tools.base import Tool

T = TypeVar("T")


class Part:
    """What answers a run, or a participant of it: with a state, a request and resources of its own.

    Attributes:
        agent: The agent; or the assembly that answers the run.
        scope: Its number within the run; 0 is the run itself.
        run: The run.
        state: Its working state.
        opening: The agent made ready.
        around: The part of the agent that has this one work for it; None for others.
        assemblies: The assemblies around it that have prompt locals, the outermost first.
    """

    __slots__ = (
        "_asked",
        "_closers",
        "_conversation_id",
        "_driver",
        "_invocation",
        "_premises",
        "_programs",
        "_values",
        "agent",
        "around",
        "assemblies",
        "opening",
        "run",
        "scope",
        "state",
    )

    def __init__(
        self,
        driver: Driver,
        agent: Assembly,
        scope: int = 0,
        asked: Mapping[str, Any] | None = None,
        place: Place | None = None,
    ) -> None:
        self._driver = driver
        self.around = None if place is None else place.around
        self.assemblies = () if place is None else place.assemblies
        self._asked = asked
        self._invocation: Invocation | None = None
        self.agent = agent
        self.scope = scope
        self.run: Run = driver.run
        self.state: dict[str, Any] = self.run.state if asked is None else dict(asked["context"])
        self.opening = Opening(self)
        self._closers: list[Callable[[], Any]] = []
        self._premises: Premises | None = None
        self._programs: ProgramCalls | None = None
        # Values of tools that `after_tool` is told, by id of the tool call.
        self._values: dict[str, Any] = {}

    @property
    def invocation(self) -> Invocation:
        """What it is asked."""
        if self._invocation is None:
            whole, asked = self.run.invocation, self._asked
            # Made when it is wanted: most agents never look at it.
            self._invocation = whole if asked is None else asked_of(whole, asked)
        return self._invocation

    @property
    def native(self) -> _native.Run:
        """The native side of the run."""
        return self._driver.native

    @property
    def table(self) -> HostTable:
        """Participants and functions of the run."""
        return self._driver.table

    def describe(self) -> dict[str, Any]:
        """The assembly that answers the run, as the engine takes it.

        Raises:
            ConfigurationError: Its members or routes cannot work.
            TypeError: The context of the request cannot be copied for each participant.
        """
        for key, value in self.run.invocation.context.items():
            if not is_jsonable(value):
                raise TypeError(
                    f"context {key!r} must be plain data, not {type(value).__name__}: each participant of "
                    f"{self.agent.assembly_id} gets a copy of its own"
                )
        return self.table.describe(self.agent)

    def context(self, call: int, agent_operation_id: str | None = None) -> RunContext:
        """What user code of this part is given in a call."""
        whole, asked = self.run.invocation, self._asked
        return RunContext(
            state=self.state,
            cancellation_token=self._driver.token_for(call),
            deadline_at=whole.deadline_at if asked is None else asked["deadline_at"],
            metadata=whole.metadata,
            run=self.run,
            agent_operation_id=agent_operation_id,
            conversation_id=None if asked is None else asked.get("conversation_id"),
        )

    @property
    def programs(self) -> ProgramCalls:
        """The code-mode engine of the application, at work for this agent."""
        if self._programs is None:
            from .code_mode.program_calls import ProgramCalls
            from .opening import code_mode_of

            mode = code_mode_of(self.agent, self.run)
            if mode is None:
                raise ConfigurationError(f"{self.agent.assembly_id} has no code mode")
            self._programs = ProgramCalls(self, mode)
        return self._programs

    @property
    def premises(self) -> Premises:
        """The workspace and the sandbox: the agent's own, where it declares some, else those of the run."""
        if self._premises is None:
            workspace = getattr(self.agent, "workspace", None)
            sandbox = getattr(self.agent, "sandbox", None)
            if self.scope == 0 or (workspace is None and sandbox is None):
                self._premises = self.run._premises
            else:
                self._premises = Premises(self.run, workspace, sandbox, self.register)
        return self._premises

    def register(self, resource: T, closer: Callable[[T], Any] | None = None) -> T:
        """Has a resource closed with this part.

        Raises:
            TypeError: There is no way to close it.
            Error: The part is over.
        """
        if self.scope == 0:
            return self.run.register(resource, closer)
        close = getattr(resource, "close", None) or getattr(resource, "aclose", None)
        if closer is not None:
            close = partial(closer, resource)
        if not callable(close):
            raise ConfigurationError(f"{type(resource).__name__} has no close method")
        if not self._closers:
            # Else the engine would not ask.
            self.native.register_part(self.scope)
        self._closers.append(close)
        return resource

    def close(self) -> Generator[Any, Any, None]:
        """Closes what was registered, the last one first, step by step.

        Each is tried, whatever interrupts the one before. At the end the first exit is raised, or else the first
        failure.
        """
        failure: BaseException | None = None
        while self._closers:
            try:
                yield self._closers.pop()()
            except GeneratorExit:
                raise
            except BaseException as error:
                if failure is None or (
                    isinstance(failure, Exception) and not isinstance(error, Exception)
                ):
                    failure = error
        self.release()
        if failure is not None:
            raise failure

    def release(self) -> None:
        """Lets go of what the part worked with."""
        self.opening = Opening(self)
        self._values.clear()

    # -- what callbacks are told of -------------------------------------------------------------------

    def named_tool(self, name: str) -> Tool:
        """The tool of that name; one of the engine's own is described only."""
        found = self.opening.tools.get(name)
        if found is not None:
            return found
        from .tools.engine import EngineTool

        return EngineTool(name)

    def keep_value(self, tool_use_id: str, value: Any) -> None:
        """Keeps what a tool returned to a call."""
        self._values[tool_use_id] = value

    def tool_value(self, tool_use_id: str) -> Any:
        """What the tool returned to that call, untouched; asked for once."""
        return self._values.pop(tool_use_id, None)

    def exception(self, value: dict[str, Any]) -> BaseException:
        """The exception for an error as the engine describes it."""
        return self._driver.exception(value)


def asked_of(whole: Invocation, asked: Mapping[str, Any]) -> Invocation:
    """What a participant is asked, as an invocation of the class of the run's."""
    return dataclasses.replace(
        whole,
        message=Message.from_dict(asked["message"]),
        history=tuple(Message.from_dict(item) for item in asked["history"]),
        context=asked["context"],
        settings=asked["settings"],
        deadline_at=asked["deadline_at"],
    )
