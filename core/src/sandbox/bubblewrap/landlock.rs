//! The second wall: Landlock rules that say again what the mounts say, enforced by another part of the kernel.
//!
//! Landlock forbids mounting, so the rules are made inside, by the launcher, after the namespaces stand.
//! They only add access: a read-only path inside of a writable one is the mounts' alone.

use super::mount::Mount;
use crate::network::PROXY_PORT;
use crate::sandbox::{Access, NetworkMode, RootFilesystem};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
const BIND_TCP: u64 = 1;
const CONNECT_TCP: u64 = 1 << 1;
/// Sockets with abstract names, and signals, to processes outside.
const SCOPES: u64 = 0b11;

/// What this kernel offers; `None` without Landlock.
pub(super) fn version() -> Option<u32> {
    static VERSION: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    *VERSION.get_or_init(ask_for_version)
}

#[allow(unsafe_code)]
fn ask_for_version() -> Option<u32> {
    const ASK: libc::c_uint = 1;
    let nothing: *const u8 = std::ptr::null();
    // SAFETY: with this flag the kernel takes no attributes, and makes no ruleset.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK) };
    u32::try_from(answer).ok().filter(|version| *version > 0)
}

/// The rights over files that this version knows.
fn files(version: u32) -> u64 {
    match version {
        0 => 0,
        1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

/// What the launcher has to do.
pub(super) fn steps(
    version: u32,
    root: RootFilesystem,
    mounts: &[Mount],
    tmpfs: &[String],
    network: NetworkMode,
) -> Vec<String> {
    let known = if root == RootFilesystem::ReadWrite {
        0
    } else {
        files(version)
    };
    let write = known & !(MAKE_CHAR | MAKE_BLOCK);
    let device = (READ | WRITE_FILE | TRUNCATE | IOCTL_DEV) & known;
    let ports = match network {
        NetworkMode::Inherit => 0,
        NetworkMode::None | NetworkMode::Allowlist if version >= 4 => BIND_TCP | CONNECT_TCP,
        NetworkMode::None | NetworkMode::Allowlist => 0,
    };
    let scopes = if version >= 6 { SCOPES } else { 0 };
    if (known, ports, scopes) == (0, 0, 0) {
        return Vec::new();
    }
    let mut steps = vec![format!("L{known:x}:{ports:x}:{scopes:x}")];
    if known != 0 {
        let writable = mounts
            .iter()
            .filter(|mount| mount.access == Access::ReadWrite);
        let places = writable.map(|mount| mount.target.as_str());
        let scratch = tmpfs.iter().map(String::as_str).chain(["/dev/shm"]);
        steps.push(format!("P{:x}:/", READ & known));
        steps.push(format!("P{device:x}:/dev"));
        steps.extend(
            places
                .chain(scratch)
                .map(|path| format!("P{write:x}:{path}")),
        );
    }
    if ports != 0 && network == NetworkMode::Allowlist {
        steps.push(format!("N{CONNECT_TCP:x}:{PROXY_PORT}"));
    }
    steps.push("R".to_owned());
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(path: &str, access: Access) -> Mount {
        Mount {
            source: path.to_owned(),
            target: path.to_owned(),
            access,
            identity: None,
        }
    }

    #[test]
    fn the_rules_repeat_the_mounts() {
        let mounts = [
            mount("/w", Access::ReadWrite),
            mount("/r", Access::ReadOnly),
        ];
        let tmpfs = ["/tmp".to_owned()];
        let steps = steps(
            7,
            RootFilesystem::Isolated,
            &mounts,
            &tmpfs,
            NetworkMode::None,
        );
        let expected = [
            "Lffff:3:3",
            "Pd:/",
            "Pc00f:/dev",
            "Pf7bf:/w",
            "Pf7bf:/tmp",
            "Pf7bf:/dev/shm",
            "R",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn older_kernels_get_what_they_know() {
        let first = |version| {
            let root = RootFilesystem::Isolated;
            steps(version, root, &[], &[], NetworkMode::None).swap_remove(0)
        };
        assert_eq!(first(1), "L1fff:0:0");
        assert_eq!(first(2), "L3fff:0:0");
        assert_eq!(first(3), "L7fff:0:0");
        assert_eq!(first(4), "L7fff:3:0");
        assert_eq!(first(5), "Lffff:3:0");
        assert_eq!(first(9), "Lffff:3:3");
    }

    #[test]
    fn an_allowlist_leaves_the_port_of_the_gateway() {
        let steps = steps(
            7,
            RootFilesystem::Isolated,
            &[],
            &[],
            NetworkMode::Allowlist,
        );
        assert!(steps.contains(&"N2:3128".to_owned()));
    }

    #[test]
    fn a_writable_host_leaves_scopes_only() {
        let write = RootFilesystem::ReadWrite;
        assert_eq!(
            steps(7, write, &[], &[], NetworkMode::Inherit),
            ["L0:0:3", "R"]
        );
        assert!(steps(3, write, &[], &[], NetworkMode::Inherit).is_empty());
    }
}
