"""What the attempts share: they try something and say whether it was stopped."""

import ctypes
import os
import platform

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
MACHINE = platform.machine()


def held(what):
    print(f"held: {what}", flush=True)


def escaped(what):
    print(f"ESCAPED: {what}", flush=True)


def fails(what, action):
    """The attempt is stopped when it raises an OSError."""
    try:
        action()
    except OSError as problem:
        held(f"{what}: {problem.strerror}")
    else:
        escaped(what)


def call(number, *arguments):
    """A system call by its number; its result and its error."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = _libc.syscall(ctypes.c_long(number), *words)
    return result, ctypes.get_errno()


def refused(what, errors, number, *arguments):
    """The attempt is stopped when the call fails with one of these errors."""
    result, error = call(number, *arguments)
    if result == -1 and error in errors:
        held(f"{what}: {os.strerror(error)}")
    else:
        escaped(f"{what}: {result}, {os.strerror(error)}")
