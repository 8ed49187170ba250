//! One conversation, as runs and applications use it.

use std::future::Future;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::{SessionGuard, SessionKey, SessionStore, Snapshot, Write, is_known, persistable, plan};
use crate::error::Result;
use crate::message::Message;
use crate::panics::caught;
use crate::run::Invocation;

const STORE: &str = "the session store";

/// One conversation in a store.
///
/// Nothing is read before the first use, and then once. What is written has neither system
/// messages nor messages marked with the metadata `transient` nor the model's reasoning.
///
/// ```
/// use std::sync::Arc;
/// use little_ghost::{MemoryStore, Message, Session};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let session = Session::new("conversation-42", store.clone()).with_actor_id("user-7");
/// session.append(vec![Message::user("Hello")]).await?;
///
/// let reopened = Session::new("conversation-42", store).with_actor_id("user-7");
/// let history = reopened.history(Vec::new()).await?;
/// assert_eq!(history[0].text(), "Hello");
/// # Ok::<(), little_ghost::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

struct Shared {
    key: SessionKey,
    store: Arc<dyn SessionStore>,
    metadata: Map<String, Value>,
    loaded: Mutex<Loaded>,
}

#[derive(Clone, Default)]
enum Loaded {
    #[default]
    Never,
    /// What the store has; `None` when it has nothing yet.
    Known(Option<Arc<Snapshot>>),
}

impl Session {
    /// The conversation `id` in `store`.
    pub fn new(id: impl Into<String>, store: Arc<dyn SessionStore>) -> Self {
        Self::open(SessionKey::new(id, None), store, Map::new())
    }

