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

pub use options::ProcessOptions;
pub use session::ProcessSession;
