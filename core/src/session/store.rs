//! Where conversations are kept.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::Snapshot;
use super::gate::Gates;
use crate::error::Result;
use crate::message::Message;

/// Which conversation, and whose.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// Identifier of the conversation.
    pub id: String,
    /// The actor that owns it, as the application authenticated it. `None` separates nobody.
    pub actor_id: Option<String>,
    /// Whether the identifier was made up for one run because the application gave none.
    pub generated: bool,
}

impl SessionKey {
    /// The conversation `id`, owned by `actor_id`.
    pub fn new(id: impl Into<String>, actor_id: Option<String>) -> Self {
        Self {
            id: id.into(),
            actor_id,
            generated: false,
        }
    }
}

/// Keeps conversations. Any number of runs may use one store at once.
///
/// A write that has begun is not cut off by the end of its run: neither a deadline nor cancelling
/// ends the wait for it, because the conversation is given to the next run only once nothing is
/// written any more. Give it a bound of its own, such as the timeout of the database.
///
/// A store gets its data already stripped of what must not be kept, and must
/// not infer an actor from its surroundings.
///
/// ```
/// use little_ghost::{Result, SessionKey, SessionStore, Snapshot, async_trait};
///
/// struct Database;
///
/// #[async_trait]
/// impl SessionStore for Database {
///     async fn load(&self, key: &SessionKey) -> Result<Option<Snapshot>> {
///         # let _ = key;
///         Ok(None) // SELECT ... WHERE id = ? AND actor = ?
///     }
///
///     async fn append(
///         &self,
///         key: &SessionKey,
///         addition: Snapshot,
///         expected_count: usize,
///     ) -> Result<()> {
///         # let _ = (key, addition, expected_count);
///         Ok(()) // in one transaction: count, compare, insert
///     }
///
///     async fn replace(&self, key: &SessionKey, snapshot: Snapshot) -> Result<()> {
///         # let _ = (key, snapshot);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The conversation, or `None` before its first write.
    ///
    /// # Errors
    /// Whatever kept it from being read, and another actor than the owner; the run then fails.
    async fn load(&self, key: &SessionKey) -> Result<Option<Snapshot>>;

    /// Adds the messages of `addition` after the `expected_count` that are there, and takes its
    /// state and metadata, all at once. Creates the conversation when it is new.
    ///
    /// # Errors
    /// [`Protocol`](crate::ErrorKind::Protocol) when another number of messages is there, because
    /// another writer was faster; whatever kept it from being written.
    async fn append(
        &self,
        key: &SessionKey,
        addition: Snapshot,
        expected_count: usize,
    ) -> Result<()>;

    /// Puts `snapshot` in the place of everything that is there, all at once.
    ///
    /// # Errors
    /// Whatever kept it from being written; what was there is still there then.
    async fn replace(&self, key: &SessionKey, snapshot: Snapshot) -> Result<()>;

    /// Waits until no other work on the conversation goes on, and keeps others out until the guard
    /// is released. Not re-entrant. By default that holds within this store in this process.
    ///
    /// # Errors
    /// Whatever kept it from being locked.
    async fn synchronize(&self, key: &SessionKey) -> Result<SessionGuard> {
        static GATES: LazyLock<Gates> = LazyLock::new(Gates::default);
        let store = std::ptr::from_ref(self).cast::<()>() as usize;
        Ok(SessionGuard::holding(GATES.enter(store, key).await?))
    }

    /// Shows others a view of the conversation that leaves the stored one as it is. A store
    /// without such a view does nothing. Nothing is removed from `messages` on the way here.
    ///
    /// # Errors
    /// Whatever kept it from being published.
    async fn project_conversation(
        &self,
        key: &SessionKey,
        messages: &[Message],
        metadata: &Map<String, Value>,
    ) -> Result<()> {
        let _ = (key, messages, metadata);
        Ok(())
    }
}

impl fmt::Debug for dyn SessionStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionStore")
    }
}

type Release = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// The right to work on a conversation alone.
#[must_use = "others may work on the conversation as soon as the guard is dropped"]
pub struct SessionGuard {
    // Held for what its drop does.
    held: Option<Box<dyn Any + Send>>,
    release: Option<Release>,
}

impl SessionGuard {
    /// A guard that lasts as long as `lock` is not dropped.
    pub fn holding(lock: impl Send + 'static) -> Self {
        Self {
            held: Some(Box::new(lock)),
            release: None,
        }
    }

    /// A guard that is given back by running `release`. It runs only if the guard is
    /// [released](Self::release), not when it is dropped.
    pub fn releasing(release: impl Future<Output = Result<()>> + Send + 'static) -> Self {
        Self {
            held: None,
            release: Some(Box::pin(release)),
        }
    }

    /// Lets others work.
    ///
    /// # Errors
    /// Whatever kept the store from giving the conversation free.
    pub async fn release(mut self) -> Result<()> {
        drop(self.held.take());
        match self.release.take() {
            Some(release) => release.await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for SessionGuard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionGuard")
    }
}
