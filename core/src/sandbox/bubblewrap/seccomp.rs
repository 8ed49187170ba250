//! The system calls that programs in a sandbox cannot make.
//!
//! The namespaces already take most of their effect away. The filter keeps programs from the parts of the
//! kernel in which ways out of namespaces have been found, and from those that no namespace covers.

use super::filter::{Rule, Verdict, When, program};
use crate::sandbox::NetworkMode;

const EPERM: u16 = 1;
const ENOSYS: u16 = 38;
const EAFNOSUPPORT: u16 = 97;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// From here on, x86_64 has its calls a second time, with shorter pointers.
#[cfg(target_arch = "x86_64")]
const FOREIGN: Option<u32> = Some(0x4000_0000);
#[cfg(target_arch = "aarch64")]
const FOREIGN: Option<u32> = None;

/// Whether there is a filter for this architecture.
pub(super) const IS_AVAILABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The filter for programs with this network.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) fn filter(network: NetworkMode) -> Vec<u8> {
    program(ARCHITECTURE, FOREIGN, &rules(network))
}

/// The filter for programs with this network.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn filter(_network: NetworkMode) -> Vec<u8> {
    Vec::new()
}

// Calls that the libc crate does not name yet; new calls have the same number everywhere.
const FCHMODAT2: i64 = 452;
const LSM_SET_SELF_ATTR: i64 = 460;
const OPEN_TREE_ATTR: i64 = 467;

const NEW_NAMESPACES: u32 = 0x7e02_0000;
const NEW_TIME_NAMESPACE: u32 = 0x80;
const SET_ID_BITS: u32 = 0o6000;
/// `O_CREAT`, and what sets `O_TMPFILE` apart: without them the mode is not looked at, and may be anything.
const CREATING: u32 = 0o100 | 0o20_000_000;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn rules(network: NetworkMode) -> Vec<Rule> {
    let always = |error| move |call: &i64| rule(*call, When::Always, Verdict::Fail(error));
    let mut rules: Vec<Rule> = FORBIDDEN.iter().map(always(EPERM)).collect();
    // The flags of these are in memory, where a filter cannot look. Callers fall back to what it can judge.
    let hidden = [libc::SYS_clone3, libc::SYS_openat2];
    rules.extend(hidden.iter().map(always(ENOSYS)));
    rules.extend(namespaces());
    rules.extend(set_ids());
    rules.extend(terminals());
    rules.extend(sockets(network));
    // Which programs another personality runs is decided in parts of the kernel that few look at.
    let usual = vec![0, u32::MAX];
    let unusual = When::NoneOf {
        argument: 0,
        values: usual,
    };
    rules.push(rule(libc::SYS_personality, unusual, Verdict::Fail(EPERM)));
    rules
}

fn rule(call: i64, when: When, verdict: Verdict) -> Rule {
    Rule {
        call,
        when,
        verdict,
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const FORBIDDEN: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Files by handle, past every path.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Keyrings belong to users and sessions, not to namespaces.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Programs inside of the kernel, and what watches it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    libc::SYS_syslog,
    // Calls of io_uring pass no filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_nfsservctl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    LSM_SET_SELF_ATTR,
    // The clock.
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_settimeofday,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn namespaces() -> [Rule; 2] {
    let made_by = |call, bits| {
        let when = When::AnyBit { argument: 0, bits };
        rule(call, when, Verdict::Fail(EPERM))
    };
    [
        made_by(libc::SYS_clone, NEW_NAMESPACES),
        made_by(libc::SYS_unshare, NEW_NAMESPACES | NEW_TIME_NAMESPACE),
    ]
}

/// Inside, set-id bits mean nothing. On the host they would make a file that a program left in a workspace
/// run with the authority of its owner.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn set_ids() -> Vec<Rule> {
    let with = |call, parts| rule(call, When::AllOf(parts), Verdict::Fail(EPERM));
    #[cfg_attr(
        target_arch = "aarch64",
        expect(unused_mut, reason = "there are no older calls")
    )]
    let mut rules = vec![
        with(libc::SYS_fchmod, vec![(1, SET_ID_BITS)]),
        with(libc::SYS_fchmodat, vec![(2, SET_ID_BITS)]),
        with(FCHMODAT2, vec![(2, SET_ID_BITS)]),
        with(libc::SYS_mknodat, vec![(2, SET_ID_BITS)]),
        with(libc::SYS_openat, vec![(2, CREATING), (3, SET_ID_BITS)]),
    ];
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        with(libc::SYS_chmod, vec![(1, SET_ID_BITS)]),
        with(libc::SYS_mknod, vec![(1, SET_ID_BITS)]),
        with(libc::SYS_creat, vec![(1, SET_ID_BITS)]),
        with(libc::SYS_open, vec![(1, CREATING), (2, SET_ID_BITS)]),
    ]);
    rules
}

/// What types into a terminal as if its user had.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn terminals() -> [Rule; 1] {
    const TIOCSTI: u32 = 0x5412;
    const TIOCLINUX: u32 = 0x541c;
    let when = When::OneOf {
        argument: 1,
        values: vec![TIOCSTI, TIOCLINUX],
    };
    [rule(libc::SYS_ioctl, when, Verdict::Fail(EPERM))]
}

/// Families of sockets. Some, such as those of virtual machines, reach the host from any network namespace.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn sockets(network: NetworkMode) -> Vec<Rule> {
    const UNIX: u32 = 1;
    const INET: u32 = 2;
    const INET6: u32 = 10;
    const NETLINK: u32 = 16;
    const NETLINK_ROUTE: u32 = 0;
    let fails = |when| rule(libc::SYS_socket, when, Verdict::Fail(EAFNOSUPPORT));
    if network == NetworkMode::None {
        return vec![fails(When::NoneOf {
            argument: 0,
            values: vec![UNIX],
        })];
    }
    let families = vec![UNIX, INET, INET6, NETLINK];
    vec![
        fails(When::NoneOf {
            argument: 0,
            values: families,
        }),
        // Looking up names asks which addresses the machine has.
        fails(When::Pair {
            is: (0, NETLINK),
            but_not: (2, NETLINK_ROUTE),
        }),
    ]
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "seccomp_tests.rs"]
mod tests;
