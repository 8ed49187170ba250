//! Conversations in a private directory, one file each.
//!
//! Every write is a whole new file that takes the place of the old one, so a process that dies
//! at any point leaves either the old conversation or the new one.

mod document;
mod lock;
mod root;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::lock::FileLock;
use self::root::Root;
use super::gate::{Gates, Inside};
use super::memory::conflict;
use super::{SessionGuard, SessionKey, SessionStore, Snapshot};
use crate::error::{Error, ErrorKind, Result};
use crate::executor;

#[cfg(feature = "fuzzing")]
pub(crate) use self::document::{decode, encode};
pub(crate) use self::lock::forget_locks_in_child;

/// How long to wait before a lock of another process is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// Keeps conversations in a directory, across restarts and for all processes that share it.
///
/// The directory holds readable data and must belong to the application alone: it is made with
/// mode 0700, its files with 0600, and anything else in its place is refused. A conversation is
/// one JSON file with a digest; names say nothing about identifiers. The actor of the first write owns it.
///
/// Runs of one conversation wait for each other, in this process and in others, for as long as it
/// takes. The file system must have `flock` and atomic rename.
pub struct FilesystemStore {
    root: Arc<Root>,
    gates: Gates,
}

impl FilesystemStore {
    /// A store in the directory `root`, which is made when it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] when `root` is empty, a symbolic link, no directory, or open to others.
    pub fn new(root: impl AsRef<Path>) -> Result<Self> {
        let root = Root::open(root.as_ref())?;
        root.remove_leftovers();
        Ok(Self {
            root: Arc::new(root),
            gates: Gates::default(),
        })
    }

    /// The directory, as an absolute path.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    /// Does `work` while no other process reads or writes the conversation.
    async fn transact<T: Send + 'static>(
        &self,
        key: &SessionKey,
        work: impl FnOnce(&Root, &str, &SessionKey) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let name = document::name(&key.id);
        let key = key.clone();
        let mut work = Some(work);
        loop {
            let (root, name, key) = (Arc::clone(&self.root), name.clone(), key.clone());
            let Some(attempt) = work.take() else {
                return Err(Error::new(ErrorKind::Error, "a transaction ran twice"));
            };
            let tried = executor::blocking(move || {
                let Some(lock) = FileLock::try_acquire(&root, &format!("{name}.lock"))? else {
                    return Ok(Err(attempt));
                };
                let done = attempt(&root, &name, &key)?;
                drop(lock);
                Ok(Ok(done))
            })
            .await?;
            match tried {
                Ok(done) => return Ok(done),
                Err(attempt) => work = Some(attempt),
            }
            executor::pause(RETRY).await?;
        }
    }
}

#[async_trait]
impl SessionStore for FilesystemStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<Snapshot>> {
        self.transact(key, read).await
    }

    async fn append(
        &self,
        key: &SessionKey,
        addition: Snapshot,
        expected_count: usize,
    ) -> Result<()> {
        self.transact(key, move |root, name, key| {
            let file = format!("{name}.json");
            let actor = key.actor_id.as_deref();
            let bytes = match root.read(&file)? {
                Some(bytes) => document::extend(&bytes, actor, &addition, expected_count)?,
                None if expected_count == 0 => document::encode(actor, &addition)?,
                None => return Err(conflict(expected_count, 0)),
            };
            root.write(&file, &bytes)
        })
        .await
    }

    async fn replace(&self, key: &SessionKey, snapshot: Snapshot) -> Result<()> {
        self.transact(key, move |root, name, key| {
            read(root, name, key)?;
            write(root, name, key, &snapshot)
        })
        .await
    }

    async fn synchronize(&self, key: &SessionKey) -> Result<SessionGuard> {
        // Within the process first: only one of its runs then asks for the file again and again.
        let inside = self.gates.enter(0, key).await?;
        // Not the lock of a transaction, so that others can read while a run goes on.
        let name = document::run_name(&key.id, key.actor_id.as_deref());
        let name = format!("{name}.run.lock");
        let lock = loop {
            let (root, name) = (Arc::clone(&self.root), name.clone());
            let tried = executor::blocking(move || FileLock::try_acquire(&root, &name)).await?;
            match tried {
                Some(lock) => break lock,
                None => executor::pause(RETRY).await?,
            }
        };
        Ok(SessionGuard::holding(Running {
            _lock: lock,
            _inside: inside,
        }))
    }
}

/// Dropped in this order: others of this process come in when the file is free.
struct Running {
    _lock: FileLock,
    _inside: Inside,
}

fn read(root: &Root, name: &str, key: &SessionKey) -> Result<Option<Snapshot>> {
    match root.read(&format!("{name}.json"))? {
        Some(bytes) => document::decode(&bytes, key.actor_id.as_deref()).map(Some),
        None => Ok(None),
    }
}

fn write(root: &Root, name: &str, key: &SessionKey, snapshot: &Snapshot) -> Result<()> {
    let bytes = document::encode(key.actor_id.as_deref(), snapshot)?;
    root.write(&format!("{name}.json"), &bytes)
}

impl std::fmt::Debug for FilesystemStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FilesystemStore")
            .field("root", &self.root.path())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
