"""Namespaces of Linux."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..sandbox.engine_sandbox import EngineSandbox

if TYPE_CHECKING:
    from ..sandbox.limits import Limits
    from ..sandbox.policy import Policy
    from ..workspace import Workspace


class Bubblewrap(EngineSandbox):
    """Runs each program in fresh namespaces of Linux, by Bubblewrap. Nothing stands in for one that is missing.

        with Workspace("tmp/run") as workspace, Bubblewrap(workspace, {"files": {"root": "read_write"}}) as sandbox:
            sandbox.execute("id -un", timeout=5)

    Everything that a program started ends with it. The kernel is the host's. It refuses `allow_subprocesses=False`,
    which it cannot enforce.
    """

    _provider = "bubblewrap"

    def __init__(
        self,
        workspace: Workspace,
        policy: Policy | Mapping[str, Any] | None = None,
        *,
        profiles: Mapping[str, Mapping[str, Any] | Callable[..., Mapping[str, Any]]] | None = None,
        limits: Limits | Mapping[str, int] | None = None,
        bubblewrap: str | os.PathLike[str] | None = None,
        platform: str | None = None,
        gateway_options: Mapping[str, Any] | None = None,
        command_wrapper: Sequence[str] | Callable[..., Sequence[str]] | None = None,
        proc: Literal["new", "bind", "none"] | None = None,
        tmpfs: Sequence[str] | None = None,
        masks: Sequence[str] | None = None,
        runtime_roots: Sequence[str] | None = None,
        uid: int | None = None,
        gid: int | None = None,
        cgroup: str | os.PathLike[str] | None = None,
    ) -> None:
        """See `Sandbox` for the first four.

        Args:
            workspace: The workspace.
            policy: What to enforce.
            profiles: Named scopes.
            limits: Bounds of file operations and output.
            bubblewrap: The program; `/usr/bin/bwrap` by default.
            platform: What to take this system for.
            gateway_options: Options of the gateway of an allowlist.
            command_wrapper: Words in front of Bubblewrap, such as `["nice"]`, or a function that gets the whole command
                as `argv`, the `workspace` and, for a program of one, the `scope`, as far as it takes them, and returns
                another command. It is called in a thread of its own while the sandbox is open; what it makes must
                become Bubblewrap or pass on its descriptors.
            proc: Whether programs have a `/proc` of their own, the host's, or none.
            tmpfs: Empty directories in memory; `/tmp` and `/run` by default.
            masks: Directories that look empty.
            runtime_roots: What programs need to run at all; `/usr` by default.
            uid: Whom programs take themselves for.
            gid: The same of their group.
            cgroup: A delegated control group of version 2, for hard limits of memory and tasks.

        Raises:
            PolicyError, CapabilityError: It cannot work like this.
        """
        super().__init__(
            workspace,
            policy,
            profiles=profiles,
            limits=limits,
            bubblewrap=None if bubblewrap is None else os.fspath(bubblewrap),
            platform=platform,
            gateway_options=gateway_options,
            command_wrapper=command_wrapper,
            proc=proc,
            tmpfs=tmpfs,
            masks=masks,
            runtime_roots=runtime_roots,
            uid=uid,
            gid=gid,
            cgroup=None if cgroup is None else os.fspath(cgroup),
        )
