"""A tool for programs."""

from __future__ import annotations

from .sandbox_tool import SandboxTool


class Shell(SandboxTool):
    """Lets a model run one program in the sandbox of its run: an argument vector, which no shell reads.

        class BuildAgent(Agent):
            tools = [Shell]

    The program gets none of this process's variables, 30 seconds, and 1 MB of each output stream. The model reads
    JSON with `stdout`, `stderr`, `exit_status` and `success`, the last two null when a signal ended it. These bounds
    isolate nothing; the sandbox does.
    """

    name = "shell"