    pub(crate) fn open(
        key: SessionKey,
        store: Arc<dyn SessionStore>,
        metadata: Map<String, Value>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                key,
                store,
                metadata,
                loaded: Mutex::default(),
            }),
        }
    }

    /// The conversation that a request names.
    pub(crate) fn of_invocation(invocation: &Invocation, store: Arc<dyn SessionStore>) -> Self {
        let actor_id = invocation.actor_id().map(str::to_owned);
        let mut key = SessionKey::new(invocation.session_id(), actor_id);
        key.generated = invocation.is_session_generated();
        Self::open(key, store, Map::new())
    }

    /// The actor that owns the conversation. Call it first.
    #[must_use]
    pub fn with_actor_id(self, actor_id: impl Into<String>) -> Self {
        let mut key = self.shared.key.clone();
        key.actor_id = Some(actor_id.into());
        Self::open(
            key,
            Arc::clone(&self.shared.store),
            self.shared.metadata.clone(),
        )
    }

    /// Metadata of a conversation that has none yet.
    #[must_use]
    pub fn with_metadata(self, metadata: Map<String, Value>) -> Self {
        Self::open(
            self.shared.key.clone(),
            Arc::clone(&self.shared.store),
            metadata,
        )
    }

    /// Identifier of the conversation.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.shared.key.id
    }

    /// The actor that owns it.
    #[must_use]
    pub fn actor_id(&self) -> Option<&str> {
        self.shared.key.actor_id.as_deref()
    }

    pub(crate) fn key(&self) -> &SessionKey {
        &self.shared.key
    }

    /// Where it is kept.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn SessionStore> {
        &self.shared.store
    }

    /// The stored snapshot, or `None` before the first write. Asks the store once.
    ///
    /// # Errors
    /// What [`SessionStore::load`] fails with.
    pub async fn load(&self) -> Result<Option<Snapshot>> {
        Ok(self.known().await?.as_deref().cloned())
    }

    /// The stored messages, or `fallback` for a new conversation.
    ///
    /// # Errors
    /// As [`Session::load`].
    pub async fn history(&self, fallback: Vec<Message>) -> Result<Vec<Message>> {
        Ok(match self.known().await? {
            Some(snapshot) => snapshot.messages.clone(),
            None => fallback,
        })
    }

    /// A copy of the stored state; empty for a new conversation.
    ///
    /// # Errors
    /// As [`Session::load`].
    pub async fn state(&self) -> Result<Map<String, Value>> {
        Ok(self
            .known()
            .await?
            .map(|snapshot| snapshot.state.clone())
            .unwrap_or_default())
    }

    /// The stored metadata, or that of [`Session::with_metadata`] for a new conversation.
    ///
    /// # Errors
    /// As [`Session::load`].
    pub async fn metadata(&self) -> Result<Map<String, Value>> {
        Ok(match self.known().await? {
            Some(snapshot) => snapshot.metadata.clone(),
            None => self.shared.metadata.clone(),
        })
    }

    /// Adds messages; state and metadata stay.
    ///
    /// # Errors
    /// What [`SessionStore::append`] fails with, above all when somebody else wrote meanwhile.
    pub async fn append(&self, messages: Vec<Message>) -> Result<()> {
        let known = self.known().await?;
        let base = self.base(known.as_deref());
        let addition = Snapshot {
            messages: persistable(&messages),
            ..base.clone()
        };
        let mut next = base;
        let expected = known.map_or(0, |snapshot| {
            next.messages.clone_from(&snapshot.messages);
            snapshot.messages.len()
        });
        next.messages.extend_from_slice(&addition.messages);
        let append = self
            .shared
            .store
            .append(&self.shared.key, addition, expected);
        caught(STORE, append).await?;
        self.remember(next);
        Ok(())
    }

    /// Writes the conversation as it is now. Adds to it when what is stored has not changed, puts
    /// it in the place of what is stored otherwise, and writes nothing when all is the same.
    ///
    /// # Errors
    /// What [`SessionStore::append`] and [`SessionStore::replace`] fail with.
    pub async fn checkpoint(&self, messages: &[Message], state: Map<String, Value>) -> Result<()> {
        match self.prepare(messages, state).await? {
            Some(write) => write.await,
            None => Ok(()),
        }
    }

    /// The write that [`Session::checkpoint`] makes, which holds all that it needs; `None` when
    /// there is nothing to write.
    pub(crate) async fn prepare(
        &self,
        messages: &[Message],
        state: Map<String, Value>,
    ) -> Result<Option<impl Future<Output = Result<()>> + Send + 'static>> {
        let known = self.known().await?;
        // Most checkpoints bring nothing new, and to find that out must not copy the conversation.
        if known
            .as_deref()
            .is_some_and(|known| known.state == state && is_known(messages, &known.messages))
        {
            return Ok(None);
        }
        let next = Snapshot {
            messages: persistable(messages),
            state,
            metadata: self.base(known.as_deref()).metadata,
        };
        let write = plan(known.as_deref(), &next);
        if write == Write::Unchanged {
            return Ok(None);
        }
        let session = self.clone();
        Ok(Some(async move {
            let (store, key) = (&session.shared.store, &session.shared.key);
            match write {
                Write::Unchanged => {}
                Write::Append {
                    addition,
                    expected_count,
                } => caught(STORE, store.append(key, addition, expected_count)).await?,
                Write::Replace(snapshot) => {
                    caught(STORE, store.replace(key, snapshot)).await?;
                }
            }
            session.remember(next);
            Ok(())
        }))
    }

    /// Puts `snapshot` in the place of everything that is stored.
    ///
    /// # Errors
    /// What [`SessionStore::replace`] fails with.
    pub async fn replace(&self, snapshot: Snapshot) -> Result<()> {
        let snapshot = snapshot.persistable();
        let replace = self
            .shared
            .store
            .replace(&self.shared.key, snapshot.clone());
        caught(STORE, replace).await?;
        self.remember(snapshot);
        Ok(())
    }

    /// Waits until nobody else works on the conversation, and keeps others out meanwhile.
    ///
    /// # Errors
    /// What [`SessionStore::synchronize`] fails with.
    pub async fn synchronize(&self) -> Result<SessionGuard> {
        caught(STORE, self.shared.store.synchronize(&self.shared.key)).await
    }

    /// Shows others a view of the conversation; see [`SessionStore::project_conversation`].
    ///
    /// # Errors
    /// What the store fails with.
    pub async fn project_conversation(&self, messages: &[Message]) -> Result<()> {
        let metadata = self.metadata().await?;
        self.shared
            .store
            .project_conversation(&self.shared.key, messages, &metadata)
            .await
    }

    async fn known(&self) -> Result<Option<Arc<Snapshot>>> {
        if let Loaded::Known(snapshot) = self.shared.loaded.lock().clone() {
            return Ok(snapshot);
        }
        let found = caught(STORE, self.shared.store.load(&self.shared.key)).await?;
        let snapshot = found.map(|snapshot| Arc::new(snapshot.persistable()));
        let mut loaded = self.shared.loaded.lock();
        if let Loaded::Known(snapshot) = &*loaded {
            return Ok(snapshot.clone());
        }
        *loaded = Loaded::Known(snapshot.clone());
        Ok(snapshot)
    }

    /// State and metadata as they are stored, without messages.
    fn base(&self, known: Option<&Snapshot>) -> Snapshot {
        Snapshot {
            messages: Vec::new(),
            state: known
                .map(|snapshot| snapshot.state.clone())
                .unwrap_or_default(),
            metadata: known.map_or_else(
                || self.shared.metadata.clone(),
                |snapshot| snapshot.metadata.clone(),
            ),
        }
    }

    fn remember(&self, snapshot: Snapshot) {
        *self.shared.loaded.lock() = Loaded::Known(Some(Arc::new(snapshot)));
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Session")
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}
