//! A run's part in its session: what it starts from, and what it leaves.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::{Checkpoint, RunCore};
use crate::error::Result;
use crate::executor;
use crate::message::Message;
use crate::panics::{caught, panicked};
use crate::session::{Session, SessionGuard};

/// What only the host of a run can do for its session.
#[async_trait]
pub(crate) trait ConversationHost: Send + Sync {
    /// The host's live state, or `None` when it cannot have changed since it was last given.
    async fn state(&self, last: bool) -> Result<Option<Map<String, Value>>>;

    /// Lays the request's values over the stored state, which becomes the live one. Returns it.
    async fn restore_state(&self, stored: &Map<String, Value>) -> Result<Map<String, Value>>;

    /// The history that the application wants instead of the stored one and that of the request.
    async fn history(
        &self,
        stored: &[Message],
        fallback: &[Message],
    ) -> Result<Option<Vec<Message>>>;
}

/// The session of a run.
#[derive(Default)]
pub(crate) struct Conversation {
    session: Mutex<Option<Session>>,
    host: Mutex<Option<Arc<dyn ConversationHost>>>,
    history: Mutex<Option<Vec<Message>>>,
    /// Held by a write on its way. A run that is cut off does not take its write back, so the
    /// session must not be given to others before the write is over.
    writing: Arc<tokio::sync::Mutex<()>>,
}

/// The checkpoints of an agent, kept in the run's session.
struct SessionCheckpoint;

#[async_trait]
impl Checkpoint for SessionCheckpoint {
    async fn save(&self, run: &RunCore, messages: &[Message]) -> Result<()> {
        run.keep(messages, false).await
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Conversation")
    }
}

impl RunCore {
    /// Continues `session`. Call it before the agent begins.
    pub(crate) fn use_session(&self, session: Session) {
        *self.conversation.session.lock() = Some(session);
        self.keep_checkpoints(Arc::new(SessionCheckpoint));
    }

    pub(crate) fn use_conversation_host(&self, host: Arc<dyn ConversationHost>) {
        *self.conversation.host.lock() = Some(host);
    }

    pub(crate) fn session(&self) -> Option<Session> {
        self.conversation.session.lock().clone()
    }

    fn conversation_host(&self) -> Option<Arc<dyn ConversationHost>> {
        self.conversation.host.lock().clone()
    }

    /// The messages before the request's own: the session's, or what came with the request.
    pub(crate) fn history(&self) -> Vec<Message> {
        let history = self.conversation.history.lock();
        history
            .clone()
            .unwrap_or_else(|| self.invocation.history().to_vec())
    }

    /// Takes up the conversation where the session has it.
    pub(super) async fn restore(&self, session: &Session) -> Result<()> {
        let snapshot = session.load().await?;
        let host = self.conversation_host();
        let stored = snapshot.as_ref().map_or(&[][..], |found| &found.messages);
        let chosen = match &host {
            Some(host) => host.history(stored, self.invocation.history()).await?,
            None => None,
        };
        if let Some(snapshot) = snapshot {
            let state = match host {
                Some(host) => host.restore_state(&snapshot.state).await?,
                None => {
                    let mut state = snapshot.state;
                    state.extend(self.invocation.context().clone());
                    state
                }
            };
            self.with_state(|live| *live = state);
            *self.conversation.history.lock() = Some(snapshot.messages);
        }
        if chosen.is_some() {
            *self.conversation.history.lock() = chosen;
        }
        Ok(())
    }

    /// The run's own checkpoint, after the agent has ended.
    pub(super) async fn last_checkpoint(&self, messages: &[Message]) -> Result<()> {
        self.keep(messages, true).await
    }

    async fn keep(&self, messages: &[Message], last: bool) -> Result<()> {
        let Some(session) = self.session() else {
            return Ok(());
        };
        if let Some(host) = self.conversation_host()
            && let Some(state) = host.state(last).await?
        {
            self.with_state(|live| *live = state);
        }
        let state = self.with_state(|state| state.clone());
        let Some(write) = session.prepare(messages, state).await? else {
            return Ok(());
        };
        let busy = Arc::clone(&self.conversation.writing).lock_owned().await;
        // A store in memory needs no task of its own.
        let mut write = Box::pin(write);
        let begun = poll_fn(|context| Poll::Ready(write.as_mut().poll(context))).await;
        if let Poll::Ready(result) = begun {
            return result;
        }
        let (done, written) = oneshot::channel();
        executor::spawn(async move {
            let result = write.await;
            drop(busy);
            let _ = done.send(result);
        })?;
        written
            .await
            .unwrap_or_else(|_| Err(panicked("the session store")))
    }

    /// Lets others have the session, once nothing is written any more.
    pub(super) async fn leave(&self, guard: SessionGuard) -> Result<()> {
        drop(self.conversation.writing.lock().await);
        caught("the session store", guard.release()).await
    }
}
