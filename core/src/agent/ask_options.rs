//! A request and how it is controlled.

use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::message::Message;
use crate::run::Invocation;

/// A request and how it is controlled. A plain message converts into one.
#[derive(Clone, Debug)]
pub struct AskOptions {
    pub(crate) invocation: Result<Invocation>,
    pub(crate) cancellation_token: Option<CancellationToken>,
}

impl AskOptions {
    /// Stops the run when `token` is cancelled.
    #[must_use]
    pub fn with_cancellation_token(mut self, token: CancellationToken) -> Self {
        self.cancellation_token = Some(token);
        self
    }

    /// Continues the conversation `session_id` of the runtime's session store, or begins it.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<String>) -> Self {
        self.invocation = self
            .invocation
            .map(|invocation| invocation.with_session_id(session_id));
        self
    }

    /// Who asks, as the application authenticated it. A conversation belongs to the actor that began it.
    #[must_use]
    pub fn with_actor_id(mut self, actor_id: impl Into<String>) -> Self {
        self.invocation = self
            .invocation
            .map(|invocation| invocation.with_actor_id(actor_id));
        self
    }
}

impl From<Invocation> for AskOptions {
    fn from(invocation: Invocation) -> Self {
        Self {
            invocation: Ok(invocation),
            cancellation_token: None,
        }
    }
}

impl<T: Into<Message>> From<T> for AskOptions {
    fn from(message: T) -> Self {
        Self {
            invocation: Invocation::new(message),
            cancellation_token: None,
        }
    }
}
