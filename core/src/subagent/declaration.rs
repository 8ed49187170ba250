//! The kinds of agents that a model may delegate to.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::agent::{Agent, ModelSelection};
use crate::error::{Error, ErrorKind, Result};
use crate::panics::caught_call;
use crate::run::{Entrypoint, Opened, Run, RunCore};
use crate::tool::Tool;

/// A kind of agent that a model may delegate to; [`AgentBuilder::subagent`](crate::AgentBuilder::subagent)
/// takes it. A reference to an [`Agent`] converts into one.
///
/// ```no_run
/// use little_ghost::{Agent, Subagent};
///
/// # fn example(research: Agent, review: Agent) -> little_ghost::Result<Agent> {
/// let support = Agent::builder("customer_support")
///     .subagent(Subagent::new(&research).kind("research").model("small"))
///     .subagent(Subagent::new(&review).persist(false))
///     .build()?;
/// # Ok(support)
/// # }
/// ```
#[derive(Clone)]
pub struct Subagent {
    kind: String,
    description: String,
    source: Source,
    model: Option<Model>,
    tools: Option<Vec<Arc<dyn Tool>>>,
    persist: bool,
}

#[derive(Clone)]
enum Source {
    Agent(Agent),
    Factory(Arc<Factory>),
}

#[derive(Clone)]
enum Model {
    Always(ModelSelection),
    Chosen(Arc<Choose>),
}

/// Chooses the model of a run.
type Choose = dyn Fn(&Run) -> Result<ModelSelection> + Send + Sync;

type Factory = dyn Fn(&SubagentRequest) -> Result<Agent> + Send + Sync;

/// Which subagent a factory is to make.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct SubagentRequest {
    /// Its path, such as `"/root/review_api"`.
    pub path: Arc<str>,
    /// Identifier of its conversation, the same in later runs.
    pub conversation_id: Arc<str>,
    /// The run that it works in.
    pub run: Run,
}

impl Subagent {
    /// `agent` under its own identifier and description.
    #[must_use]
    pub fn new(agent: &Agent) -> Self {
        Self {
            kind: agent.id().to_owned(),
            description: agent.description().to_owned(),
            source: Source::Agent(agent.clone()),
            model: None,
            tools: None,
            persist: true,
        }
    }

    /// Agents that `make` makes, one for each turn of a subagent.
    pub fn from_factory(
        kind: impl Into<String>,
        make: impl Fn(&SubagentRequest) -> Result<Agent> + Send + Sync + 'static,
    ) -> Self {
        Self {
            kind: kind.into(),
            description: String::new(),
            source: Source::Factory(Arc::new(make)),
            model: None,
            tools: None,
            persist: true,
        }
    }

    /// The name by which the model asks for it. Unique within an agent.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }

    /// What it is for, in words for the model.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Has another model answer than the agent's own.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelSelection>) -> Self {
        self.model = Some(Model::Always(model.into()));
        self
    }

    /// Chooses the model in each run.
    #[must_use]
    pub fn model_with(
        mut self,
        choose: impl Fn(&Run) -> Result<ModelSelection> + Send + Sync + 'static,
    ) -> Self {
        self.model = Some(Model::Chosen(Arc::new(choose)));
        self
    }

    /// Gives it these tools instead of the agent's own. Tools of the agent that delegates are never its.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools = Some(tools.into_iter().collect());
        self
    }

    /// Whether later runs of the same session may go on with its conversations. Default true.
    #[must_use]
    pub fn persist(mut self, persist: bool) -> Self {
        self.persist = persist;
        self
    }

    pub(crate) fn into_kind(self) -> Kind {
        let kind: Arc<str> = self.kind.as_str().into();
        Kind {
            description: self.description.clone(),
            persist: self.persist,
            entrypoint: Arc::new(self),
            kind,
        }
    }

    fn agent(&self, run: &Arc<RunCore>) -> Result<Agent> {
        let handle = Run::new(Arc::clone(run));
        let agent = match &self.source {
            Source::Agent(agent) => agent.clone(),
            Source::Factory(make) => {
                let request = SubagentRequest {
                    path: Arc::clone(&run.place.agent_path),
                    conversation_id: run.place.conversation_id.clone().unwrap_or_default(),
                    run: handle.clone(),
                };
                caught_call("the factory of a subagent", || make(&request))?
            }
        };
        let model = match &self.model {
            None => None,
            Some(Model::Always(model)) => Some(model.clone()),
            Some(Model::Chosen(choose)) => Some(caught_call(
                "the function that chooses a subagent's model",
                || choose(&handle),
            )?),
        };
        Ok(agent.with_overrides(model, self.tools.clone()))
    }
}

impl From<&Agent> for Subagent {
    fn from(agent: &Agent) -> Self {
        Self::new(agent)
    }
}

impl fmt::Debug for Subagent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Subagent")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Entrypoint for Subagent {
    async fn open(&self, run: &Arc<RunCore>) -> Result<Opened> {
        self.agent(run)?.entrypoint().open(run).await
    }
}

/// Gives an agent further kinds in each run.
pub(crate) type Resolver = dyn Fn(&Run) -> Result<Vec<Subagent>> + Send + Sync;

/// One kind, as a manager uses it.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) kind: Arc<str>,
    pub(crate) description: String,
    pub(crate) persist: bool,
    /// Makes the agent ready for one turn.
    pub(crate) entrypoint: Arc<dyn Entrypoint>,
}

/// `kinds`, when no two have the same name.
///
/// # Errors
/// [`ErrorKind::Argument`] for a name that is empty or used twice.
pub(crate) fn distinct(kinds: Vec<Kind>) -> Result<Vec<Kind>> {
    for (position, kind) in kinds.iter().enumerate() {
        let problem = if kind.kind.trim().is_empty() {
            "a kind of subagent has no name".to_owned()
        } else if kinds
            .iter()
            .skip(position + 1)
            .any(|other| other.kind == kind.kind)
        {
            format!(
                "two kinds of subagents are called {:?}; give one of them another kind",
                kind.kind
            )
        } else {
            continue;
        };
        return Err(Error::new(ErrorKind::Argument, problem));
    }
    Ok(kinds)
}
