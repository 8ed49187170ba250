//! Conversations that outlive a run: what is kept, where, and who may write.
//!
//! A [`Session`] is one conversation in a [`SessionStore`]. A run loads it, checkpoints it as the work
//! goes on, and keeps other runs of the same conversation waiting meanwhile.

mod filesystem;
mod gate;
mod handle;
mod memory;
mod snapshot;
mod store;
mod write;

#[cfg(feature = "fuzzing")]
pub(crate) use filesystem::{decode, encode};

pub use filesystem::FilesystemStore;
pub use handle::Session;
pub use memory::MemoryStore;
pub use snapshot::Snapshot;
pub use store::{SessionGuard, SessionKey, SessionStore};

pub(crate) use filesystem::forget_locks_in_child;
pub(crate) use gate::alone;
use snapshot::is_known;
pub(crate) use snapshot::persistable;
pub(crate) use write::{Write, plan};
