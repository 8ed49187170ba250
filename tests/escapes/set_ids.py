"""Leaves files with set-id bits behind, and becomes another user."""

import os
import stat
import subprocess

from tries import escaped, fails, held

BITS = stat.S_ISUID | stat.S_ISGID
with open("plain", "w"):
    pass
for bit in (stat.S_ISUID, stat.S_ISGID):
    fails(f"chmod {bit:o}", lambda: os.chmod("plain", 0o755 | bit))
    fails(f"open {bit:o}", lambda: os.open("opened", os.O_CREAT | os.O_WRONLY, 0o755 | bit))
    fails(f"mknod {bit:o}", lambda: os.mknod("made", stat.S_IFREG | 0o755 | bit))
    with open("plain") as file:
        fails(f"fchmod {bit:o}", lambda: os.fchmod(file.fileno(), 0o755 | bit))
tool = subprocess.run(["chmod", "4755", "plain"], capture_output=True)
(held if tool.returncode else escaped)("the tool chmod")
found = [name for name in os.listdir(".") if os.lstat(name).st_mode & BITS]
(escaped if found else held)(f"files with set-id bits: {found}")
before = os.getuid()
for user in (0, 1, 65534):
    if user != before:
        fails(f"setuid {user}", lambda: os.setuid(user))
fails("groups", lambda: os.setgroups([0]))
for name in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/passwd"):
    if os.path.exists(name):
        flags = os.statvfs(name).f_flag
        (held if flags & os.ST_NOSUID else escaped)(f"{name} is on a mount without set-id")
