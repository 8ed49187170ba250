"""The sandbox of this operating system."""

from __future__ import annotations

from typing import Any

from ..sandbox.engine_sandbox import EngineSandbox


class Native(EngineSandbox):
    """The sandbox of this operating system: Bubblewrap on Linux, Seatbelt on macOS.

    It takes the arguments of `Sandbox` and those of the sandbox that it is. Elsewhere there is none, and nothing less
    stands in for it: making one raises `UnsupportedPlatformError`.
    """

    _provider = "native"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
