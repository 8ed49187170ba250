//! What tools and callbacks can see of the run they work for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::agent::Conversation;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::run::{Invocation, Run};

/// The run a tool or a callback works for: request, shared state, cancellation and deadline.
#[derive(Clone, Debug)]
pub struct RunContext {
    run: Run,
    conversation: Arc<Conversation>,
    tool_use_id: Arc<str>,
    operation_id: Arc<str>,
    concurrent: bool,
}

impl RunContext {
    pub(crate) fn new(
        conversation: Arc<Conversation>,
        tool_use_id: &str,
        operation_id: Arc<str>,
        concurrent: bool,
    ) -> Self {
        Self {
            run: Run::new(Arc::clone(&conversation.run)),
            conversation,
            tool_use_id: tool_use_id.into(),
            operation_id,
            concurrent,
        }
    }

    /// The invocation that called.
    pub(crate) fn conversation(&self) -> &Arc<Conversation> {
        &self.conversation
    }

    /// What the invocation is a part of: the run, or the operation that started a nested agent.
    #[must_use]
    pub fn parent_operation_id(&self) -> Arc<str> {
        Arc::clone(&self.conversation.parent_operation_id)
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The request that the run answers; take identity and permissions from here.
    #[must_use]
    pub fn invocation(&self) -> &Invocation {
        self.run.invocation()
    }

    /// Identifier of the model's tool call; empty for callbacks that belong to no tool call.
    #[must_use]
    pub fn tool_use_id(&self) -> &str {
        &self.tool_use_id
    }

    /// Identifier of this tool execution; for a callback of no tool call, of the invocation.
    #[must_use]
    pub fn operation_id(&self) -> &str {
        &self.operation_id
    }

    /// Whether other tool calls of the same response may run at the same time.
    #[must_use]
    pub fn is_concurrent(&self) -> bool {
        self.concurrent
    }

    /// Reads or changes the run's shared state, as [`Run::with_state`].
    pub fn with_state<T>(&self, change: impl FnOnce(&mut Map<String, Value>) -> T) -> T {
        self.run.with_state(change)
    }

    /// Cancelled with the run, and when a deadline ends its work.
    #[must_use]
    pub fn cancellation_token(&self) -> &CancellationToken {
        self.run.work_token()
    }

    /// When the run must end.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        self.invocation().deadline()
    }

    /// Time left before the deadline, at most `maximum`; `maximum` itself without a deadline.
    #[must_use]
    pub fn remaining_time(&self, maximum: Option<Duration>) -> Option<Duration> {
        match (
            self.deadline().map(|deadline| deadline.remaining()),
            maximum,
        ) {
            (Some(left), Some(maximum)) => Some(left.min(maximum)),
            (left, maximum) => left.or(maximum),
        }
    }

    /// Fails when the work should stop.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled) or
    /// [`DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded).
    pub fn check(&self) -> Result<()> {
        if self.cancellation_token().is_cancelled() {
            return Err(Error::cancelled());
        }
        match self.deadline() {
            Some(deadline) if deadline.is_past() => Err(Error::deadline_exceeded()),
            _ => Ok(()),
        }
    }
}
