"""Ready-made tools, beside the classes behind `little_ghost.Tool` and `little_ghost.tool`."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .write_todos import WriteTodos

__all__ = ["WriteTodos"]


# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a tool on its first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .write_todos import WriteTodos

        return WriteTodos
