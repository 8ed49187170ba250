"""Looks for processes of the host and signals them."""

import os
import signal

from tries import escaped, fails, held

host = int(os.environ["HOST_PID"])
seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
(held if len(seen) <= 4 else escaped)(f"{len(seen)} processes are visible")
fails("signal to the host", lambda: os.kill(host, signal.SIGTERM))
fails("memory of the host", lambda: open(f"/proc/{host}/mem", "rb"))
fails("environment of the host", lambda: open(f"/proc/{host}/environ", "rb"))
fails("group of the host", lambda: os.killpg(host, signal.SIGTERM))
try:
    with open("/proc/1/environ", "rb") as file:
        (escaped if file.read() else held)("environment of the first process")
except OSError as problem:
    held(f"environment of the first process: {problem.strerror}")
# Everybody but the first process and this one; whoever is outside must not notice.
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
held("signal to everybody")
