"""What an authorizer answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .. import _native


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request may go on, and what the server gets to see besides.

    Attributes:
        allowed: Whether the request goes on.
        status: 200, or what the program gets instead: one from 400 to 599, in place of which the
            program gets 403 from 500 on.
        reason: What the program is told of a denial, in one line of at most 1,000 bytes. Nothing
            secret belongs there.
        set_headers: Headers that the server gets in place of those of the program. The policy's
            `mutation_headers` must name them, and those below.
        remove_headers: Headers that the server does not get.

    Raises:
        ValueError: The status does not go with `allowed`, or a header belongs to the connection or
            cannot be sent.
    """

    allowed: bool
    status: int
    reason: str | None = None
    set_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    remove_headers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        decided = _native.network_decision(
            {
                "allowed": self.allowed,
                "status": self.status,
                "reason": self.reason,
                "set_headers": dict(self.set_headers),
                "remove_headers": list(self.remove_headers),
            }
        )
        object.__setattr__(self, "set_headers", decided["set_headers"])
        object.__setattr__(self, "remove_headers", tuple(decided["remove_headers"]))

    @classmethod
    def allow(
        cls, *, set_headers: Mapping[str, str] | None = None, remove_headers: Iterable[str] = ()
    ) -> Decision:
        """Lets the request through."""
        return cls(True, 200, None, set_headers or {}, tuple(remove_headers))

    @classmethod
    def deny(cls, *, status: int = 403, reason: str | None = None) -> Decision:
        """Rejects the request."""
        return cls(False, status, reason)

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dict."""
        return {
            "allowed": self.allowed,
            "status": self.status,
            "reason": self.reason,
            "set_headers": dict(self.set_headers),
            "remove_headers": list(self.remove_headers),
        }
