"""Where child processes may connect to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .._native import Sandbox as NativeSandbox
from ..errors import PolicyError
from .capabilities import NetworkMode


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Where child processes may connect to. Two policies are equal when they are enforced alike.

    Attributes:
        mode: How far they reach.
        allow: Of an allowlist, the destinations, such as `"api.example.com:443"`.
        inspection: How much a gateway looks at: where connections go, or each HTTP request.
        gateway: Which gateway enforces the allowlist: a name, a dict with its name and options, or a
            `Gateway`. None is the sandbox's own choice.
        authorizer: Decides about inspected requests.
        forward_headers: Headers that the authorizer sees.
        mutation_headers: Headers that the authorizer may set.

    Raises:
        PolicyError: What is given does not go together.
    """

    mode: NetworkMode
    allow: Sequence[str] = ()
    inspection: Literal["connect", "http"] = "connect"
    gateway: Any = None
    authorizer: Callable[..., Any] | Mapping[str, Any] | None = field(default=None, repr=False)
    forward_headers: Sequence[str] = ()
    mutation_headers: Sequence[str] = ()

    def __post_init__(self) -> None:
        normal = NativeSandbox.normalize("network", self._declared())
        for name in ("allow", "forward_headers", "mutation_headers"):
            object.__setattr__(self, name, tuple(normal.get(name, ())))

    @classmethod
    def of(cls, value: Any) -> NetworkPolicy:
        """The policy that a declaration means: a mode, or a dict with `mode` and options.

        Raises:
            PolicyError: It means none.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            return cls(value)  # type: ignore[arg-type]
        if not isinstance(value, Mapping):
            raise PolicyError(f"network must be a mode or a dict, not {type(value).__name__}")
        unknown = sorted(set(value) - set(_OPTIONS))
        if unknown or "mode" not in value:
            wrong = f"there is no network option {unknown[0]!r}" if unknown else "mode is missing"
            raise PolicyError(f"network: {wrong}; use {', '.join(_OPTIONS)}")
        return cls(**{name: item for name, item in value.items() if item is not None})

    def _declared(self) -> dict[str, Any]:
        """As the engine takes it; objects are told by number."""
        declared: dict[str, Any] = {"mode": self.mode}
        for name in _OPTIONS[1:]:
            value = getattr(self, name)
            if value is None or value == () or (name == "inspection" and value == "connect"):
                continue
            declared[name] = list(value) if isinstance(value, (tuple, list)) else _told(value)
        return declared


_OPTIONS = (
    "mode",
    "allow",
    "inspection",
    "gateway",
    "authorizer",
    "forward_headers",
    "mutation_headers",
)


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _told(item) for key, item in value.items()}
    if isinstance(value, (str, int, float, bool, list)):
        return value
    return {"host": id(value)}
