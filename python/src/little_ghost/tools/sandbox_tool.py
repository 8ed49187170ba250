"""Tools that the engine defines, and whose work a sandbox does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from .._native import Sandbox as NativeSandbox
from ..context import RunContext
from ..errors import ToolError
from ..job import answer
from .base import Tool

if TYPE_CHECKING:
    from ..sandbox.sandbox import Sandbox
    from ..sandbox.scope import Scope

SHELL_SECONDS = 30
SHELL_BYTES = 1_000_000


@cache
def definitions() -> Mapping[str, Mapping[str, Any]]:
    """Name, description and schema of each, by name."""
    return {defined["name"]: defined for defined in NativeSandbox.tools()}


class SandboxTool(Tool):
    """One of them. Names, schemas and texts are the same in every language."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Takes over what the engine says."""
        name = cls.__dict__.get("name")
        if name is not None:
            defined = definitions()[name]
            cls.description = defined["description"]
            cls.input_schema = defined["input_schema"]
        super().__init_subclass__(**keywords)

    def call(self, input: dict[str, Any], context: RunContext) -> str:
        """Does the work in the sandbox of the binding.

        Raises:
            ToolError: What the sandbox does not do; the message says why.
        """
        sandbox: Sandbox | Scope | None = self.binding.sandbox
        if sandbox is None:
            raise ToolError(f"{self.name} has no sandbox to work in.")
        if self.name == "shell" and not sandbox._runs_in_engine:
            return _shell(sandbox, input["command"], context)
        operation = {"op": "tool", "name": self.name, "input": dict(input)}
        text: str = answer(sandbox._files.perform(operation), context)
        return text


def _shell(sandbox: Sandbox | Scope, command: list[str], context: RunContext) -> str:
    """What the engine does, by the methods of a sandbox that is the application's."""
    if not command or not command[0]:
        raise ToolError("The command is empty; name a program.")
    kept = min(SHELL_BYTES, sandbox.limits.output_bytes)
    left = sandbox.execute_program(
        command, timeout=SHELL_SECONDS, max_output_bytes=kept, context=context
    )
    report = {
        "stdout": left.stdout,
        "stderr": left.stderr,
        "exit_status": left.exit_code,
        "success": None if left.exit_code is None else left.success,
    }
    return json.dumps(report, ensure_ascii=False, separators=(",", ":"))
