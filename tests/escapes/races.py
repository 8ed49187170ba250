"""Swaps a directory and a link to the outside while files are opened through it."""

import os
import threading
import time

from tries import escaped, held

outside = os.environ["OUTSIDE"]
os.makedirs("real", exist_ok=True)
name = os.path.basename(outside)
with open(f"real/{name}", "w") as file:
    file.write("own")
os.symlink(os.path.dirname(outside), "link")
end = time.monotonic() + 2
seen = set()


def swap():
    while time.monotonic() < end:
        for target in ("real", "link"):
            try:
                os.rename(target, "current")
                os.rename("current", target)
            except OSError:
                pass


thread = threading.Thread(target=swap)
thread.start()
tries = 0
while time.monotonic() < end:
    tries += 1
    for path in (f"current/{name}", f"link/{name}", f"real/../link/{name}"):
        try:
            with open(path) as file:
                seen.add(file.read())
        except OSError:
            pass
thread.join()
if seen - {"own"}:
    escaped(f"a race reached {seen}")
else:
    held(f"{tries} tries saw {seen}")
