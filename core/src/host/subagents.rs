//! Subagents as a host describes them.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::channel::HostChannel;
use super::current;
use super::entrypoint::HostEntrypoint;
use super::job::HostJob;
use super::participant::HostParticipant;
use crate::assembly::{Assembly, AssemblyKind};
use crate::error::{Error, ErrorKind, Result};
use crate::model::StopReason;
use crate::run::{RunCore, RunResult};
use crate::session::Session;
use crate::subagent::{Caller, Kind, Manager, Settings, SubagentLimits, tool_definitions};

/// A manager of subagents that a host uses by itself, without an agent.
#[derive(Default)]
pub(super) struct Serving {
    /// The run holds the manager itself.
    manager: watch::Sender<Option<Weak<Manager>>>,
    /// The session that its subagents belong to.
    pub(super) parent: parking_lot::Mutex<Option<Session>>,
}

impl HostChannel {
    /// A manager as a host describes it: `{kinds: [{kind, description?, key, persist?}], limits?, path?}`; `None` without kinds.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for another shape, [`ErrorKind::Argument`] for unusable limits or kinds.
    pub(super) fn manager(
        self: &Arc<Self>,
        run: &Arc<RunCore>,
        described: &Value,
        session: Option<Session>,
    ) -> Result<Option<Arc<Manager>>> {
        let kinds: Vec<Kind> = match described.get("kinds") {
            Some(Value::Array(kinds)) => kinds
                .iter()
                .map(|kind| self.kind(kind))
                .collect::<Result<_>>()?,
            _ => return Err(unusable("kinds of subagents must be an array")),
        };
        if kinds.is_empty() {
            return Ok(None);
        }
        let limits = match described.get("limits") {
            None | Some(Value::Null) => SubagentLimits::default(),
            Some(Value::Object(limits)) => SubagentLimits::from_map(limits)?,
            Some(_) => return Err(unusable("limits of subagents must be an object")),
        };
        let path = described.get("path").and_then(Value::as_str);
        let settings = Settings {
            limits,
            locals: Arc::default(),
            session,
            path: path.map(Into::into),
        };
        Manager::new(run, kinds, settings).map(Some)
    }

    fn kind(self: &Arc<Self>, value: &Value) -> Result<Kind> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let kind = text("kind").ok_or_else(|| unusable("a kind of subagent must have a name"))?;
        Ok(Kind {
            kind: kind.into(),
            description: text("description").unwrap_or_default().to_owned(),
            persist: value
                .get("persist")
                .and_then(Value::as_bool)
                .unwrap_or(true),
            entrypoint: Arc::new(HostEntrypoint {
                channel: Arc::clone(self),
                participant: Some(HostParticipant {
                    key: value.get("key").cloned().unwrap_or_default(),
                }),
            }),
        })
    }

    /// Has what the host asks of the manager `described` done, until the run ends.
    pub(super) fn serve(
        self: &Arc<Self>,
        run: &Arc<RunCore>,
        described: &Value,
    ) -> Result<Arc<dyn Assembly>> {
        let parent = self.serving.parent.lock().clone();
        let manager = self.manager(run, described, parent)?;
        let manager = manager.ok_or_else(|| unusable("a manager needs a kind of subagent"))?;
        let served = Arc::downgrade(&manager);
        self.serving.manager.send_replace(Some(served));
        Ok(Arc::new(Server {
            id: "subagents".into(),
            _manager: manager,
        }))
    }

    /// Has the manager do what its tool `name` does, or `close`.
    pub(super) fn delegate(
        self: &Arc<Self>,
        run: &Arc<RunCore>,
        name: &str,
        input: Map<String, Value>,
        parent_operation_id: Option<String>,
    ) -> Result<HostJob> {
        let mut serving = self.serving.manager.subscribe();
        let (name, run) = (name.to_owned(), Arc::clone(run));
        let caller = Caller {
            operation_id: parent_operation_id.map(Into::into),
            // Whoever drives the run is not the one who waits.
            crowded: true,
        };
        HostJob::start(current::scope(Arc::clone(self), async move {
            let found = run.bounded(async {
                let found = serving.wait_for(Option::is_some).await;
                found
                    .ok()
                    .and_then(|manager| manager.as_ref()?.upgrade())
                    .ok_or_else(Error::cancelled)
            });
            let manager = found.await?;
            if name == "close" {
                return manager.close().await.map(|()| Value::Null);
            }
            // What cannot be done is the caller's to know, and no end of the subagents.
            run.bounded(async { Ok(manager.call(&name, &input, caller).await) })
                .await?
        }))
    }
}

