//! The callbacks of one agent, in order.

use std::sync::Arc;

use super::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, ToolOutcome,
};
use crate::error::{Error, ErrorKind, Result};
use crate::message::Message;
use crate::model::{ModelRequest, ModelResponse};
use crate::panics::caught;
use crate::run::RunResult;
use crate::tool::RunContext;

/// The callbacks of one agent, in order. Each method asks every callback and hands on replacements.
#[derive(Clone, Default)]
pub(crate) struct CallbackChain(Vec<Arc<dyn Callbacks>>);

impl CallbackChain {
    pub(crate) fn new(callbacks: Vec<Arc<dyn Callbacks>>) -> Self {
        Self(callbacks)
    }

    /// Adds `callbacks` behind all others.
    pub(crate) fn append(&mut self, callbacks: Arc<dyn Callbacks>) {
        self.0.push(callbacks);
    }

    /// Adds `callbacks` before all others.
    pub(crate) fn prepend(&mut self, callbacks: Arc<dyn Callbacks>) {
        self.0.insert(0, callbacks);
    }

    pub(crate) async fn before_invocation(
        &self,
        messages: Arc<Vec<Message>>,
        context: &RunContext,
    ) -> Result<Arc<Vec<Message>>> {
        let mut payload = BeforeInvocation { messages };
        for callback in &self.0 {
            match caught(
                "a callback before_invocation",
                callback.before_invocation(&payload, context),
            )
            .await?
            {
                Decision::Continue => {}
                Decision::Replace(messages) => payload.messages = Arc::new(messages),
                Decision::Cancel(reason) => return Err(cancelled(reason)),
            }
        }
        Ok(payload.messages)
    }

    pub(crate) async fn after_invocation(
        &self,
        result: Arc<RunResult>,
        context: &RunContext,
    ) -> Result<Arc<RunResult>> {
        let mut payload = AfterInvocation { result };
        for callback in &self.0 {
            match caught(
                "a callback after_invocation",
                callback.after_invocation(&payload, context),
            )
            .await?
            {
                Decision::Continue => {}
                Decision::Replace(result) => payload.result = Arc::new(result),
                Decision::Cancel(reason) => return Err(cancelled(reason)),
            }
        }
        Ok(payload.result)
    }

    /// The request of the last callback that replaced it, if one did.
    pub(crate) async fn before_model(
        &self,
        request: &ModelRequest,
        turn: u32,
        context: &RunContext,
    ) -> Result<Option<ModelRequest>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut payload = BeforeModel {
            request: request.clone(),
            turn,
            parent_operation_id: context.parent_operation_id(),
        };
        let mut replaced = false;
        for callback in &self.0 {
            match caught(
                "a callback before_model",
                callback.before_model(&payload, context),
            )
            .await?
            {
                Decision::Continue => {}
                Decision::Replace(request) => {
                    payload.request = request;
                    replaced = true;
                }
                Decision::Cancel(reason) => return Err(cancelled(reason)),
            }
        }
        Ok(replaced.then_some(payload.request))
    }

    pub(crate) async fn after_model(
        &self,
        request: &ModelRequest,
        response: Arc<ModelResponse>,
        turn: u32,
        context: &RunContext,
    ) -> Result<Arc<ModelResponse>> {
        if self.0.is_empty() {
            return Ok(response);
        }
        let mut payload = AfterModel {
            request: request.clone(),
            response,
            turn,
        };
        for callback in &self.0 {
            match caught(
                "a callback after_model",
                callback.after_model(&payload, context),
            )
            .await?
            {
                Decision::Continue => {}
                Decision::Replace(response) => payload.response = Arc::new(response),
                Decision::Cancel(reason) => return Err(cancelled(reason)),
            }
        }
        Ok(payload.response)
    }

    /// The request to try instead, if a callback has one.
    pub(crate) async fn after_model_error(
        &self,
        request: &ModelRequest,
        error: &Error,
        turn: u32,
        context: &RunContext,
    ) -> Result<Option<ModelRequest>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut payload = AfterModelError {
            request: request.clone(),
            error: error.clone(),
            turn,
            parent_operation_id: context.parent_operation_id(),
        };
        let mut replaced = false;
        for callback in &self.0 {
            match caught(
                "a callback after_model_error",
                callback.after_model_error(&payload, context),
            )
            .await?
            {
                Decision::Continue => {}
                Decision::Replace(request) => {
                    payload.request = request;
                    replaced = true;
                }
                Decision::Cancel(reason) => return Err(cancelled(reason)),
            }
        }
        Ok(replaced.then_some(payload.request))
    }

    /// The reason why the call must not run, if a callback has one.
    pub(crate) async fn before_tool(
        &self,
        payload: &BeforeTool,
        context: &RunContext,
    ) -> Result<Option<String>> {
        for callback in &self.0 {
            if let Decision::Cancel(reason) = caught(
                "a callback before_tool",
                callback.before_tool(payload, context),
            )
            .await?
            {
                return Ok(Some(reason.unwrap_or_else(|| {
                    "The application did not allow this tool call.".into()
                })));
            }
        }
        Ok(None)
    }

    pub(crate) async fn after_tool(
        &self,
        mut payload: AfterTool,
        context: &RunContext,
    ) -> Result<ToolOutcome> {
        for callback in &self.0 {
            if let Decision::Replace(outcome) = caught(
                "a callback after_tool",
                callback.after_tool(&payload, context),
            )
            .await?
            {
                payload.outcome = outcome;
            }
        }
        Ok(payload.outcome)
    }
}

fn cancelled(reason: Option<String>) -> Error {
    match reason {
        Some(reason) => Error::new(ErrorKind::Cancelled, reason),
        None => Error::new(ErrorKind::Cancelled, "a callback cancelled the invocation"),
    }
}
