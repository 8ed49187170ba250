"""Makes calls that lead, or have led, out of namespaces."""

import ctypes
import errno
import os
import signal

from tries import MACHINE, call, escaped, held, refused

X86 = MACHINE == "x86_64"
NUMBERS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "acct": (163, 89),
    "sethostname": (170, 161),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "settimeofday": (164, 170),
    "syslog": (103, 116),
}
for name, numbers in NUMBERS.items():
    refused(name, [errno.EPERM], numbers[0 if X86 else 1], 0, 0, 0, 0, 0)

unshare, clone = (272, 56) if X86 else (97, 220)
FLAGS = {
    "user": 0x10000000,
    "mount": 0x20000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "ipc": 0x08000000,
    "uts": 0x04000000,
    "cgroup": 0x02000000,
    "time": 0x80,
}
for name, flag in FLAGS.items():
    refused(f"unshare {name}", [errno.EPERM], unshare, flag)
    if name != "time":
        refused(f"clone {name}", [errno.EPERM], clone, flag | signal.SIGCHLD, 0, 0, 0, 0)
refused("clone3", [errno.ENOSYS], 435, 0, 0)
refused("openat2", [errno.ENOSYS], 437, 0, 0, 0, 0)
refused("personality", [errno.EPERM], 135 if X86 else 92, 0x0040000)


def killed(what, action):
    """The attempt is stopped when the kernel kills the process that makes it."""
    child = os.fork()
    if child == 0:
        action()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS:
        held(f"{what}: killed")
    else:
        escaped(f"{what}: status {status}")


if X86:
    killed("calls with short pointers", lambda: call(0x40000000 | 39))

    def old_interrupt():
        import mmap

        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        place = ctypes.addressof(ctypes.c_char.from_buffer(code))
        ctypes.CFUNCTYPE(ctypes.c_int)(place)()

    killed("calls of 32 bits", old_interrupt)

with open("/proc/self/status") as file:
    status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
for name, expected in {
    "NoNewPrivs": "1",
    "Seccomp": "2",
    "CapEff": "0" * 16,
    "CapBnd": "0" * 16,
}.items():
    (held if status[name].strip() == expected else escaped)(f"{name} is {status[name].strip()}")
