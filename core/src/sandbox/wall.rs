//! What keeps child processes in.

/// A mechanism of the system that enforces a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wall {
    /// Namespaces of mounts, processes, users and the network.
    Namespaces,
    /// A filter of system calls.
    Seccomp,
    /// Landlock rules for files, TCP ports and signals.
    Landlock,
    /// A control group that limits memory and tasks.
    Cgroup,
}

impl Wall {
    /// The name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Wall::Namespaces => "namespaces",
            Wall::Seccomp => "seccomp",
            Wall::Landlock => "landlock",
            Wall::Cgroup => "cgroup",
        }
    }
}
