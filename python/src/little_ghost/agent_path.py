"""The places of agents in the tree of those that delegate, from `/root` downwards.

agent_path.join("/root", "review_api")  # "/root/review_api"
"""

from __future__ import annotations

from typing import Final

from . import _native

ROOT: Final = "/root"
"""The agent that answers a run."""


def validate(path: str) -> str:
    """The path, if it is a usable absolute one.

    Raises:
        ValueError: It is not.
    """
    _native.check_agent_path(path)
    return path


def validate_name(name: str) -> str:
    """The name, if it is one of a task: 1 to 40 lower-case letters, digits and underscores.

    Raises:
        ValueError: It is not.
    """
    _native.check_task_name(name)
    return name


def join(parent: str, name: str) -> str:
    """The path of a task below that of the agent that delegates it.

    Raises:
        ValueError: One of them is not usable, or the whole is too long.
    """
    return _native.join_agent_path(parent, name)


def is_immediate_child(path: str, parent: str) -> bool:
    """Whether a path is exactly one level below another."""
    return _native.is_immediate_child(path, parent)
