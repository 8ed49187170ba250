"""Ready-made tools, beside the classes behind `little_ghost.Tool` and `little_ghost.tool`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .filesystem import ExclusiveFilesystem, Filesystem
    from .shell import Shell
    from .write_todos import WriteTodos

__all__ = ["ExclusiveFilesystem", "Filesystem", "Shell", "WriteTodos"]

_HOMES = {
    "ExclusiveFilesystem": "filesystem",
    "Filesystem": "filesystem",
    "Shell": "shell",
    "WriteTodos": "write_todos",
}

# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a tool on its first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
