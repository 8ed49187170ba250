//! The subagents of one agent in one run.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::declaration::{Kind, distinct};
use super::event::{SubagentEvent, SubagentEventKind};
use super::identity::Identity;
use super::ledger::{Ledger, conversation_session_id};
use super::limits::SubagentLimits;
use super::tools;
use crate::error::{Error, Result};
use crate::event::StreamEvent;
use crate::run::{Resource, Resources, RunCore};
use crate::session::{Session, SessionKey};
use crate::tool::Tool;

/// The subagents of one agent in one run.
///
/// Each subagent that has something to do is worked by one task, which takes its turns in order. Nothing is
/// awaited with the lock held.
pub(crate) struct Manager {
    /// The part of the run that the delegating agent answers.
    pub(super) run: Arc<RunCore>,
    pub(super) kinds: Vec<Kind>,
    pub(super) limits: SubagentLimits,
    /// Path of the delegating agent.
    pub(super) path: Arc<str>,
    /// Values for the prompts of subagents.
    pub(super) locals: Arc<Map<String, Value>>,
    pub(super) ledger: Option<Ledger>,
    /// One for each turn that may work.
    pub(super) permits: Arc<Semaphore>,
    pub(super) state: Mutex<State>,
    /// Changes with everything that somebody may wait for.
    pub(super) changed: watch::Sender<u64>,
    /// Tasks at work.
    pub(super) busy: watch::Sender<usize>,
    /// Cancelled when tasks are not waited for any more.
    pub(super) killed: CancellationToken,
    /// What turns left open.
    pub(super) resources: Resources,
    /// What could not be closed after a turn, for whoever closes the whole.
    pub(super) unclean: Arc<Mutex<Option<Error>>>,
}

/// How a manager works.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) limits: SubagentLimits,
    /// Values for the prompts of subagents.
    pub(crate) locals: Arc<Map<String, Value>>,
    /// The session that subagents are kept with, if not that of the run.
    pub(crate) session: Option<Session>,
    /// Path of the delegating agent, if not that of the part.
    pub(crate) path: Option<Arc<str>>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) closed: bool,
    pub(super) identities: BTreeMap<Arc<str>, Identity>,
    /// Subagents that were created here.
    pub(super) created: usize,
    /// Turns that were queued here.
    pub(super) turns: usize,
}

impl Manager {
    /// A manager for the agent that answers `run`, which closes it.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) for kinds without a name, or two of one name.
    pub(crate) fn new(
        run: &Arc<RunCore>,
        kinds: Vec<Kind>,
        settings: Settings,
    ) -> Result<Arc<Self>> {
        let kinds = distinct(kinds)?;
        let Settings {
            limits,
            locals,
            session,
            path,
        } = settings;
        let durable = kinds.iter().any(|kind| kind.persist);
        let resources = Resources::default();
        let manager = Arc::new(Self {
            permits: Arc::new(Semaphore::new(
                limits.max_concurrent.min(Semaphore::MAX_PERMITS),
            )),
            path: path.unwrap_or_else(|| Arc::clone(&run.place.agent_path)),
            ledger: durable.then(|| ledger(run, session)).flatten(),
            run: Arc::clone(run),
            kinds,
            limits,
            locals,
            state: Mutex::default(),
            changed: watch::channel(0).0,
            busy: watch::channel(0).0,
            killed: CancellationToken::new(),
            resources: resources.clone(),
            unclean: Arc::default(),
        });
        run.resources.register(Box::new(Closing {
            manager: Arc::downgrade(&manager),
            resources,
            unclean: Arc::clone(&manager.unclean),
        }))?;
        Ok(manager)
    }

    /// The tools for the agent's model.
    ///
    /// # Errors
    /// None in practice: their definitions are the engine's own.
    pub(crate) fn tools(self: &Arc<Self>) -> Result<Vec<Arc<dyn Tool>>> {
        tools::bound(self)
    }

    pub(super) fn kind(&self, name: &str) -> Result<&Kind> {
        let found = self.kinds.iter().find(|kind| *kind.kind == *name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.kinds.iter().map(|kind| &*kind.kind).collect();
            Error::tool(format!(
                "there is no kind of subagent {name:?}; use one of {}",
                known.join(", ")
            ))
        })
    }

    /// Looks at or changes the subagent at `path`.
    pub(super) fn with<T>(&self, path: &str, look: impl FnOnce(&mut Identity) -> T) -> Option<T> {
        let mut state = self.state.lock();
        state.identities.get_mut(path).map(look)
    }

    /// Wakes whoever waits for a change.
    pub(super) fn announce_change(&self) {
        self.changed
            .send_modify(|number| *number = number.wrapping_add(1));
    }

    /// Tells the consumer of the run, and telemetry.
    pub(super) async fn tell(&self, event: SubagentEvent) {
        let point = match event.kind {
            SubagentEventKind::Spawned => Some("subagent_spawned"),
            SubagentEventKind::TurnStarted => Some("subagent_turn_started"),
            SubagentEventKind::TurnFinished
            | SubagentEventKind::TurnFailed
            | SubagentEventKind::Cancelled => Some("subagent_finished"),
            SubagentEventKind::FactoryFailed => Some("subagent_factory_failed"),
            _ => None,
        };
        if let Some(point) = point {
            self.run.outbox.notify(point, || event.to_value());
        }
        self.run.outbox.send(StreamEvent::Subagent(event)).await;
    }

    /// Tells the application's operators of a failure that the model reads nothing of.
    pub(super) fn warn(&self, stage: &str, path: &str, error: &Error) {
        let payload = json!({
            "stage": stage, "subagent_id": path, "error_type": error.class_name(),
        });
        self.run
            .warn("little_ghost.subagent.operation_failed", payload);
    }
}

/// Where the subagents of the agent at work in `run` are kept: with the session of the run, or with the
/// conversation of the subagent that it is itself.
fn ledger(run: &Arc<RunCore>, session: Option<Session>) -> Option<Ledger> {
    let session = session.or_else(|| run.root().session())?;
    let key = match (&run.place.conversation_id, run.place.is_durable) {
        (None, _) => session.key().clone(),
        (Some(conversation), true) => SessionKey {
            id: conversation_session_id(conversation),
            ..session.key().clone()
        },
        (Some(_), false) => return None,
    };
    Some(Ledger::new(Arc::clone(session.store()), key))
}

/// Closes a manager with the part of the run that it belongs to. A manager that nothing is at work for
/// any more may be gone before.
struct Closing {
    manager: Weak<Manager>,
    resources: Resources,
    unclean: Arc<Mutex<Option<Error>>>,
}

#[async_trait]
impl Resource for Closing {
    async fn close(&self) -> Result<()> {
        let stopped = match self.manager.upgrade() {
            Some(manager) => manager.close().await,
            None => self.unclean.lock().take().map_or(Ok(()), Err),
        };
        let closed = self.resources.close().await.map_or(Ok(()), Err);
        stopped.and(closed)
    }
}
