//! What every language of code mode offers.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{Broker, ProgramResult, SandboxFactory};
use crate::error::Result;

/// A language that programs are written in.
///
/// One engine serves any number of agents and runs at once: what belongs to a program is kept in the session.
#[async_trait]
pub trait Engine: Send + Sync {
    /// The language, such as `"javascript"`.
    fn language(&self) -> &str;

    /// What a model is told about the language and the tools of `catalog`, each `{name, description, input_schema, ...}`.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) for tools that the language cannot name.
    async fn instructions(&self, catalog: &[Value]) -> Result<String>;

    /// Checks the limits of a declaration, so that what is wrong with them shows before a model is asked. By default
    /// they are not looked at.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for a limit that the engine does not have, or that is impossible.
    fn check_limits(&self, _limits: &Map<String, Value>) -> Result<()> {
        Ok(())
    }

    /// Opens a session of its own for each caller. Programs run in sandboxes of `sandboxes`; their tool calls go to
    /// `broker`. `limits` are as the application wrote them: checking them, and the defaults, are the engine's.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for a limit that the engine does not have.
    async fn open_session(
        &self,
        broker: Arc<Broker>,
        sandboxes: Arc<dyn SandboxFactory>,
        limits: Map<String, Value>,
    ) -> Result<Arc<dyn Session>>;
}

/// Runs the programs of one agent invocation, one at a time, one operation at a time.
#[async_trait]
pub trait Session: Send + Sync {
    /// Starts a fresh program and watches it, until it ends or for at most a minute.
    ///
    /// # Errors
    /// [`Tool`](crate::ErrorKind::Tool) for what the model can handle: a program is active already, a limit is reached. A
    /// failure of the program is none; see [`ProgramStatus::Error`](super::ProgramStatus::Error).
    /// [`Cleanup`](crate::ErrorKind::Cleanup) when its process may still be there.
    async fn execute(&self, source: Source) -> Result<ProgramResult>;

    /// Goes on watching the active program, which is neither paused nor restarted by it.
    ///
    /// # Errors
    /// As [`execute`](Self::execute); [`Tool`](crate::ErrorKind::Tool) without an active program.
    async fn wait(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult>;

    /// Ends the active program.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    async fn stop(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult>;

    /// Ends the active program, if there is one, and releases everything. Again is no error.
    ///
    /// # Errors
    /// [`Cleanup`](crate::ErrorKind::Cleanup) when no clean end can be established.
    async fn close(&self) -> Result<()>;
}

/// A program to run.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Its text.
    pub source: String,
    /// The tools that it may call, each `{name, description, input_schema, ...}`.
    pub catalog: Arc<[Value]>,
    /// Data that the program finds as `FRAME`, in languages that have it. No place for secrets.
    pub frame: Option<Value>,
    /// About how much of the output is returned, in tokens; the middle of more is left out.
    pub max_output_tokens: Option<usize>,
}

impl Source {
    /// A program that may call the tools of `catalog`, such as [`Broker::catalog`].
    pub fn new(source: impl Into<String>, catalog: &Arc<[Value]>) -> Self {
        Self {
            source: source.into(),
            catalog: Arc::clone(catalog),
            ..Self::default()
        }
    }
}
