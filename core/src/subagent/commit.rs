//! Keeping a turn, and going on from what was kept.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::ledger::{Ledger, commit_session_id, conversation_session_id};
use super::record::{Record, damaged, now};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::session::{Snapshot, persistable};

/// Bytes of a state, as JSON, that is kept between runs.
const MAX_STATE_BYTES: usize = 1024 * 1024;

/// A turn that is to be kept.
pub(super) struct Commit<'a> {
    pub(super) path: &'a str,
    pub(super) conversation_id: &'a str,
    pub(super) kind: &'a str,
    pub(super) turn: u64,
    /// What was kept before.
    pub(super) before: Option<&'a Record>,
    /// What this turn adds to the transcript.
    pub(super) said: Vec<Message>,
    pub(super) state: &'a Map<String, Value>,
}

impl Ledger {
    /// Keeps a turn. Nothing of it counts unless all of it was written.
    ///
    /// # Errors
    /// What the store fails with, or a state that is too large.
    pub(super) async fn commit(&self, commit: Commit<'_>) -> Result<Record> {
        let size = serde_json::to_vec(commit.state).map_or(0, |bytes| bytes.len());
        if size > MAX_STATE_BYTES {
            return Err(Error::new(
                ErrorKind::Error,
                format!(
                    "the state of the subagent {} takes {size} bytes, more than the {MAX_STATE_BYTES} that are \
                     kept; declare it with persist: false or keep less in its state",
                    commit.path
                ),
            ));
        }
        let said = persistable(&commit.said);
        let count = commit.before.map_or(0, |record| record.message_count);
        let record = Record {
            conversation_id: commit.conversation_id.to_owned(),
            kind: commit.kind.to_owned(),
            latest_turn: commit.turn,
            updated_at: now(),
            message_count: count + said.len(),
            commit_id: Uuid::new_v4().to_string(),
            commit_slot: commit.before.map_or(0, |record| 1 - record.commit_slot),
        };
        self.write_transcript(&commit, said, count).await?;
        self.write_state(&record, commit.path, commit.state).await?;
        self.register(commit.path, record.clone()).await?;
        Ok(record)
    }

    async fn write_transcript(
        &self,
        commit: &Commit<'_>,
        said: Vec<Message>,
        count: usize,
    ) -> Result<()> {
        let mut metadata = self.metadata("subagent_conversation");
        metadata.insert(
            "little_ghost_conversation_id".into(),
            json!(commit.conversation_id),
        );
        metadata.insert("little_ghost_subagent_id".into(), json!(commit.path));
        metadata.insert("little_ghost_agent_kind".into(), json!(commit.kind));
        let session = self.session(
            conversation_session_id(commit.conversation_id),
            metadata.clone(),
        );
        match session.load().await? {
            // What a turn that never counted left there gives way.
            Some(stored) if stored.messages.len() != count => {
                self.expect(
                    &stored,
                    "subagent_conversation",
                    Some(commit.conversation_id),
                )?;
                let mut messages = whole(stored.messages, count)?;
                messages.extend(said);
                let snapshot = Snapshot {
                    messages,
                    state: Map::new(),
                    metadata,
                };
                session.replace(snapshot).await
            }
            None if count > 0 => Err(damaged("a transcript is gone")),
            _ => session.append(said).await,
        }
    }

    async fn write_state(
        &self,
        record: &Record,
        path: &str,
        state: &Map<String, Value>,
    ) -> Result<()> {
        let mut metadata = self.metadata("subagent_commit");
        metadata.insert(
            "little_ghost_conversation_id".into(),
            json!(record.conversation_id),
        );
        metadata.insert("little_ghost_subagent_id".into(), json!(path));
        metadata.insert("little_ghost_commit_id".into(), json!(record.commit_id));
        metadata.insert("little_ghost_turn".into(), json!(record.latest_turn));
        metadata.insert(
            "little_ghost_message_count".into(),
            json!(record.message_count),
        );
        let id = commit_session_id(&record.conversation_id, record.commit_slot);
        let snapshot = Snapshot {
            messages: Vec::new(),
            state: state.clone(),
            metadata,
        };
        self.session(id, Map::new()).replace(snapshot).await
    }

    /// The messages and the state that a conversation goes on from.
    ///
    /// # Errors
    /// What the store fails with; [`ErrorKind::Protocol`] for what was not committed like this.
    pub(super) async fn restore(
        &self,
        record: &Record,
    ) -> Result<(Vec<Message>, Map<String, Value>)> {
        let id = &record.conversation_id;
        let transcript = self.session(conversation_session_id(id), Map::new());
        let transcript = transcript.load().await?;
        let transcript = transcript.ok_or_else(|| damaged("a transcript is gone"))?;
        self.expect(&transcript, "subagent_conversation", Some(id))?;
        let commit = self.session(commit_session_id(id, record.commit_slot), Map::new());
        let commit = commit.load().await?;
        let commit = commit.ok_or_else(|| damaged("a committed state is gone"))?;
        self.expect(&commit, "subagent_commit", Some(id))?;
        let named = commit.metadata.get("little_ghost_commit_id");
        if named.and_then(Value::as_str) != Some(&record.commit_id) {
            return Err(damaged("a committed state is another one"));
        }
        Ok((
            whole(transcript.messages, record.message_count)?,
            commit.state,
        ))
    }
}

/// The first `count` messages, if there are so many.
fn whole(mut messages: Vec<Message>, count: usize) -> Result<Vec<Message>> {
    if messages.len() < count {
        return Err(damaged("a transcript is shorter than it was"));
    }
    messages.truncate(count);
    Ok(messages)
}
