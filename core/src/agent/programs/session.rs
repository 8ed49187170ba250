//! The code-mode session of one invocation.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::CodeModePlan;
use super::dispatch::AgentDispatch;
use crate::agent::Conversation;
use crate::code_mode::{Broker, Session};
use crate::error::{Error, Result};
use crate::message::Content;
use crate::panics::caught;
use crate::run::Resource;

/// The programs of one invocation.
pub(crate) struct Programs {
    pub(super) plan: Arc<CodeModePlan>,
    session: OnceCell<Arc<dyn Session>>,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    /// The control that was called last: what its calls are a part of.
    operation: Option<Arc<str>>,
    /// What a call of a program failed with, when that ends the run.
    failure: Option<Error>,
    /// Images and documents to be shown with the result of a control, by its call.
    shown: HashMap<String, Vec<Content>>,
}

impl Programs {
    pub(crate) fn new(plan: Arc<CodeModePlan>) -> Self {
        Self {
            plan,
            session: OnceCell::new(),
            live: Mutex::default(),
        }
    }

    /// The tools that programs may call.
    pub(crate) fn catalog(&self) -> &Arc<[Value]> {
        &self.plan.catalog
    }

    /// The session, opened by the first who needs it, for the control whose operation is `operation`.
    pub(crate) async fn enter(
        &self,
        conversation: &Arc<Conversation>,
        operation: &str,
    ) -> Result<&Arc<dyn Session>> {
        self.live.lock().operation = Some(operation.into());
        self.session
            .get_or_try_init(|| async {
                let plan = &self.plan;
                let dispatch = AgentDispatch(Arc::downgrade(conversation));
                let broker = Arc::new(Broker::new(plan.catalog.to_vec(), Arc::new(dispatch)));
                let opening = plan.engine.open_session(
                    broker,
                    Arc::clone(&plan.sandboxes),
                    plan.limits.clone(),
                );
                let session = caught("a code-mode engine", opening).await?;
                // The run closes it, should this invocation be cut off.
                let leftover = Leftover(Arc::clone(&session));
                conversation.run.resources.register(Box::new(leftover))?;
                Ok(session)
            })
            .await
    }

    /// What calls of programs are a part of.
    pub(super) fn operation(&self) -> Option<Arc<str>> {
        self.live.lock().operation.clone()
    }

    /// Keeps what ends the run, for the control that is going on or comes next.
    pub(super) fn fail(&self, error: &Error) {
        self.live
            .lock()
            .failure
            .get_or_insert_with(|| error.clone());
    }

    /// Fails with what ends the run.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.live.lock().failure {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Has `content` shown with the result of the call `tool_use_id`.
    pub(crate) fn show(&self, tool_use_id: &str, content: Vec<Content>) {
        if !content.is_empty() {
            self.live
                .lock()
                .shown
                .insert(tool_use_id.to_owned(), content);
        }
    }

    pub(crate) fn take_shown(&self, tool_use_id: &str) -> Option<Vec<Content>> {
        self.live.lock().shown.remove(tool_use_id)
    }

    /// Ends what still runs.
    ///
    /// # Errors
    /// When no clean end can be established, and what a call of a program failed with meanwhile.
    pub(crate) async fn close(&self) -> Result<()> {
        if let Some(session) = self.session.get() {
            caught("a code-mode session that closes", session.close()).await?;
        }
        self.check()
    }
}

/// A session that its invocation did not close.
struct Leftover(Arc<dyn Session>);

#[async_trait]
impl Resource for Leftover {
    async fn close(&self) -> Result<()> {
        self.0.close().await
    }
}
