//! What changes about the turns of an invocation that must end in more than text.

use std::sync::Arc;

use super::Conversation;
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::message::Message;
use crate::model::{ModelRequest, ModelResponse};
use crate::run::RunResult;

/// What an agent promises about its result. Belongs to the agent; [`begin`](Self::begin) makes
/// what one invocation needs.
pub(crate) trait Contract: Send + Sync {
    fn begin(&self, conversation: &Arc<Conversation>) -> Box<dyn Terms>;
}

/// A [`Contract`] at work in one invocation.
pub(crate) trait Terms: Send + Sync {
    /// Adds what the model must be told to a request that is about to be sent. `interjected`: the
    /// request carries an interjection, whose answer is free text.
    fn shape(&mut self, request: &mut ModelRequest, interjected: bool) -> Result<()>;

    /// What others may see of `response`, whose events were held back.
    fn disclose(
        &self,
        response: &Arc<ModelResponse>,
        held: Vec<StreamEvent>,
    ) -> (Vec<StreamEvent>, Arc<ModelResponse>);

    /// Decides how the invocation goes on after `response`.
    fn judge(&mut self, response: &Arc<ModelResponse>, interjected: bool) -> Result<Verdict>;

    /// What a failure of the model means for the result.
    fn explain(&self, error: Error) -> Error {
        error
    }

    /// The error of an invocation that used up its model calls, if not the general one.
    fn exhausted(&self) -> Option<Error>;
}

/// How an invocation goes on after a response.
pub(crate) enum Verdict {
    /// As without a contract: tool calls run, text ends the invocation.
    Ordinary,
    /// The messages stand for the response in the conversation, and the model is asked again.
    Repair(Vec<Message>),
    /// The invocation is over. The message stands for the response; `usage` and `messages` of the
    /// result are filled in.
    Done(Box<RunResult>),
}
