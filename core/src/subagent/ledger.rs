//! Where the conversations of subagents outlive their run: three kinds of sessions in the run's store.
//!
//! The registry says which conversations there are and how much of each counts. A conversation session has a
//! compact transcript. Two commit sessions take turns to hold the state that goes with it. Writing the
//! registry last is what makes a turn count.

use std::sync::Arc;

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::record::{Record, Records, damaged, read, write};
use crate::error::Result;
use crate::session::{Session, SessionKey, SessionStore, Snapshot, alone};

/// The pseudonym of the session that subagents belong to.
pub(crate) fn parent_link(session_id: &str, actor_id: Option<&str>) -> String {
    let text = format!("{}\0{session_id}", actor_id.unwrap_or_default());
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The session with the registry of what belongs to `link`.
pub(crate) fn registry_session_id(link: &str) -> String {
    format!("lg_subagent_registry_{link}")
}

/// The session with the transcript of a conversation.
pub(crate) fn conversation_session_id(conversation_id: &str) -> String {
    format!("lg_subagent_conversation_{conversation_id}")
}

/// The session with a committed state of a conversation; `slot` is 0 or 1.
pub(crate) fn commit_session_id(conversation_id: &str, slot: u8) -> String {
    format!("lg_subagent_commit_{conversation_id}_{slot}")
}

/// The stored conversations of the subagents of one session.
pub(super) struct Ledger {
    store: Arc<dyn SessionStore>,
    parent: SessionKey,
    link: String,
    known: tokio::sync::Mutex<Option<Records>>,
}

impl Ledger {
    /// What belongs to the session `parent` in `store`.
    pub(super) fn new(store: Arc<dyn SessionStore>, parent: SessionKey) -> Self {
        Self {
            link: parent_link(&parent.id, parent.actor_id.as_deref()),
            store,
            parent,
            known: tokio::sync::Mutex::default(),
        }
    }

    /// What the registry has. The store is asked once.
    ///
    /// # Errors
    /// What the store fails with; [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) for a damaged registry.
    pub(super) async fn records(&self) -> Result<Records> {
        let mut known = self.known.lock().await;
        if let Some(records) = &*known {
            return Ok(records.clone());
        }
        let records = self.stored().await?;
        *known = Some(records.clone());
        Ok(records)
    }

    async fn stored(&self) -> Result<Records> {
        let id = registry_session_id(&self.link);
        match self.session(id, Map::new()).load().await? {
            None => Ok(Records::new()),
            Some(snapshot) => {
                self.expect(&snapshot, "subagent_registry", None)?;
                read(&snapshot.state)
            }
        }
    }

    /// Makes the conversation at `path` count as `record` says.
    pub(super) async fn register(&self, path: &str, record: Record) -> Result<()> {
        let mut known = self.known.lock().await;
        let id = registry_session_id(&self.link);
        let session = self.session(id, Map::new());
        // Another agent of the run may keep its subagents in the same registry.
        let _inside = alone(&self.store, &self.key(session.id().to_owned())).await?;
        let mut records = self.stored().await?;
        records.insert(path.to_owned(), record);
        let state = write(&mut records);
        let snapshot = Snapshot {
            messages: Vec::new(),
            state,
            metadata: self.metadata("subagent_registry"),
        };
        session.replace(snapshot).await?;
        *known = Some(records);
        Ok(())
    }

    pub(super) fn session(&self, id: String, metadata: Map<String, Value>) -> Session {
        Session::open(self.key(id), Arc::clone(&self.store), metadata)
    }

    fn key(&self, id: String) -> SessionKey {
        SessionKey {
            id,
            ..self.parent.clone()
        }
    }

    /// Facts about a session of the engine's own.
    pub(super) fn metadata(&self, kind: &str) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("little_ghost_kind".into(), json!(kind));
        metadata.insert("little_ghost_parent_link".into(), json!(self.link));
        metadata
    }

    /// Refuses a session that is not what its identifier says, or belongs to others.
    pub(super) fn expect(
        &self,
        snapshot: &Snapshot,
        kind: &str,
        conversation_id: Option<&str>,
    ) -> Result<()> {
        let has = |key: &str, value: &str| {
            snapshot.metadata.get(key).and_then(Value::as_str) == Some(value)
        };
        let belongs = conversation_id.is_none_or(|id| has("little_ghost_conversation_id", id));
        if has("little_ghost_kind", kind) && has("little_ghost_parent_link", &self.link) && belongs
        {
            return Ok(());
        }
        Err(damaged(&format!(
            "a session is no {kind} of this conversation"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_derived() {
        let link = parent_link("s", Some("a"));
        assert_eq!(link.len(), 64);
        assert_ne!(link, parent_link("s", None));
        assert_eq!(
            parent_link("", None),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
        );
        assert_eq!(commit_session_id("c", 1), "lg_subagent_commit_c_1");
    }
}
