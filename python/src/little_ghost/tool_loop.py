"""Tool calls that are repeated without progress."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLoop:
    """Stops an agent that repeats a tool call without getting anywhere.

        class SupportAgent(Agent):
            tool_loop = ToolLoop(except_=[refresh_account])

    Calls are the same when tool, arguments and result are. The model is told so, then warned for the
    last time; then the call does not run, and the run fails with `ToolLoopError`. A changed result
    starts the count anew.

    Attributes:
        warning_at: Same calls before the model is told, at least 2.
        terminate_at: Same calls before the run fails, more than `warning_at`.
        except_: Tools that may be repeated: names, functions with `@tool`, `Tool` classes and instances.

    Raises:
        ValueError: A number out of range, or an exception that is no tool.
    """

    warning_at: int = 3
    terminate_at: int = 5
    except_: Sequence[Any] = ()

    def __post_init__(self) -> None:
        """Checks the numbers and the exceptions."""
        if isinstance(self.except_, (str, Mapping)) or not isinstance(self.except_, Iterable):
            raise ValueError(
                f"except_ must be a list of tools, such as [refresh_account], not {self.except_!r}"
            )
        _native.check_agent({"tool_loop": self.to_dict()})

    def to_dict(self) -> dict[str, Any]:
        """The options as the engine takes them."""
        return {
            "warning_at": self.warning_at,
            "terminate_at": self.terminate_at,
            "except": [_name(tool) for tool in self.except_],
        }


def _name(tool: Any) -> str:
    if isinstance(tool, str):
        return tool
    name = getattr(tool, "name", None)
    if not isinstance(name, str):
        raise ValueError(
            f"except_ takes names, functions with @tool and Tool classes, not {tool!r}"
        )
    return name
