"""Workspaces and sandboxes for tests, and whether this kernel has namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from little_ghost import Sandbox, Workspace
from little_ghost.sandboxes import Bubblewrap, Unrestricted

PROBE = Sandbox.probe("bubblewrap")

needs_bubblewrap = pytest.mark.skipif(
    not PROBE.available, reason=f"no sandbox of this system: {PROBE.reason}"
)
"""Of tests that run programs in namespaces of Linux."""

WRITABLE: dict[str, Any] = {"files": {"root": "read_write"}}


@contextmanager
def unrestricted(folder: Path, policy: Any = None, **options: Any) -> Iterator[Unrestricted]:
    """A sandbox without isolation over a workspace in `folder`."""
    paths = options.pop("paths", None)
    with (
        Workspace(folder / "root", paths) as workspace,
        Unrestricted(workspace, WRITABLE if policy is None else policy, **options) as sandbox,
    ):
        yield sandbox


@contextmanager
def isolated(folder: Path, policy: Any = None, **options: Any) -> Iterator[Bubblewrap]:
    """A sandbox of namespaces over a workspace in `folder`."""
    paths = options.pop("paths", None)
    with (
        Workspace(folder / "root", paths) as workspace,
        Bubblewrap(workspace, WRITABLE if policy is None else policy, **options) as sandbox,
    ):
        yield sandbox
