//! System calls. Results are those of the kernel: negative ones are errors.

use core::arch::{asm, global_asm};
use core::mem;

pub const ENOENT: isize = 2;
pub const EINTR: isize = 4;
pub const ENOEXEC: isize = 8;
pub const EAGAIN: isize = 11;
pub const EACCES: isize = 13;
pub const ENOTDIR: isize = 20;
pub const EINVAL: isize = 22;

#[cfg(target_arch = "x86_64")]
mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const SOCKET: usize = 41;
    pub const CONNECT: usize = 42;
    pub const SENDTO: usize = 44;
    pub const SHUTDOWN: usize = 48;
    pub const BIND: usize = 49;
    pub const LISTEN: usize = 50;
    pub const SETSOCKOPT: usize = 54;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const WAIT4: usize = 61;
    pub const FCNTL: usize = 72;
    pub const PRCTL: usize = 157;
    pub const EXIT_GROUP: usize = 231;
    pub const OPENAT: usize = 257;
    pub const PPOLL: usize = 271;
    pub const ACCEPT4: usize = 288;
    pub const SIGNALFD4: usize = 289;
    pub const PRLIMIT64: usize = 302;
}

#[cfg(target_arch = "aarch64")]
mod number {
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const CLOSE: usize = 57;
    pub const FSTAT: usize = 80;
    pub const SOCKET: usize = 198;
    pub const CONNECT: usize = 203;
    pub const SENDTO: usize = 206;
    pub const SHUTDOWN: usize = 210;
    pub const BIND: usize = 200;
    pub const LISTEN: usize = 201;
    pub const SETSOCKOPT: usize = 208;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const WAIT4: usize = 260;
    pub const FCNTL: usize = 25;
    pub const PRCTL: usize = 167;
    pub const EXIT_GROUP: usize = 94;
    pub const OPENAT: usize = 56;
    pub const PPOLL: usize = 73;
    pub const ACCEPT4: usize = 242;
    pub const SIGNALFD4: usize = 74;
    pub const PRLIMIT64: usize = 261;
}

const SIGCHLD: usize = 17;
const O_NONBLOCK: usize = 0o4000;
const SOL_SOCKET: usize = 1;
const CLOSE_RANGE: usize = 436;
const LANDLOCK_CREATE: usize = 444;
const LANDLOCK_ADD: usize = 445;
const LANDLOCK_RESTRICT: usize = 446;

#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call launch",
    "ud2",
);

#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, #0",
    "mov x30, #0",
    "mov x0, sp",
    "bl launch",
    "brk #1",
);

/// # Safety
/// The arguments are what the kernel expects of this call.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, arguments: [usize; 5]) -> isize {
    let [a, b, c, d, e] = arguments;
    let result: isize;
    // SAFETY: the caller's promise; the kernel clobbers rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") 0,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// # Safety
/// The arguments are what the kernel expects of this call.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, arguments: [usize; 5]) -> isize {
    let [a, b, c, d, e] = arguments;
    let result: isize;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") 0,
            options(nostack),
        );
    }
    result
}

pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: takes no pointer.
        unsafe { call(number::EXIT_GROUP, [code as usize, 0, 0, 0, 0]) };
    }
}

pub fn read(descriptor: i32, buffer: &mut [u8]) -> isize {
    let place = buffer.as_mut_ptr() as usize;
    // SAFETY: the buffer is as long as the kernel is told.
    unsafe {
        call(
            number::READ,
            [descriptor as usize, place, buffer.len(), 0, 0],
        )
    }
}

pub fn write(descriptor: i32, bytes: &[u8]) -> isize {
    let place = bytes.as_ptr() as usize;
    // SAFETY: the bytes are as many as the kernel is told.
    unsafe {
        call(
            number::WRITE,
            [descriptor as usize, place, bytes.len(), 0, 0],
        )
    }
}

