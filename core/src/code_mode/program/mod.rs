//! One program: its process, its tool calls, its end.

mod calls;
mod exchange;
mod observed;
mod place;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(super) use observed::{End, Observed};

use super::languages::Language;
use super::limits::ProgramLimits;
use super::{Broker, Catalog, SandboxFactory};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::executor;
use crate::panics::caught;
use exchange::Exchange;
use place::Place;

/// What a program needs.
pub(super) struct Plan {
    pub(super) language: Arc<dyn Language>,
    pub(super) source: String,
    pub(super) catalog: Catalog,
    pub(super) frame: Option<Value>,
    pub(super) broker: Arc<Broker>,
    pub(super) sandboxes: Arc<dyn SandboxFactory>,
    pub(super) limits: Arc<ProgramLimits>,
}

impl Plan {
    /// The first frame.
    fn request(&self) -> Value {
        let tools: Vec<Value> = self
            .catalog
            .definitions()
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name, "canonical_name": tool.canonical_name,
                    "description": tool.description, "specification": tool.specification,
                })
            })
            .collect();
        json!({
            "source": self.source, "catalog": tools, "frame": self.frame,
            "tool_calls": self.limits.tool_calls, "concurrency": self.limits.concurrency,
        })
    }
}

/// A program that was started. It goes on by itself; dropping this ends it.
pub(super) struct Running {
    pub(super) observed: Arc<Observed>,
    ended: watch::Receiver<bool>,
    stop: CancellationToken,
    _dropped: DropGuard,
}

impl Running {
    /// Starts a program.
    pub(super) fn start(plan: Plan) -> Result<Self> {
        let observed = Arc::new(Observed::new(plan.language.separator()));
        let stop = CancellationToken::new();
        let (ending, ended) = watch::channel(false);
        let (shown, token) = (Arc::clone(&observed), stop.clone());
        executor::spawn(async move {
            let lived = caught("code mode", live(&plan, &shown, &token)).await;
            shown.finish(lived.unwrap_or_else(End::Raised));
            // Nobody may be left to tell.
            let _ = ending.send(true);
        })?;
        Ok(Self {
            observed,
            ended,
            _dropped: stop.clone().drop_guard(),
            stop,
        })
    }

    /// Waits until the program has ended and nothing of it is left.
    pub(super) async fn ended(&self) {
        // The sender is only gone when the runtime is.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    /// Ends the program soon.
    pub(super) fn stop(&self) {
        self.stop.cancel();
    }
}

/// A whole life: place, work, clean-up. Whatever happens, what was opened is closed.
async fn live(plan: &Plan, observed: &Observed, stop: &CancellationToken) -> Result<End> {
    let expiry = Deadline::instant_after(plan.limits.wall);
    let mut place = Place::default();
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => Ok(End::Terminated),
        end = work(plan, observed, &mut place) => end,
        () = sleep_until(expiry) => Err(Error::tool(format!(
            "The program reached its total lifetime of {} seconds (wall_seconds) and was ended.",
            plan.limits.wall.as_secs_f64()
        ))),
    };
    match timeout(plan.limits.cleanup, place.close()).await {
        Ok(Ok(())) => end,
        Ok(Err(problem)) => Err(unclean(&problem)),
        Err(_) => Err(Error::new(
            ErrorKind::Cleanup,
            format!(
                "a code-mode program could not be cleaned up within {} seconds (cleanup_seconds)",
                plan.limits.cleanup.as_secs_f64()
            ),
        )),
    }
}

async fn work(plan: &Plan, observed: &Observed, place: &mut Place) -> Result<End> {
    let process = place.open(plan).await?;
    Exchange::new(plan, observed, process).play().await
}

fn unclean(problem: &Error) -> Error {
    let message = format!("a code-mode program ended uncleanly: {}", problem.message());
    Error::new(ErrorKind::Cleanup, message).with_source(problem.clone())
}
