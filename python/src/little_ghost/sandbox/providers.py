"""Sandboxes by the names that configurations use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._native import Sandbox as NativeSandbox
from ..job import answer, answer_async
from .capabilities import Capabilities
from .probe import Probe
from .sandbox import Sandbox

OWN = {
    "bubblewrap": "Bubblewrap",
    "native": "Native",
    "seatbelt": "Seatbelt",
    "unrestricted": "Unrestricted",
}
"""Those that come with it, and their classes."""


def resolve(name: str) -> Callable[..., Any]:
    """What `name` means.

    Raises:
        DependencyError: Nothing.
    """
    if name not in OWN:
        return Sandbox._providers.resolve(name)
    from .. import sandboxes

    found: Callable[..., Any] = getattr(sandboxes, OWN[name])
    return found


def probe(name: str, options: Mapping[str, Any]) -> Probe:
    """Whether that sandbox can be used here."""
    if name not in OWN:
        return _declared(resolve(name))
    return Probe.from_dict(answer(NativeSandbox.probe(name, dict(options))))


async def probe_async(name: str, options: Mapping[str, Any]) -> Probe:
    """`probe` for asyncio."""
    if name not in OWN:
        return _declared(resolve(name))
    return Probe.from_dict(await answer_async(NativeSandbox.probe(name, dict(options))))


def _declared(provider: Callable[..., Any]) -> Probe:
    # Of the application: one that does not say is there.
    own = getattr(provider, "backend_capabilities", None)
    return Probe(True, None, own() if callable(own) else Capabilities())
