"""What configurations can name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .errors import DependencyError


class ProviderNames:
    """Classes and functions of the application by the names that declarations use."""

    __slots__ = ("_kind", "_known", "_lock", "_own")

    def __init__(self, kind: str, *own: str) -> None:
        """Starts with none. `own` are names that whoever resolves knows itself; errors list them."""
        self._kind = kind
        self._own = own
        self._known: dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def register(self, name: str, provider: Callable[..., Any]) -> None:
        """Has `name` mean `provider`.

        Raises:
            TypeError: It can be no provider, or no name.
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"a {self._kind} provider needs a name, not {name!r}")
        if not callable(provider):
            raise TypeError(f"{provider!r} makes no {self._kind}; give a class or a function")
        with self._lock:
            self._known = {**self._known, name: provider}

    def resolve(self, name: str) -> Callable[..., Any]:
        """What `name` means.

        Raises:
            DependencyError: Nothing; there is never another in its place.
        """
        try:
            return self._known[name]
        except KeyError:
            known = ", ".join((*self._own, *self._known))
            raise DependencyError(
                f"there is no {self._kind} provider {name!r}; use {known}, or register it first"
            ) from None
