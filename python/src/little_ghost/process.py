"""Forks and the end of the interpreter."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable

from . import _native

_renewals: list[Callable[[], None]] = []


def renew_in_child(renewal: Callable[[], None]) -> None:
    """Has `renewal` called in every forked child: a lock of the parent may never be released there."""
    _renewals.append(renewal)


def _after_fork_in_child() -> None:
    for renewal in _renewals:
        renewal()
    _native.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)

# Runs end and their connections close before the interpreter goes; nobody waits for tools.
atexit.register(_native.cancel_all)