pub fn close(descriptor: i32) {
    // SAFETY: takes no pointer.
    unsafe { call(number::CLOSE, [descriptor as usize, 0, 0, 0, 0]) };
}

/// Closes every descriptor but these two, which become 0 and 1.
pub fn keep_only(descriptors: [i32; 2]) {
    const F_DUPFD: usize = 0;
    for descriptor in 0..2 {
        close(descriptor);
    }
    for descriptor in descriptors {
        // SAFETY: takes no pointer.
        unsafe { call(number::FCNTL, [descriptor as usize, F_DUPFD, 0, 0, 0]) };
    }
    // SAFETY: takes no pointer.
    if unsafe { call(CLOSE_RANGE, [2, u32::MAX as usize, 0, 0, 0]) } < 0 {
        for descriptor in 2..4096 {
            close(descriptor);
        }
    }
}

/// Has exec close every descriptor from `first` on.
pub fn close_on_exec_from(first: i32) {
    const CLOEXEC_RANGE: usize = 4;
    const F_SETFD: usize = 2;
    let range = [first as usize, u32::MAX as usize, CLOEXEC_RANGE, 0, 0];
    // SAFETY: takes no pointer.
    if unsafe { call(CLOSE_RANGE, range) } < 0 {
        for descriptor in first as usize..4096 {
            // SAFETY: takes no pointer.
            unsafe { call(number::FCNTL, [descriptor, F_SETFD, 1, 0, 0]) };
        }
    }
}

/// The soft and the hard limit, capped by the hard limit that already holds.
pub fn set_limit(resource: u32, soft: u64, hard: u64) -> isize {
    let mut present = [0_u64; 2];
    let place = present.as_mut_ptr() as usize;
    // SAFETY: the kernel writes two numbers.
    let result = unsafe { call(number::PRLIMIT64, [0, resource as usize, 0, place, 0]) };
    if result < 0 {
        return result;
    }
    let wanted = [soft.min(present[1]), hard.min(present[1])];
    let place = wanted.as_ptr() as usize;
    // SAFETY: the kernel reads two numbers.
    unsafe { call(number::PRLIMIT64, [0, resource as usize, place, 0, 0]) }
}

/// The error of an exec, as a positive number; it does not return otherwise.
pub fn execute(
    path: *const u8,
    arguments: *const *const u8,
    environment: *const *const u8,
) -> isize {
    let words = [
        path as usize,
        arguments as usize,
        environment as usize,
        0,
        0,
    ];
    // SAFETY: a C string and two null-terminated arrays of them.
    -unsafe { call(number::EXECVE, words) }
}

/// A descriptor that stands for the path and opens nothing. `path` is a C string.
pub fn open_path(path: *const u8) -> isize {
    const AT_FDCWD: isize = -100;
    const O_PATH_CLOEXEC: usize = 0o12_000_000;
    let words = [AT_FDCWD as usize, path as usize, O_PATH_CLOEXEC, 0, 0];
    // SAFETY: a C string.
    unsafe { call(number::OPENAT, words) }
}

/// The device and the inode at a path, which is a C string; or the error.
pub fn identity(path: *const u8) -> Result<[u64; 2], isize> {
    let place = open_path(path);
    if place < 0 {
        return Err(place);
    }
    // Longer than the structure is on both architectures; it begins with the two numbers.
    let mut found = [0_u64; 32];
    let buffer = found.as_mut_ptr() as usize;
    // SAFETY: the kernel writes no more than the buffer holds.
    let result = unsafe { call(number::FSTAT, [place as usize, buffer, 0, 0, 0]) };
    close(place as i32);
    match result {
        0 => Ok([found[0], found[1]]),
        problem => Err(problem),
    }
}

#[repr(C)]
pub struct Landlock {
    pub files: u64,
    pub network: u64,
    pub scopes: u64,
}

