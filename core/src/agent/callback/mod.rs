//! Code of the application, and of built-in features, around the steps of an invocation.

mod chain;
mod closure;
mod payload;

use async_trait::async_trait;

pub(crate) use chain::CallbackChain;
pub use payload::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, ToolOutcome,
};

use crate::error::Result;
use crate::message::Message;
use crate::model::{ModelRequest, ModelResponse};
use crate::run::RunResult;
use crate::tool::RunContext;

/// What a callback wants to happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Decision<T> {
    /// Go on.
    #[default]
    Continue,
    /// Go on with this instead.
    Replace(T),
    /// Stop. The reason becomes the message of the error, or of the tool result.
    Cancel(Option<String>),
}

/// Code that runs around the steps of every invocation of an agent.
///
/// Implement what you need: every method continues by default. Callbacks run in the order in which
/// the agent got them, each sees what the ones before it replaced, and the first that cancels
/// ends the row. A failure of a callback fails the run.
///
/// Cancelling before or after the invocation or the model ends the run as cancelled. Calls for
/// tools that run at the same time may overlap.
///
/// For a single step a closure will do, such as [`AgentBuilder::before_model`](crate::AgentBuilder::before_model).
///
/// ```
/// use little_ghost::{
///     Agent, BeforeModel, Callbacks, Decision, ModelRequest, Result, RunContext, async_trait,
/// };
///
/// struct Calm;
///
/// #[async_trait]
/// impl Callbacks for Calm {
///     async fn before_model(
///         &self,
///         call: &BeforeModel,
///         _context: &RunContext,
///     ) -> Result<Decision<ModelRequest>> {
///         let mut request = call.request.clone();
///         request.settings.insert("temperature".into(), 0.into());
///         Ok(Decision::Replace(request))
///     }
/// }
///
/// # fn example() -> Result<()> {
/// let agent = Agent::builder("support").callbacks(Calm).build()?;
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[async_trait]
pub trait Callbacks: Send + Sync {
    /// Before an invocation begins. Replaces its messages.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn before_invocation(
        &self,
        payload: &BeforeInvocation,
        context: &RunContext,
    ) -> Result<Decision<Vec<Message>>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// After an invocation has its result, before anybody gets it. Replaces the result.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn after_invocation(
        &self,
        payload: &AfterInvocation,
        context: &RunContext,
    ) -> Result<Decision<RunResult>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// Before a request is sent to the model. Of a replacement the messages and the settings
    /// count: replaced messages become the conversation, replaced settings hold for this call. Tools and
    /// schema are the agent's own.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn before_model(
        &self,
        payload: &BeforeModel,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// After the model answered. Replaces the response.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn after_model(
        &self,
        payload: &AfterModel,
        context: &RunContext,
    ) -> Result<Decision<ModelResponse>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// After the model failed. A replaced request is tried again, at most three times for each
    /// model call. Cancellation, the deadline and failed clean-up are not offered.
    ///
    /// # Errors
    /// Any; it fails the run in place of the model's error.
    async fn after_model_error(
        &self,
        payload: &AfterModelError,
        context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// Before a tool runs whose input is valid. A cancelled call is answered with an error
    /// result that says the reason, which the model reads. Nothing can be replaced.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn before_tool(
        &self,
        payload: &BeforeTool,
        context: &RunContext,
    ) -> Result<Decision<()>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }

    /// After a tool answered or failed, or its input was invalid. Replaces what the model reads.
    /// Nothing can be cancelled.
    ///
    /// # Errors
    /// Any; it fails the run.
    async fn after_tool(
        &self,
        payload: &AfterTool,
        context: &RunContext,
    ) -> Result<Decision<ToolOutcome>> {
        let _ = (payload, context);
        Ok(Decision::Continue)
    }
}
