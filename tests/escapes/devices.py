"""Makes devices, types into terminals, and writes to the kernel's files."""

import fcntl
import os
import pty
import stat
import termios

from tries import escaped, fails, held

for name, kind, number in (("kmsg", stat.S_IFCHR, (1, 11)), ("disk", stat.S_IFBLK, (8, 0))):
    fails(f"mknod {name}", lambda: os.mknod(name, kind | 0o600, os.makedev(*number)))
usual = {
    "core",
    "fd",
    "full",
    "null",
    "ptmx",
    "pts",
    "random",
    "shm",
    "stderr",
    "stdin",
    "stdout",
    "tty",
    "urandom",
    "zero",
}
more = set(os.listdir("/dev")) - usual
(escaped if more else held)(f"further devices: {more}")
for path in ("/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern"):
    fails(path, lambda: open(path, "w").write("x"))
fails("the terminal of the host", lambda: os.open("/dev/tty", os.O_RDWR))
try:
    master, slave = pty.openpty()
except OSError as problem:
    held(f"a terminal of its own: {problem}")
else:
    fails("typing into a terminal", lambda: fcntl.ioctl(slave, termios.TIOCSTI, b"x"))
    fails("the console", lambda: fcntl.ioctl(slave, 0x541C, b"\3"))