/// Answers nothing: it lasts as long as the run.
struct Server {
    id: Arc<str>,
    _manager: Arc<Manager>,
}

#[async_trait]
impl Assembly for Server {
    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Agent
    }

    fn description(&self) -> &str {
        ""
    }

    async fn answer(&self, part: &Arc<RunCore>, _parent: &Arc<str>) -> Result<Arc<RunResult>> {
        // The end is told by cancelling the run; there is no other.
        let error = part.over().await;
        if error.is(ErrorKind::DeadlineExceeded) {
            return Err(error);
        }
        Ok(Arc::new(RunResult {
            message: None,
            stop_reason: StopReason::from_name("end_turn"),
            usage: part.usage(),
            cost: part.cost(),
            messages: Vec::new(),
            structured: None,
            steps: Vec::new(),
            scope: 0,
        }))
    }
}

/// The definitions of the tools for subagents: `{name, description, input_schema}` each. `kinds` are
/// `{kind, description?}`.
///
/// # Errors
/// [`ErrorKind::Argument`] for another shape.
pub fn subagent_tools(kinds: &[Value]) -> Result<Value> {
    let kinds: Vec<(&str, &str)> = kinds
        .iter()
        .map(|kind| {
            let text = |key: &str| kind.get(key).and_then(Value::as_str);
            let name = text("kind").ok_or_else(|| {
                Error::new(ErrorKind::Argument, "a kind of subagent must have a name")
            });
            Ok((name?, text("description").unwrap_or_default()))
        })
        .collect::<Result<_>>()?;
    let definitions = tool_definitions(&kinds)?;
    Ok(definitions
        .iter()
        .map(crate::tool::ToolDefinition::to_value)
        .collect())
}

/// The bounds that apply where nothing else is said, by name; times in seconds.
#[must_use]
pub fn subagent_limits() -> Value {
    SubagentLimits::default().to_value()
}

/// Checks bounds of subagents, in the shape of [`subagent_limits`]; all are optional.
///
/// # Errors
/// [`ErrorKind::Argument`] for an unknown name or a value out of range.
pub fn check_subagent_limits(limits: &Map<String, Value>) -> Result<()> {
    SubagentLimits::from_map(limits).map(drop)
}

/// Paths of agents, as both hosts offer them.
pub mod agent_path {
    use crate::error::Result;
    use crate::subagent::path;

    /// The path of the agent that answers a run.
    pub const ROOT: &str = path::ROOT;

    /// Checks a complete path.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for any other text.
    pub fn check(path: &str) -> Result<()> {
        path::check(path)
    }

    /// Checks the name of a task.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) for any other text.
    pub fn check_name(name: &str) -> Result<()> {
        path::check_name(name)
    }

    /// The path of `name` below `parent`.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) when a part is not usable, or the whole too long.
    pub fn join(parent: &str, name: &str) -> Result<String> {
        path::join(parent, name)
    }

    /// Whether `path` is exactly one level below `parent`.
    #[must_use]
    pub fn is_immediate_child(path: &str, parent: &str) -> bool {
        path::is_immediate_child(path, parent)
    }
}

/// Identifiers of the sessions that subagents are kept in.
pub mod subagent_session {
    use crate::subagent;

    /// The pseudonym of a session that subagents belong to.
    #[must_use]
    pub fn parent_link(session_id: &str, actor_id: Option<&str>) -> String {
        subagent::parent_link(session_id, actor_id)
    }

    /// The session with the registry of what belongs to a session.
    #[must_use]
    pub fn registry(session_id: &str, actor_id: Option<&str>) -> String {
        subagent::registry_session_id(&parent_link(session_id, actor_id))
    }

    /// The session with the transcript of a conversation.
    #[must_use]
    pub fn conversation(conversation_id: &str) -> String {
        subagent::conversation_session_id(conversation_id)
    }

    /// One of the two sessions with a committed state of a conversation.
    #[must_use]
    pub fn commit(conversation_id: &str, slot: u8) -> String {
        subagent::commit_session_id(conversation_id, slot)
    }
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Serving")
    }
}

fn unusable(problem: &str) -> Error {
    Error::new(ErrorKind::Configuration, problem)
}
