//! Child processes: groups, streams, limits, and their end.

#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "what is here belongs to Linux")
)]
mod cgroup;
mod companion;
mod leader;
mod options;
pub(crate) mod pipe;
mod sample;
mod session;
mod spawn;
mod state;
mod supervisor;
#[cfg(test)]
mod tests;
mod wake;
mod watch;

#[cfg(target_os = "linux")]
pub(crate) use cgroup::{Cgroup, CgroupRoot};
#[cfg(target_os = "linux")]
pub(crate) use companion::Companion;
pub use options::ProcessOptions;
#[cfg(target_os = "linux")]
pub(crate) use sample::stat::Stat;
pub use session::ProcessSession;
