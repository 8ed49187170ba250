//! Child processes: groups, streams, limits, and their end.

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

pub(crate) use cgroup::{Cgroup, CgroupRoot};
pub(crate) use companion::Companion;
pub use options::ProcessOptions;
#[cfg(target_os = "linux")]
pub(crate) use sample::stat::Stat;
pub use session::ProcessSession;
