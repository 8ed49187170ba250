"""Programs that a model writes to call several tools at once.

A program runs in a process of its own, in a sandbox; its tool calls come back to this process and go the way of
every other tool call. `CodeMode` says how an agent's programs run; the rest is for engines of your own.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .broker import Broker, CallResult
    from .code_mode import CodeMode
    from .engine import Engine
    from .engines import default_limits, register_engine
    from .program_result import ProgramResult
    from .sandbox_factory import SandboxFactory
    from .session import Session

__all__ = [
    "Broker",
    "CallResult",
    "CodeMode",
    "Engine",
    "ProgramResult",
    "SandboxFactory",
    "Session",
    "default_limits",
    "register_engine",
]

_HOMES = {
    "broker": "Broker CallResult",
    "code_mode": "CodeMode",
    "engine": "Engine",
    "engines": "default_limits register_engine",
    "program_result": "ProgramResult",
    "sandbox_factory": "SandboxFactory",
    "session": "Session",
}

# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a name on its first use."""
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{home}", __name__), name)