/// The size is that of the last field in use, as an older kernel knows no more of them.
pub fn landlock_create(attributes: &Landlock) -> isize {
    let size = match (attributes.network, attributes.scopes) {
        (0, 0) => 8,
        (_, 0) => 16,
        _ => mem::size_of::<Landlock>(),
    };
    let place = attributes as *const Landlock as usize;
    // SAFETY: the kernel reads as many bytes as it is told, which are there.
    unsafe { call(LANDLOCK_CREATE, [place, size, 0, 0, 0]) }
}

pub fn landlock_path(ruleset: i32, access: u64, place: i32) -> isize {
    #[repr(C, packed)]
    struct Beneath {
        access: u64,
        place: i32,
    }
    let rule = Beneath { access, place };
    landlock_add(ruleset, 1, (&raw const rule).cast())
}

pub fn landlock_port(ruleset: i32, access: u64, port: u64) -> isize {
    landlock_add(ruleset, 2, [access, port].as_ptr().cast())
}

fn landlock_add(ruleset: i32, kind: usize, rule: *const u8) -> isize {
    // SAFETY: both callers pass the structure of their kind.
    unsafe { call(LANDLOCK_ADD, [ruleset as usize, kind, rule as usize, 0, 0]) }
}

pub fn landlock_enforce(ruleset: i32) -> isize {
    const PR_SET_NO_NEW_PRIVS: usize = 38;
    // SAFETY: takes no pointer.
    unsafe {
        call(number::PRCTL, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
        call(LANDLOCK_RESTRICT, [ruleset as usize, 0, 0, 0, 0])
    }
}

/// Zero in the new process, its id in this one.
pub fn fork() -> isize {
    // SAFETY: without a stack of its own the new process goes on with a copy of this one.
    unsafe { call(number::CLONE, [SIGCHLD, 0, 0, 0, 0]) }
}

/// A descriptor that is readable once a child has ended. From here on nothing else tells of that.
pub fn watch_children() -> isize {
    const SIG_BLOCK: usize = 0;
    const NONBLOCK_CLOEXEC: usize = 0o4000 | 0o2_000_000;
    let children = 1_u64 << (SIGCHLD - 1);
    let place = &raw const children as usize;
    // SAFETY: a set of signals has eight bytes.
    unsafe {
        call(number::RT_SIGPROCMASK, [SIG_BLOCK, place, 0, 8, 0]);
        call(
            number::SIGNALFD4,
            [usize::MAX, place, 8, NONBLOCK_CLOEXEC, 0],
        )
    }
}

/// Takes every signal again.
pub fn unblock_signals() {
    const SIG_SETMASK: usize = 2;
    let none = 0_u64;
    let place = &raw const none as usize;
    // SAFETY: a set of signals has eight bytes.
    unsafe { call(number::RT_SIGPROCMASK, [SIG_SETMASK, place, 0, 8, 0]) };
}

/// A child that has ended, and how; it is forgotten.
pub fn next_ended() -> Option<(isize, i32)> {
    const WNOHANG: usize = 1;
    let mut status = 0_i32;
    let place = &raw mut status as usize;
    // SAFETY: the kernel writes one number.
    let child = unsafe { call(number::WAIT4, [usize::MAX, place, WNOHANG, 0, 0]) };
    (child > 0).then_some((child, status))
}

/// Has the kernel end this process when its parent ends, and lets no other look into it.
pub fn end_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    const PR_SET_DUMPABLE: usize = 4;
    const SIGKILL: usize = 9;
    // SAFETY: takes no pointer.
    unsafe {
        call(number::PRCTL, [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0]);
        call(number::PRCTL, [PR_SET_DUMPABLE, 0, 0, 0, 0]);
    }
}

