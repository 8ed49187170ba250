"""The sandboxes that come with the engine."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bubblewrap import Bubblewrap
    from .native import Native
    from .seatbelt import Seatbelt
    from .unrestricted import Unrestricted

__all__ = ["Bubblewrap", "Native", "Seatbelt", "Unrestricted"]

# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a sandbox on its first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{name.lower()}", __name__), name)
