//! The session of a language that is built in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::languages::Language;
use super::limits::ProgramLimits;
use super::program::{End, Plan, Running};
use super::{Broker, ProgramResult, SandboxFactory, Session, Source};
use crate::error::{Error, ErrorKind, Result};

/// How long one operation watches a program.
const OBSERVATION: Duration = Duration::from_secs(60);
/// How much longer than the clean-up itself closing waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs programs of one language, one at a time.
pub(super) struct ProgramSession {
    language: Arc<dyn Language>,
    broker: Arc<Broker>,
    sandboxes: Arc<dyn SandboxFactory>,
    limits: Arc<ProgramLimits>,
    observation: Duration,
    /// Whether an operation is going on.
    is_busy: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_closed: bool,
    programs: u64,
    active: Option<Arc<Running>>,
}

impl ProgramSession {
    pub(super) fn open(
        language: Arc<dyn Language>,
        broker: Arc<Broker>,
        sandboxes: Arc<dyn SandboxFactory>,
        limits: &Map<String, Value>,
    ) -> Result<Self> {
        let limits = ProgramLimits::read(language.name(), language.limits(), limits)?;
        Ok(Self {
            language,
            broker,
            sandboxes,
            limits: Arc::new(limits),
            observation: OBSERVATION,
            is_busy: AtomicBool::new(false),
            state: Mutex::default(),
        })
    }

    /// The same, watching programs for another time.
    #[cfg(test)]
    pub(super) fn observing(mut self, observation: Duration) -> Self {
        self.observation = observation;
        self
    }

    fn enter(&self) -> Result<Busy<'_>> {
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return Err(Error::tool(
                "Another exec, wait or stop is still going on; make one of these calls at a time.",
            ));
        }
        Ok(Busy(&self.is_busy))
    }

    fn begin(&self, source: Source) -> Result<Arc<Running>> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(closed());
        }
        if state.active.is_some() {
            return Err(Error::tool(
                "A program is active already. Call wait for its result, or stop to end it, before the next exec.",
            ));
        }
        let limits = &self.limits;
        if source.source.len() as u64 > limits.source_bytes {
            return Err(Error::tool(format!(
                "The source has {} bytes; the most is {} (source_bytes).",
                source.source.len(),
                limits.source_bytes
            )));
        }
        if let Some(most) = limits.programs.filter(|most| state.programs >= *most) {
            return Err(Error::tool(format!(
                "The limit of {most} programs is reached (programs)."
            )));
        }
        let plan = Plan {
            catalog: self.language.catalog(&source.catalog)?,
            language: Arc::clone(&self.language),
            source: source.source,
            frame: source.frame,
            broker: Arc::clone(&self.broker),
            sandboxes: Arc::clone(&self.sandboxes),
            limits: Arc::clone(limits),
        };
        let running = Arc::new(Running::start(plan)?);
        state.programs += 1;
        state.active = Some(Arc::clone(&running));
        Ok(running)
    }

    fn active(&self) -> Result<Arc<Running>> {
        let state = self.state.lock();
        if state.is_closed {
            return Err(closed());
        }
        let active = state.active.as_ref().map(Arc::clone);
        active.ok_or_else(|| Error::tool("No program is active; start one with exec."))
    }

    /// Watches a program until it ends, at most for one observation.
    async fn observe(&self, running: &Running, tokens: Option<usize>) -> Result<ProgramResult> {
        let watched = timeout(self.observation, running.ended()).await;
        if watched.is_err() {
            return Ok(running.observed.look_on(self.tokens(tokens)));
        }
        self.state.lock().active = None;
        running.observed.look(self.tokens(tokens))
    }

    fn tokens(&self, tokens: Option<usize>) -> Option<usize> {
        tokens.or_else(|| self.language.output_tokens())
    }

    /// Waits for the end of a program that was asked to stop.
    async fn await_end(&self, running: &Running) -> Result<()> {
        let patience = self.limits.cleanup + PATIENCE;
        timeout(patience, running.ended()).await.map_err(|_| {
            Error::new(
                ErrorKind::Cleanup,
                format!(
                    "a code-mode program did not end within {} seconds (cleanup_seconds)",
                    self.limits.cleanup.as_secs_f64()
                ),
            )
        })
    }
}

#[async_trait]
impl Session for ProgramSession {
    async fn execute(&self, source: Source) -> Result<ProgramResult> {
        let _busy = self.enter()?;
        let tokens = source.max_output_tokens;
        let running = self.begin(source)?;
        self.observe(&running, tokens).await
    }

    async fn wait(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult> {
        let _busy = self.enter()?;
        let running = self.active()?;
        self.observe(&running, max_output_tokens).await
    }

    async fn stop(&self, max_output_tokens: Option<usize>) -> Result<ProgramResult> {
        let _busy = self.enter()?;
        let running = self.active()?;
        running.stop();
        self.await_end(&running).await?;
        self.state.lock().active = None;
        running
            .observed
            .look_at_stopped(self.tokens(max_output_tokens))
    }

    async fn close(&self) -> Result<()> {
        let active = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.active.take()
        };
        let Some(running) = active else {
            return Ok(());
        };
        running.stop();
        self.await_end(&running).await?;
        match running.observed.end() {
            Some(End::Raised(error)) if error.is(ErrorKind::Cleanup) => Err(error),
            _ => Ok(()),
        }
    }
}

fn closed() -> Error {
    Error::tool("The code-mode session is closed.")
}

/// Marks that an operation is going on.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