/// A stream socket. One that blocks gives up connecting after five seconds: a Unix socket refuses at once
/// while the queue of the other side is full, unless it may wait.
pub fn socket(family: usize, nonblocking: bool) -> isize {
    const STREAM_CLOEXEC: usize = 1 | 0o2_000_000;
    const SO_SNDTIMEO: usize = 21;
    let kind = STREAM_CLOEXEC | if nonblocking { O_NONBLOCK } else { 0 };
    let patience = [5_u64, 0];
    let place = &raw const patience as usize;
    // SAFETY: the length of the option is that of its value.
    unsafe {
        let socket = call(number::SOCKET, [family, kind, 0, 0, 0]);
        if socket >= 0 {
            let option = [socket as usize, SOL_SOCKET, SO_SNDTIMEO, place, 16];
            call(number::SETSOCKOPT, option);
        }
        socket
    }
}

pub fn set_nonblocking(descriptor: i32) {
    const F_SETFL: usize = 4;
    // SAFETY: takes no pointer.
    unsafe {
        call(
            number::FCNTL,
            [descriptor as usize, F_SETFL, O_NONBLOCK, 0, 0],
        )
    };
}

/// Listens at `address`, also while connections of an earlier listener fade.
pub fn listen(socket: i32, address: &[u8]) -> isize {
    const SO_REUSEADDR: usize = 2;
    let yes = 1_i32;
    let place = &raw const yes as usize;
    // SAFETY: each length is that of what the pointer points to.
    unsafe {
        let option = [socket as usize, SOL_SOCKET, SO_REUSEADDR, place, 4];
        call(number::SETSOCKOPT, option);
        let name = [
            socket as usize,
            address.as_ptr() as usize,
            address.len(),
            0,
            0,
        ];
        let result = call(number::BIND, name);
        if result < 0 {
            return result;
        }
        call(number::LISTEN, [socket as usize, 128, 0, 0, 0])
    }
}

pub fn connect(socket: i32, address: &[u8]) -> isize {
    let words = [
        socket as usize,
        address.as_ptr() as usize,
        address.len(),
        0,
        0,
    ];
    // SAFETY: the length is that of the address.
    unsafe { call(number::CONNECT, words) }
}

/// Writes to a socket; one that is closed is an error and no signal.
pub fn send(socket: i32, bytes: &[u8]) -> isize {
    const MSG_NOSIGNAL: usize = 0x4000;
    let place = bytes.as_ptr() as usize;
    // SAFETY: the bytes are as many as the kernel is told.
    unsafe {
        call(
            number::SENDTO,
            [socket as usize, place, bytes.len(), MSG_NOSIGNAL, 0],
        )
    }
}

pub fn accept(socket: i32) -> isize {
    const NONBLOCK_CLOEXEC: usize = 0o4000 | 0o2_000_000;
    // SAFETY: no address is asked for.
    unsafe {
        call(
            number::ACCEPT4,
            [socket as usize, 0, 0, NONBLOCK_CLOEXEC, 0],
        )
    }
}

/// Says that no more bytes follow.
pub fn finish_writing(socket: i32) {
    // SAFETY: takes no pointer.
    unsafe { call(number::SHUTDOWN, [socket as usize, 1, 0, 0, 0]) };
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Poll {
    pub descriptor: i32,
    pub events: i16,
    pub found: i16,
}

pub const READABLE: i16 = 1;
pub const WRITABLE: i16 = 4;

/// Waits until one of them is ready.
pub fn poll(entries: &mut [Poll]) -> isize {
    let place = entries.as_mut_ptr() as usize;
    // SAFETY: the entries are as many as the kernel is told.
    unsafe { call(number::PPOLL, [place, entries.len(), 0, 0, 0]) }
}

/// Whether there is something to read at this moment.
pub fn is_readable(descriptor: i32) -> bool {
    let mut entry = Poll {
        descriptor,
        events: READABLE,
        found: 0,
    };
    let (place, moment) = (&raw mut entry as usize, [0_u64; 2]);
    let timeout = moment.as_ptr() as usize;
    // SAFETY: one entry, and a time of two numbers.
    unsafe { call(number::PPOLL, [place, 1, timeout, 0, 0]) == 1 && entry.found & READABLE != 0 }
}
