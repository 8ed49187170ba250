"""What lets child processes of a sandbox reach some destinations and no others.

It concerns neither providers nor tools in this process, and enforces something only where the
sandbox closes every other way out.

    def authorize(request: Request) -> Decision:
        if request.method != "GET":
            return Decision.deny(reason="read only")
        return Decision.allow(set_headers={"authorization": f"Bearer {token}"})

    gateway = EnvoyGateway(
        {"mode": "allowlist", "allow": ["api.example.com:443"], "inspection": "http",
         "mutation_headers": ["authorization"]},
        authorizer=authorize,
    )

The program inside never sees the token. It takes Envoy on the PATH. `ExternalGateway` shows programs a
proxy that runs already.
"""

from __future__ import annotations

from .decision import Decision
from .envoy_gateway import EnvoyGateway
from .external_gateway import ExternalGateway
from .gateway import Gateway, Mount
from .request import Request

__all__ = ["Decision", "EnvoyGateway", "ExternalGateway", "Gateway", "Mount", "Request"]
