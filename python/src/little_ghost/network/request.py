"""What an authorizer is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import _native


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request of a child process, without its body.

    Attributes:
        method: In upper case.
        scheme: `"https"`.
        host: The allowed host that it goes to, in lower case.
        port: The port that it goes to.
        path: Path and query exactly as the server will get them.
        headers: Those that the policy forwards, names in lower case.

    Raises:
        ValueError: A part is empty, or the port or a header impossible.
    """

    method: str
    scheme: str
    host: str
    port: int
    path: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        told = _native.network_request(
            {
                "method": self.method,
                "scheme": self.scheme,
                "host": self.host,
                "port": self.port,
                "path": self.path,
                "headers": dict(self.headers),
            }
        )
        for name, value in told.items():
            object.__setattr__(self, name, value)
