"""What governs file operations and child processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .._native import Sandbox as NativeSandbox
from ..calling import call_with
from ..errors import AbstractMethodError, CapabilityError, PolicyError
from ..managed import Managed
from ..provider_names import ProviderNames
from ..workspace import Workspace
from .capabilities import Capabilities
from .files import Files
from .limits import Limits
from .policy import Policy
from .programs import Programs

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ..context import RunContext
    from ..run import Run
    from .execution import Execution
    from .probe import Probe
    from .process_session import ProcessSession
    from .programs import ProgramOptions
    from .scope import Scope


# Output that is collected is cut, and no reason to end a program.
_UNBOUNDED = 2**62


class Sandbox(Files, Programs, Managed):
    """Governs the file operations and child processes that go through it.

    The tools `Filesystem` and `Shell` and the programs of code mode do; other tools are code of the application and
    only do when they use `binding.sandbox`.

        little_ghost.configure(sandbox={
            "provider": "native", "files": {"root": "read_write"}, "network": "none",
        })

    The sandboxes that come with it are in `little_ghost.sandboxes`. One of your own is a subclass that starts programs
    and says what it enforces:

        class ContainerSandbox(Sandbox):
            def __init__(self, workspace, **options):
                super().__init__(workspace, **options)
                self._host = Unrestricted(workspace)

            @property
            def capabilities(self):
                return Capabilities(network_modes=["none"], isolation="container")

            def start_program(self, command, *, context=None, **options):
                return self._host.start_program(["contain", *command], context=context, **options)

    File operations stay within the policy, whoever starts programs.

    Attributes:
        workspace: The workspace whose files and processes it governs.
        policy: What was asked for.
        limits: Bounds of file operations and output.
    """

    _providers: ClassVar[ProviderNames] = ProviderNames(
        "sandbox", "bubblewrap", "native", "seatbelt", "unrestricted"
    )

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy | Mapping[str, Any] | None = None,
        *,
        profiles: Mapping[str, Mapping[str, Any] | Callable[..., Mapping[str, Any]]] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
    ) -> None:
        """Describes the sandbox; `open` makes it ready.

        Args:
            workspace: The workspace.
            policy: What to enforce; by default the root can be read.
            profiles: Named scopes: the arguments of `scope`, or a function that gives them, which may take
                `workspace` and `policy`.
            limits: Bounds of file operations and output.

        Raises:
            PolicyError: The policy names a path that the workspace does not have, or cannot work.
            ValueError: A limit is no whole number of at least 1.
        """
        if not isinstance(workspace, Workspace):
            raise TypeError(f"a sandbox needs a Workspace, not {type(workspace).__name__}")
        self.workspace = workspace
        self.policy = Policy.of(policy)
        self.limits = Limits.of(limits)
        self._profiles = dict(profiles or {})
        if not self._is_engine:
            # Others have the engine do their file operations, which no program takes part in.
            declared = {**self.policy._declared(), "network": None}
            options = {"policy": declared, "limits": self.limits.to_dict()}
            self._reader = NativeSandbox.build("unrestricted", workspace._native, options)

    # -- providers --------------------------------------------------------------------------------

    @staticmethod
    def probe(name: str, **options: Any) -> Probe:
        """Whether the sandbox of that name can be used here. Nothing is started that outlives the call.

        Args:
            name: Its name, such as `"native"`.
            **options: Its own options, such as `bubblewrap`.

        Raises:
            DependencyError: There is no sandbox of that name.
        """
        from .providers import probe

        return probe(name, options)

    @staticmethod
    async def probe_async(name: str, **options: Any) -> Probe:
        """`probe` for asyncio."""
        from .providers import probe_async

        return await probe_async(name, options)

    @staticmethod
    def register_provider(name: str, provider: Callable[..., Any]) -> None:
        """Has configurations mean a subclass or a function by a name, in all of the process.

        Args:
            name: The name.
            provider: A subclass, made with the workspace and the declared options; or a function, which may take
                `runtime`, `invocation`, `workspace` and the options, and may be a coroutine function.
        """
        Sandbox._providers.register(name, provider)

    @staticmethod
    def resolve_provider(name: str) -> Callable[..., Any]:
        """What is registered as `name`.

        Raises:
            DependencyError: Nothing is; there is never another in its place.
        """
        from .providers import resolve

        return resolve(name)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        features = ["filesystem_read", "filesystem_list"]
        if self.effective_policy.writable:
            features += ["filesystem_write", "filesystem_replace"]
        if self._starts_programs:
            features += ["process_execute", "process_spawn"]
        return Capabilities(features)

    @property
    def effective_policy(self) -> Policy:
        """What it enforces. A sandbox refuses what it cannot enforce, rather than claiming it."""
        return self.policy

    def supports(self, feature: str, mode: str | None = None) -> bool:
        """Whether a feature is offered; see `Capabilities.supports`."""
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
        """A view with less authority. What is left out stays as it is.

        Args:
            profile: One of the profiles, instead of the rest.
            files: Names, which keep their access, or names and access.
            runtime_paths: The same of paths for child processes.
            capabilities: The features that are left.
            network: False for none, or a policy that is no wider.

        Raises:
            CapabilityError: The sandbox does not have that much.
            PolicyError: There is no such profile, or it has an unknown key.
            ValueError: A profile and something else.
        """
        from .scope import Scope

        options = {
            "files": files,
            "runtime_paths": runtime_paths,
            "capabilities": capabilities,
            "network": network,
        }
        return Scope(self, None, self._scope_options(profile, options))

    def _scope_options(self, profile: str | None, options: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in options.items() if value is not None}
        if profile is None:
            return given
        if given:
            raise ValueError(f"a profile stands alone; leave out {', '.join(given)}")
        found = self._profiles.get(profile)
        if found is None:
            raise PolicyError(
                f"there is no profile {profile!r}; define it among the profiles of the sandbox"
            )
        if callable(found):
            found = call_with(found, workspace=self.workspace, policy=self.policy)
        unknown = [name for name in found if name not in options]
        if unknown:
            raise PolicyError(
                f"the profile {profile!r} has the unknown key {unknown[0]!r}; "
                f"use {', '.join(options)}"
            )
        return dict(found)

    # -- life -------------------------------------------------------------------------------------

    def open(self, run: Run | None = None) -> Self:
        """Makes it ready; the workspace is open by then.

        Raises:
            DependencyError: Something that it needs is missing.
        """
        return self

    async def open_async(self, run: Run | None = None) -> Self:
        """`open` for asyncio."""
        return self.open(run)

    def close(self) -> None:
        """Releases what it holds. Runs close it before its workspace."""

    async def close_async(self) -> None:
        """`close` for asyncio."""
        self.close()

    # -- work -------------------------------------------------------------------------------------

    @property
    def _files(self) -> NativeSandbox:
        return self._reader

    @property
    def _starts_programs(self) -> bool:
        cls = type(self)
        return (
            cls.start_program is not Sandbox.start_program
            or cls.start_program_async is not Sandbox.start_program_async
        )

    def _premises_kind(self) -> str:
        return "sandbox"

    @property
    def _is_engine(self) -> bool:
        return False

    @property
    def _runs_in_engine(self) -> bool:
        """Whether the engine runs programs by itself."""
        cls = type(self)
        return self._is_engine and not any(
            name in owner.__dict__
            for owner in cls.__mro__
            if owner.__module__.partition(".")[0] != "little_ghost"
            for name in ("start_program", "execute_program")
        )

    def _within(self, scope: Scope, options: ProgramOptions) -> Programs:
        """Runs programs for a scope. A subclass that knows nothing of scopes cannot narrow them."""
        narrower = (
            scope.files != self.effective_policy.files
            or scope.runtime_paths != self.effective_policy.runtime_paths
            or scope.network != self.effective_policy.network
        )
        if narrower:
            raise CapabilityError(
                f"{type(self).__name__} cannot run programs in a scope of fewer paths or less network"
            )
        if not scope.capabilities.supports("spawn"):
            options["allow_subprocesses"] = False
        return self

    def start_program(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """Starts a program; subclasses write this, or `start_program_async`. See `Programs.start_program`."""
        raise AbstractMethodError(f"{type(self).__name__} has no start_program method; write one")

    async def start_program_async(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        """`start_program` for asyncio."""
        return self.start_program(command, context=context, **options)

    def execute_program(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        max_output_bytes: int | None = None,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> Execution:
        """Runs a program to its end. See `Programs.execute_program`."""
        options = {**options, "output_bytes": _UNBOUNDED}
        session = self.start_program(command, context=context, **options)
        kept = max_output_bytes or self.limits.output_bytes
        return session.collect(timeout, kept, context=context)

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
        options = {**options, "output_bytes": _UNBOUNDED}
        session = await self.start_program_async(command, context=context, **options)
        kept = max_output_bytes or self.limits.output_bytes
        return await session.collect_async(timeout, kept, context=context)

    def __repr__(self) -> str:
        """Names the root of the workspace."""
        return f"<{type(self).__name__} {str(self.workspace.root)!r}>"
