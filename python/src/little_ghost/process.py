"""Forks and the end of the interpreter."""

from __future__ import annotations

import atexit
import os

from . import _native
from .runtime import forget_lock_in_child


def _after_fork_in_child() -> None:
    forget_lock_in_child()
    _native.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)

# Runs end and their connections close before the interpreter goes; nobody waits for tools.
atexit.register(_native.cancel_all)
