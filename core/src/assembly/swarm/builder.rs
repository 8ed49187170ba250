//! Swarms for Rust callers.

use std::sync::Arc;

use super::{MemberDefinition, Swarm, SwarmDefinition};
use crate::agent::Agent;
use crate::assembly::entry::Entry;
use crate::assembly::{AgentAssembly, StepPolicy};
use crate::error::Result;
use crate::prompt::PromptLocals;
#[cfg(feature = "prompts")]
use crate::run::Run;

/// Declares a [`Swarm`].
#[must_use]
pub struct SwarmBuilder(SwarmDefinition);

/// A member of a swarm and how it takes part; made from a reference to an agent.
#[must_use]
pub struct SwarmMember {
    agent: Arc<AgentAssembly>,
    name: Option<String>,
    policy: StepPolicy,
    history: bool,
    context: bool,
}

impl SwarmMember {
    /// Names the member; by default it is the agent's identifier.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How long an execution may take and how often it is tried.
    pub fn policy(mut self, policy: StepPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Gives it the caller's history.
    pub fn with_history(mut self) -> Self {
        self.history = true;
        self
    }

    /// Gives it the caller's context.
    pub fn with_context(mut self) -> Self {
        self.context = true;
        self
    }
}

impl From<&Agent> for SwarmMember {
    fn from(agent: &Agent) -> Self {
        Self {
            agent: Arc::new(agent.agent_assembly()),
            name: None,
            policy: StepPolicy::default(),
            history: false,
            context: false,
        }
    }
}

impl SwarmBuilder {
    pub(super) fn new(id: String) -> Self {
        Self(SwarmDefinition {
            id: id.into(),
            description: String::new(),
            members: Vec::new(),
            start: None,
            handoffs: Vec::new(),
            max_steps: SwarmDefinition::MAX_STEPS,
            max_handoff_repeats: SwarmDefinition::MAX_HANDOFF_REPEATS,
            locals: PromptLocals::default(),
        })
    }

    /// Says what it is for, where it serves as a tool.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.0.description = description.into();
        self
    }

    /// Adds a member.
    pub fn member(mut self, member: impl Into<SwarmMember>) -> Self {
        let member = member.into();
        let id = match member.name {
            Some(name) => name.into(),
            None => Arc::clone(&member.agent.id),
        };
        self.0.members.push(MemberDefinition {
            id,
            agent: member.agent,
            policy: member.policy,
            history: member.history,
            context: member.context,
        });
        self
    }

    /// The member that begins.
    pub fn start(mut self, member: &str) -> Self {
        self.0.start = Some(member.into());
        self
    }

    /// Lets `from` hand off to `to`. Once any handoff is declared, only declared ones are possible.
    pub fn handoff<'a>(mut self, from: &str, to: impl IntoIterator<Item = &'a str>) -> Self {
        let to = to.into_iter().map(Into::into).collect();
        self.0.handoffs.push((from.into(), to));
        self
    }

    /// The most executions of members, at least 1; 20 by default.
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.0.max_steps = steps;
        self
    }

    /// How often the same handoff may happen; 3 times by default.
    pub fn max_handoff_repeats(mut self, repeats: u32) -> Self {
        self.0.max_handoff_repeats = repeats;
        self
    }

    /// A value that templates of members may use by `name`. Where a member declares the same name, its own value counts.
    #[cfg(feature = "prompts")]
    pub fn prompt_local(mut self, name: impl Into<String>, value: impl serde::Serialize) -> Self {
        self.0.locals.add(name.into(), value);
        self
    }

    /// As [`prompt_local`](Self::prompt_local), with a function that gives the value in each run. Its error fails the run.
    #[cfg(feature = "prompts")]
    pub fn prompt_local_with(
        mut self,
        name: impl Into<String>,
        resolve: impl Fn(&Run) -> Result<serde_json::Value> + Send + Sync + 'static,
    ) -> Self {
        self.0.locals.add_resolver(name.into(), resolve);
        self
    }

    /// The swarm.
    ///
    /// # Errors
    /// [`Configuration`](crate::ErrorKind::Configuration) with what is wrong with members or routes; as
    /// [`AgentBuilder::build`](crate::AgentBuilder::build) for prompt locals.
    pub fn build(self) -> Result<Swarm> {
        self.0.locals.check()?;
        self.0.validate()?;
        Ok(Swarm {
            entry: Entry::new(Arc::new(self.0)),
        })
    }
}
