"""Looks for descriptors and variables of the host."""

import os

from tries import escaped, held

for number in range(3, 4096):
    try:
        target = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        continue
    try:
        os.fstat(number)
    except OSError:
        continue
    (held if "tries" in target or "inherited" in target else escaped)(
        f"descriptor {number}: {target}"
    )
held("descriptors")
known = {
    "ABSTRACT",
    "HOST_PID",
    "HOST_PORT",
    "LC_CTYPE",
    "LITTLE_GHOST_WORKSPACE_ATTEMPTS",
    "LITTLE_GHOST_WORKSPACE_READ_ONLY",
    "LITTLE_GHOST_WORKSPACE_ROOT",
    "OUTSIDE",
    "PWD",
    "PYTHONDONTWRITEBYTECODE",
    "READ_ONLY",
    "SOCKET_FILE",
}
more = set(os.environ) - known
(escaped if more else held)(f"further variables: {more}")
