//! The arguments of `bwrap`.

use std::path::Path;

use super::mount::{self, Mount};
use crate::sandbox::{Access, NetworkMode, RootFilesystem};

/// Where processes find `/proc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProcFilesystem {
    /// A new one, which shows the processes of the sandbox. This is the default.
    #[default]
    New,
    /// That of the host, read-only, where the host cannot make new ones. It shows the processes of the host.
    Bind,
    /// None.
    Absent,
}

/// What the arguments say. The command is not among them.
#[derive(Clone, Debug)]
pub(super) struct Arguments<'a> {
    pub(super) root: RootFilesystem,
    pub(super) network: NetworkMode,
    /// Whether the launcher is the first process inside, and ends everything with the host. `bwrap` does it less
    /// surely: it asks the kernel for it only when it has started its own child.
    pub(super) launcher_is_first: bool,
    pub(super) runtime_roots: &'a [String],
    pub(super) proc: ProcFilesystem,
    pub(super) tmpfs: &'a [String],
    /// Bytes that each temporary file system may hold, `/dev/shm` included.
    pub(super) tmpfs_bytes: Option<u64>,
    /// In order.
    pub(super) mounts: &'a [Mount],
    pub(super) masks: &'a [String],
    /// Descriptors whose content appears as a file that can be read and executed.
    pub(super) data: &'a [(i32, String)],
    pub(super) cwd: &'a str,
    pub(super) inherit_environment: bool,
    pub(super) environment: &'a [(String, String)],
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
}

const NAMESPACES: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",
];

/// The most that bwrap takes as a `--size`.
const MOST_BYTES: u64 = i64::MAX as u64;
/// Folders that are part of `/usr` on most systems, and stand beside it on others.
const SYSTEM_FOLDERS: &[&str] = &["/bin", "/sbin", "/lib", "/lib64"];

impl Arguments<'_> {
    pub(super) fn list(&self) -> Vec<String> {
        let mut list = List(NAMESPACES.iter().map(|word| (*word).to_owned()).collect());
        list.add([match self.launcher_is_first {
            true => "--as-pid-1",
            false => "--die-with-parent",
        }]);
        list.add(["--cap-drop", "ALL"]);
        match self.root {
            RootFilesystem::Isolated => list.add(["--tmpfs", "/"]),
            RootFilesystem::ReadOnly => list.add(["--ro-bind", "/", "/"]),
            RootFilesystem::ReadWrite => list.add(["--bind", "/", "/"]),
        }
        if self.network != NetworkMode::Inherit {
            list.add(["--unshare-net"]);
        }
        if self.is_isolated() {
            self.add_runtime(&mut list);
        }
        self.add_devices(&mut list);
        match self.proc {
            ProcFilesystem::New => list.add(["--proc", "/proc"]),
            ProcFilesystem::Bind => list.add(["--ro-bind", "/proc", "/proc"]),
            ProcFilesystem::Absent => {}
        }
        for path in self.tmpfs {
            self.add_tmpfs(&mut list, path);
        }
        for folder in self.folders() {
            list.add(["--dir", &folder]);
        }
        for mount in self.mounts {
            let how = match mount.access {
                Access::ReadOnly => "--ro-bind",
                Access::ReadWrite => "--bind",
            };
            list.add([how, &mount.source, &mount.target]);
        }
        for mask in self.masks {
            list.add(["--tmpfs", mask, "--remount-ro", mask]);
        }
        for (descriptor, path) in self.data {
            let descriptor = descriptor.to_string();
            list.add(["--perms", "0555", "--ro-bind-data", &descriptor, path]);
        }
        list.add(["--chdir", self.cwd]);
        if self.is_isolated() {
            list.add(["--remount-ro", "/"]);
        }
        self.add_identity(&mut list);
        list.0
    }

    fn is_isolated(&self) -> bool {
        self.root == RootFilesystem::Isolated
    }

    fn add_runtime(&self, list: &mut List) {
        for root in self.runtime_roots {
            list.add(["--ro-bind", root, root]);
        }
        for folder in SYSTEM_FOLDERS {
            if self.runtime_roots.iter().any(|root| root == folder) {
                continue;
            }
            let path = Path::new(folder);
            match path.read_link().ok().as_deref().and_then(Path::to_str) {
                Some(target) => list.add(["--symlink", target, folder]),
                None if path.is_dir() => list.add(["--ro-bind", folder, folder]),
                None => {}
            }
        }
    }

    /// Without a bound, what is written to the folder of the devices counts for nobody.
    fn add_devices(&self, list: &mut List) {
        list.add(["--dev", "/dev"]);
        if self.tmpfs_bytes.is_some() {
            self.add_tmpfs(list, "/dev/shm");
            list.add(["--remount-ro", "/dev"]);
        }
    }

    fn add_tmpfs(&self, list: &mut List, path: &str) {
        if let Some(bytes) = self.tmpfs_bytes {
            list.add(["--size", &bytes.min(MOST_BYTES).to_string()]);
        }
        list.add(["--tmpfs", path]);
    }

    /// The folders that nothing else makes.
    fn folders(&self) -> Vec<String> {
        let targets = self.mounts.iter().map(|mount| mount.target.as_str());
        let places = self.tmpfs.iter().chain(self.masks).map(String::as_str);
        let all = mount::parents(targets.chain(places).chain([self.cwd]));
        let needed = |path: &String| {
            let in_tmpfs = |tmpfs: &String| path != tmpfs && mount::is_inside(path, tmpfs);
            self.is_isolated() || self.tmpfs.iter().any(in_tmpfs)
        };
        all.into_iter().filter(needed).collect()
    }

    fn add_identity(&self, list: &mut List) {
        if !self.inherit_environment {
            list.add(["--clearenv"]);
        }
        for (name, value) in self.environment {
            list.add(["--setenv", name, value]);
        }
        if let Some(uid) = self.uid {
            list.add(["--uid", &uid.to_string()]);
        }
        if let Some(gid) = self.gid {
            list.add(["--gid", &gid.to_string()]);
        }
    }
}

struct List(Vec<String>);

impl List {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(str::to_owned));
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
