//! Conversations for the life of one process.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};

use super::gate::{FORKED, forked};
use super::{SessionKey, SessionStore, Snapshot};
use crate::error::{Error, ErrorKind, Result};

/// Conversations that nobody can continue by accident: their identifiers were made up for one run.
const MAX_GENERATED: usize = 1_000;

/// Keeps conversations for the life of the process. The default of every runtime.
///
/// The actor that first loads or writes a conversation owns it; any other actor, and none, gets an
/// error. Conversations under an identifier of the application stay until the process ends. Of
/// those whose identifier was generated for one run, the 1,000 that were used last stay, so that a server
/// does not grow with each request.
#[derive(Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: HashMap<String, Entry>,
    /// Generated conversations, the one that was not used for longest first.
    passing: BTreeMap<u64, String>,
    clock: u64,
}

struct Entry {
    actor_id: Option<String>,
    snapshot: Option<Arc<Snapshot>>,
    /// The place in `passing`, unless the application knows the identifier.
    used: Option<u64>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> Result<MutexGuard<'_, Kept>> {
        self.kept.try_lock_for(FORKED).ok_or_else(forked)
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<Snapshot>> {
        let found = {
            let mut kept = self.kept()?;
            if !kept.sessions.contains_key(&key.id) && key.actor_id.is_none() {
                return Ok(None);
            }
            kept.open(key, false)?.snapshot.clone()
        };
        Ok(found.map(|snapshot| (*snapshot).clone()))
    }

    async fn append(
        &self,
        key: &SessionKey,
        addition: Snapshot,
        expected_count: usize,
    ) -> Result<()> {
        let mut kept = self.kept()?;
        let entry = kept.open(key, true)?;
        let count = entry
            .snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.messages.len());
        if count != expected_count {
            return Err(conflict(expected_count, count));
        }
        let snapshot = Arc::make_mut(entry.snapshot.get_or_insert_default());
        snapshot.messages.extend(addition.messages);
        snapshot.state = addition.state;
        snapshot.metadata = addition.metadata;
        Ok(())
    }

    async fn replace(&self, key: &SessionKey, snapshot: Snapshot) -> Result<()> {
        self.kept()?.open(key, true)?.snapshot = Some(Arc::new(snapshot));
        Ok(())
    }
}

impl Kept {
    /// The conversation, owned by the key's actor from now on.
    fn open(&mut self, key: &SessionKey, writes: bool) -> Result<&mut Entry> {
        self.clock += 1;
        let now = self.clock;
        let is_new = !self.sessions.contains_key(&key.id);
        let entry = self
            .sessions
            .entry(key.id.clone())
            .or_insert_with(|| Entry {
                actor_id: key.actor_id.clone(),
                snapshot: None,
                used: None,
            });
        if entry.actor_id != key.actor_id {
            return Err(wrong_actor());
        }
        let passing = if is_new {
            key.generated
        } else {
            entry.used.is_some() && (key.generated || !writes)
        };
        if let Some(used) = entry.used.take() {
            self.passing.remove(&used);
        }
        if passing {
            entry.used = Some(now);
            self.passing.insert(now, key.id.clone());
            if self.passing.len() > MAX_GENERATED
                && let Some((_, oldest)) = self.passing.pop_first()
            {
                self.sessions.remove(&oldest);
            }
        }
        self.sessions.get_mut(&key.id).ok_or_else(wrong_actor)
    }
}

pub(super) fn wrong_actor() -> Error {
    Error::new(
        ErrorKind::Error,
        "the session belongs to another actor; use the actor_id that it was created with, \
         or another session_id",
    )
}

pub(super) fn conflict(expected: usize, found: usize) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!(
            "another writer changed the session: {expected} messages were expected, and it has {found}; \
             load it again"
        ),
    )
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("MemoryStore")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::Message;

    fn said(text: &str) -> Snapshot {
        Snapshot {
            messages: vec![Message::user(text)],
            ..Snapshot::default()
        }
    }

    fn key(id: &str, actor: Option<&str>) -> SessionKey {
        SessionKey::new(id, actor.map(str::to_owned))
    }

    fn generated(id: usize) -> SessionKey {
        SessionKey {
            generated: true,
            ..SessionKey::new(id.to_string(), None)
        }
    }

    #[tokio::test]
    async fn keeps_what_was_written() {
        let store = MemoryStore::new();
        let key = key("a", Some("user-7"));
        assert_eq!(store.load(&key).await.unwrap(), None);
        store.append(&key, said("one"), 0).await.unwrap();
        let mut second = said("two");
        second.state.insert("n".into(), json!(2));
        store.append(&key, second, 1).await.unwrap();
        let found = store.load(&key).await.unwrap().unwrap();
        assert_eq!(found.messages, [Message::user("one"), Message::user("two")]);
        assert_eq!(found.state["n"], 2);
        store.replace(&key, said("new")).await.unwrap();
        assert_eq!(store.load(&key).await.unwrap(), Some(said("new")));
    }

    #[tokio::test]
    async fn a_writer_that_was_too_slow_loses_nothing_of_others() {
        let store = MemoryStore::new();
        let key = key("a", None);
        store.append(&key, said("one"), 0).await.unwrap();
        let error = store.append(&key, said("two"), 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert_eq!(store.load(&key).await.unwrap(), Some(said("one")));
    }

    #[tokio::test]
    async fn loading_claims_a_new_conversation_for_its_actor() {
        let store = MemoryStore::new();
        assert_eq!(store.load(&key("a", Some("x"))).await.unwrap(), None);
        for other in [Some("y"), None] {
            let error = store.load(&key("a", other)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Error);
            assert!(store.replace(&key("a", other), said("z")).await.is_err());
        }
        store.replace(&key("b", None), said("open")).await.unwrap();
        assert!(store.load(&key("b", Some("x"))).await.is_err());
    }

    #[tokio::test]
    async fn generated_conversations_do_not_pile_up() {
        let store = MemoryStore::new();
        store
            .replace(&key("mine", None), said("kept"))
            .await
            .unwrap();
        for number in 0..MAX_GENERATED {
            store
                .append(&generated(number), said("x"), 0)
                .await
                .unwrap();
        }
        // Read: used again, but still nobody's. Written under an identifier that was given: kept.
        assert!(store.load(&key("0", None)).await.unwrap().is_some());
        store.append(&key("1", None), said("y"), 1).await.unwrap();
        for number in MAX_GENERATED..(2 * MAX_GENERATED - 1) {
            store
                .append(&generated(number), said("x"), 0)
                .await
                .unwrap();
        }
        let stays = async |id: &str| store.load(&key(id, None)).await.unwrap().is_some();
        assert!(stays("mine").await && stays("0").await && stays("1").await);
        assert!(!stays("2").await && !stays("999").await && stays("1000").await);
        assert_eq!(store.kept.lock().passing.len(), MAX_GENERATED);
        assert_eq!(store.kept.lock().sessions.len(), MAX_GENERATED + 2);
    }
}
