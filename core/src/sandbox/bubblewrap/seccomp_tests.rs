use super::super::filter::machine::judge;
use super::*;

fn says(network: NetworkMode, call: i64, arguments: [u64; 6]) -> Verdict {
    judge(&filter(network), ARCHITECTURE, call, arguments)
}

fn none(call: i64, arguments: [u64; 6]) -> Verdict {
    says(NetworkMode::None, call, arguments)
}

const DENIED: Verdict = Verdict::Fail(EPERM);

#[test]
fn ordinary_calls_pass() {
    let calls = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_openat,
        libc::SYS_execve,
        libc::SYS_mmap,
        libc::SYS_futex,
        libc::SYS_clone,
        libc::SYS_unshare,
        libc::SYS_kill,
        libc::SYS_landlock_restrict_self,
        libc::SYS_ioctl,
    ];
    for call in calls {
        assert_eq!(none(call, [0; 6]), Verdict::Allow, "call {call}");
    }
}

#[test]
fn forbidden_calls_fail_whatever_they_say() {
    for call in FORBIDDEN {
        for arguments in [[0; 6], [u64::MAX; 6]] {
            assert_eq!(none(*call, arguments), DENIED, "call {call}");
        }
    }
}

#[test]
fn another_architecture_ends_the_process() {
    let program = filter(NetworkMode::Inherit);
    for architecture in [0x4000_0003, 0x4000_0028, 0] {
        assert_eq!(
            judge(&program, architecture, libc::SYS_read, [0; 6]),
            Verdict::Kill
        );
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_with_short_pointers_end_the_process() {
    assert_eq!(none(0x4000_0000, [0; 6]), Verdict::Kill);
    assert_eq!(none(0x4000_0000 | libc::SYS_ptrace, [0; 6]), Verdict::Kill);
    assert_eq!(none(-1, [0; 6]), Verdict::Kill);
}

#[test]
fn namespaces_are_not_made_and_threads_are() {
    let thread = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_THREAD;
    assert_eq!(
        none(libc::SYS_clone, [thread as u64, 0, 0, 0, 0, 0]),
        Verdict::Allow
    );
    assert_eq!(
        none(libc::SYS_unshare, [libc::CLONE_FILES as u64, 0, 0, 0, 0, 0]),
        Verdict::Allow
    );
    let flags = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    for flag in flags {
        let arguments = [u64::from(flag as u32 | 17), 0, 0, 0, 0, 0];
        assert_eq!(none(libc::SYS_clone, arguments), DENIED, "flag {flag:#x}");
        assert_eq!(none(libc::SYS_unshare, arguments), DENIED, "flag {flag:#x}");
    }
    assert_eq!(none(libc::SYS_unshare, [0x80, 0, 0, 0, 0, 0]), DENIED);
    assert_eq!(none(libc::SYS_clone3, [0; 6]), Verdict::Fail(ENOSYS));
}

#[test]
fn set_id_bits_are_not_set() {
    let fchmodat = |mode| none(libc::SYS_fchmodat, [0, 0, mode, 0, 0, 0]);
    assert_eq!(fchmodat(0o755), Verdict::Allow);
    assert_eq!(fchmodat(0o1777), Verdict::Allow);
    assert_eq!(fchmodat(0o4755), DENIED);
    assert_eq!(fchmodat(0o2755), DENIED);
    let openat = |flags: i32, mode| none(libc::SYS_openat, [0, 0, flags as u64, mode, 0, 0]);
    assert_eq!(openat(libc::O_CREAT, 0o4755), DENIED);
    assert_eq!(openat(libc::O_TMPFILE, 0o4755), DENIED);
    assert_eq!(openat(libc::O_CREAT, 0o644), Verdict::Allow);
    // Without creating anything the mode is whatever was in the register.
    assert_eq!(openat(libc::O_DIRECTORY, u64::MAX), Verdict::Allow);
    assert_eq!(none(libc::SYS_openat2, [0; 6]), Verdict::Fail(ENOSYS));
}

#[test]
fn nothing_is_typed_into_terminals() {
    let ioctl = |request| none(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]);
    assert_eq!(ioctl(0x5401), Verdict::Allow);
    assert_eq!(ioctl(0x5412), DENIED);
    // The kernel looks at the lower half only.
    assert_eq!(ioctl(0x1_0000_5412), DENIED);
    assert_eq!(ioctl(0x541c), DENIED);
}

#[test]
fn without_a_network_there_are_only_sockets_of_files() {
    let refused = Verdict::Fail(EAFNOSUPPORT);
    for family in 0..=46 {
        let expected = if family == 1 { Verdict::Allow } else { refused };
        assert_eq!(
            none(libc::SYS_socket, [family, 1, 0, 0, 0, 0]),
            expected,
            "family {family}"
        );
    }
}

#[test]
fn with_a_network_there_are_those_that_programs_need() {
    for mode in [NetworkMode::Allowlist, NetworkMode::Inherit] {
        for family in 0..=46 {
            let allowed = [1, 2, 10, 16].contains(&family);
            let answer = says(mode, libc::SYS_socket, [family, 1, 0, 0, 0, 0]);
            assert_eq!(answer == Verdict::Allow, allowed, "family {family}");
        }
        let audit = [16, 3, 9, 0, 0, 0];
        assert_eq!(
            says(mode, libc::SYS_socket, audit),
            Verdict::Fail(EAFNOSUPPORT)
        );
        let inet_with_protocol = [2, 1, 6, 0, 0, 0];
        assert_eq!(
            says(mode, libc::SYS_socket, inet_with_protocol),
            Verdict::Allow
        );
    }
}

#[test]
fn the_personality_is_the_usual_one() {
    let personality = |value| none(libc::SYS_personality, [value, 0, 0, 0, 0, 0]);
    assert_eq!(personality(0), Verdict::Allow);
    assert_eq!(personality(0xffff_ffff), Verdict::Allow);
    assert_eq!(personality(0x0004_0000), DENIED);
    assert_eq!(personality(8), DENIED);
}
