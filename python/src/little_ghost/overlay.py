"""What tests put over the engine's runtimes, for runs that begin meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from . import _native


class Layer(Protocol):
    """Something that can be put over a runtime."""

    def _over(self, runtime: _native.Runtime) -> _native.Runtime:
        """The same runtime with this over it."""


_here: ContextVar[tuple[Layer, ...]] = ContextVar("little_ghost_overlay", default=())
_everywhere: tuple[Layer, ...] = ()
_lock = threading.Lock()


def overlaid(runtime: _native.Runtime) -> _native.Runtime:
    """The runtime that a run is to begin on."""
    # Those of the whole process are the outermost.
    for layer in _everywhere + _here.get():
        runtime = layer._over(runtime)
    return runtime


@contextmanager
def laid_over(layer: Layer, *, everywhere: bool) -> Iterator[None]:
    """Puts a layer over the runtimes of this context, or of every thread of the process."""
    global _everywhere  # noqa: PLW0603
    if not everywhere:
        token = _here.set((*_here.get(), layer))
        try:
            yield
        finally:
            _here.reset(token)
        return
    with _lock:
        _everywhere = (*_everywhere, layer)
    try:
        yield
    finally:
        with _lock:
            _everywhere = tuple(other for other in _everywhere if other is not layer)
