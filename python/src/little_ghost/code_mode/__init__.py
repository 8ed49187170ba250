"""Programs that a model writes to call several tools at once.

A program runs in a process of its own, in a sandbox; its tool calls come back to this process and go the way of
every other tool call. `CodeMode` says how an agent's programs run. The rest is for programs without an agent, and for
engines of your own.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import protocol as protocol
    from .broker import Broker, CallResult
    from .built_in import BuiltInEngine, JavascriptEngine, PythonEngine, RubyEngine
    from .built_in_session import BuiltInSession
    from .catalog import Catalog
    from .code_mode import CodeMode
    from .engine import Engine
    from .engines import default_limits, register_engine, resolve_engine
    from .program_result import ProgramResult
    from .sandbox_factory import SandboxFactory
    from .session import Session

__all__ = [
    "Broker",
    "BuiltInEngine",
    "BuiltInSession",
    "CallResult",
    "Catalog",
    "CodeMode",
    "Engine",
    "JavascriptEngine",
    "ProgramResult",
    "PythonEngine",
    "RubyEngine",
    "SandboxFactory",
    "Session",
    "default_limits",
    "protocol",
    "register_engine",
    "resolve_engine",
]

_HOMES = {
    "broker": "Broker CallResult",
    "built_in": "BuiltInEngine JavascriptEngine PythonEngine RubyEngine",
    "built_in_session": "BuiltInSession",
    "catalog": "Catalog",
    "code_mode": "CodeMode",
    "engine": "Engine",
    "engines": "default_limits register_engine resolve_engine",
    "program_result": "ProgramResult",
    "sandbox_factory": "SandboxFactory",
    "session": "Session",
}

# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a name on its first use."""
        from importlib import import_module

        if name == "protocol":
            return import_module(".protocol", __name__)
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{home}", __name__), name)
