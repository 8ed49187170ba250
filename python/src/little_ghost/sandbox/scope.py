"""A view of a sandbox with less authority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ToolError
from .capabilities import Capabilities
from .engine_programs import EnginePrograms
from .files import Files
from .network_policy import NetworkPolicy
from .policy import Access, Policy
from .programs import Programs

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .._native import Sandbox as NativeSandbox
    from ..context import RunContext
    from ..run import Run
    from ..workspace import Workspace
    from .execution import Execution
    from .limits import Limits
    from .process_session import ProcessSession
    from .programs import ProgramOptions
    from .sandbox import Sandbox


class Scope(Files, Programs):
    """A view of a sandbox with less authority, for one agent or one set of tools. Made by `Sandbox.scope`.

    It owns nothing. Who still holds the sandbox itself keeps all of its authority.

        reviewer = sandbox.scope(files={"source": "read_only"}, runtime_paths=[], network=False)
        reviewer.writable  # False

    Attributes:
        sandbox: The sandbox that enforces it.
        files: Paths that are left to tools and child processes, with their access.
        runtime_paths: Paths that are left to child processes only.
        capabilities: Operations that are left.
        network: What is left of the network; None where the sandbox has no policy for it.
    """

    def __init__(self, sandbox: Sandbox, parent: Scope | None, options: Mapping[str, Any]) -> None:
        """Made by `scope` of a sandbox or of a scope."""
        self.sandbox = sandbox
        self._native = (sandbox if parent is None else parent)._files.scope(_told(options))
        left = self._native.info()["narrowing"]
        self.files: Mapping[str, Access] = left["files"]
        self.runtime_paths: Mapping[str, Access] = left["runtime_paths"]
        above = sandbox.capabilities if parent is None else parent.capabilities
        self.capabilities: Capabilities = _left(above, options.get("capabilities"))
        self.network = _network(options.get("network"), sandbox if parent is None else parent)

    @property
    def workspace(self) -> Workspace:
        """The workspace of the sandbox."""
        return self.sandbox.workspace

    @property
    def limits(self) -> Limits:
        """Bounds of the sandbox."""
        return self.sandbox.limits

    @property
    def policy(self) -> Policy:
        """The policy that the sandbox enforces."""
        return self.sandbox.effective_policy

    @property
    def effective_policy(self) -> Policy:
        """The same as `policy`."""
        return self.policy

    def supports(self, feature: str, mode: str | None = None) -> bool:
        """Whether a feature is left; see `Capabilities.supports`."""
        if feature == "network" and mode is not None and self.network is not None:
            return mode in (self.network.mode, "none")
        return self.capabilities.supports(feature, mode)

    def scope(
        self,
        profile: str | None = None,
        *,
        files: Mapping[str, str] | Sequence[str] | None = None,
        runtime_paths: Mapping[str, str] | Sequence[str] | None = None,
        capabilities: Sequence[str] | None = None,
        network: bool | str | Mapping[str, Any] | None = None,
    ) -> Scope:
        """A scope that leaves even less; see `Sandbox.scope`."""
        options = {
            "files": files,
            "runtime_paths": runtime_paths,
            "capabilities": capabilities,
            "network": network,
        }
        return Scope(self.sandbox, self, self.sandbox._scope_options(profile, options))

    def open(self, run: Run | None = None) -> Self:
        """Opens nothing: the sandbox is not its own."""
        return self

    def close(self) -> None:
        """Closes nothing."""

    @property
    def _files(self) -> NativeSandbox:
        return self._native

    def _premises_kind(self) -> str:
        return "sandbox"

    @property
    def _runs_in_engine(self) -> bool:
        return self.sandbox._runs_in_engine

    def start_program(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """Starts a program within the scope. See `Programs.start_program`."""
        return self._programs(options).start_program(command, context=context, **options)

    async def start_program_async(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """`start_program` for asyncio."""
        programs = self._programs(options)
        return await programs.start_program_async(command, context=context, **options)

    def execute_program(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """Runs a program within the scope to its end. See `Programs.execute_program`."""
        return self._programs(options).execute_program(
            command,
            timeout=timeout,
            max_output_bytes=max_output_bytes,
            context=context,
            **options,
        )

    async def execute_program_async(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """`execute_program` for asyncio."""
        return await self._programs(options).execute_program_async(
            command,
            timeout=timeout,
            max_output_bytes=max_output_bytes,
            context=context,
            **options,
        )

    def _programs(self, options: ProgramOptions) -> Programs:
        """What runs programs for the scope."""
        if not self.capabilities.supports("execute"):
            raise ToolError("This part of the sandbox does not offer process_execute.")
        if self.sandbox._runs_in_engine:
            return EnginePrograms(self._native)
        return self.sandbox._within(self, options)

    def __repr__(self) -> str:
        """Names the sandbox."""
        return f"<Scope of {self.sandbox!r}>"


def _told(options: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, value in options.items():
        if name == "network" and not isinstance(value, bool) and value is not None:
            told[name] = NetworkPolicy.of(value)._declared()
        elif isinstance(value, Mapping):
            told[name] = dict(value)
        elif isinstance(value, (list, tuple, set, frozenset)):
            told[name] = sorted(value) if isinstance(value, (set, frozenset)) else list(value)
        else:
            told[name] = value
    return told


def _left(above: Capabilities, wanted: Any) -> Capabilities:
    if wanted is None:
        return above
    return Capabilities.from_dict({**above.to_dict(), "features": above.features & set(wanted)})


def _network(wanted: Any, parent: Sandbox | Scope) -> NetworkPolicy | None:
    if wanted is False:
        return NetworkPolicy("none")
    if wanted is None or wanted is True:
        return parent.network if isinstance(parent, Scope) else parent.effective_policy.network
    return NetworkPolicy.of(wanted)
