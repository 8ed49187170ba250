//! Callbacks from closures.

use std::future::Future;

use async_trait::async_trait;

use super::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, ToolOutcome,
};
use crate::agent::AgentBuilder;
use crate::error::Result;
use crate::message::Message;
use crate::model::{ModelRequest, ModelResponse};
use crate::run::RunResult;
use crate::tool::RunContext;

macro_rules! closures {
    ($($(#[doc = $doc:literal])+ $step:ident: $payload:ident -> $replacement:ty;)+) => {
        impl AgentBuilder {
            $(
                $(#[doc = $doc])+
                pub fn $step<Callback, Answer>(self, callback: Callback) -> Self
                where
                    Callback: Fn($payload, RunContext) -> Answer + Send + Sync + 'static,
                    Answer: Future<Output = Result<Decision<$replacement>>> + Send + 'static,
                {
                    struct Closure<Callback>(Callback);

                    #[async_trait]
                    impl<Callback, Answer> Callbacks for Closure<Callback>
                    where
                        Callback: Fn($payload, RunContext) -> Answer + Send + Sync,
                        Answer: Future<Output = Result<Decision<$replacement>>> + Send + 'static,
                    {
                        async fn $step(
                            &self,
                            payload: &$payload,
                            context: &RunContext,
                        ) -> Result<Decision<$replacement>> {
                            (self.0)(payload.clone(), context.clone()).await
                        }
                    }

                    self.callbacks(Closure(callback))
                }
            )+
        }
    };
}

closures! {
    /// Runs `callback` before each invocation; see [`Callbacks::before_invocation`].
    before_invocation: BeforeInvocation -> Vec<Message>;
    /// Runs `callback` with the result of each invocation; see [`Callbacks::after_invocation`].
    after_invocation: AfterInvocation -> RunResult;
    /// Runs `callback` before each model call; see [`Callbacks::before_model`].
    before_model: BeforeModel -> ModelRequest;
    /// Runs `callback` after each answer of the model; see [`Callbacks::after_model`].
    after_model: AfterModel -> ModelResponse;
    /// Runs `callback` after each failure of the model; see [`Callbacks::after_model_error`].
    after_model_error: AfterModelError -> ModelRequest;
    /// Runs `callback` before each tool call; see [`Callbacks::before_tool`].
    before_tool: BeforeTool -> ();
    /// Runs `callback` after each tool call; see [`Callbacks::after_tool`].
    after_tool: AfterTool -> ToolOutcome;
}
