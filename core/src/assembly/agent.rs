//! Agents as assemblies.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Assembly, AssemblyKind};
use crate::agent::{self, AgentInput, PreparedAgent};
use crate::error::{Error, ErrorKind, Result};
use crate::run::{Entrypoint, Opened, RunCore, RunResult};

/// An agent that takes part in something larger.
pub(crate) struct AgentAssembly {
    pub(crate) id: Arc<str>,
    pub(crate) description: String,
    pub(crate) entrypoint: Arc<dyn Entrypoint>,
}

impl AgentAssembly {
    /// The agent made ready for `part`.
    pub(crate) async fn open(&self, part: &Arc<RunCore>) -> Result<PreparedAgent> {
        match part.bounded(self.entrypoint.open(part)).await? {
            Opened::Agent(agent) => {
                part.warn_of_unknown(&*agent.model);
                Ok(*agent)
            }
            Opened::Assembly(other) => Err(Error::new(
                ErrorKind::Configuration,
                format!("{} is no agent but a {}", other.id(), other.kind().as_str()),
            )),
        }
    }
}

/// Has `agent` answer the message of `part`.
pub(crate) async fn ask(
    part: &Arc<RunCore>,
    parent: &Arc<str>,
    agent: PreparedAgent,
) -> Result<Arc<RunResult>> {
    let message = part.invocation.message();
    let input = AgentInput {
        history: part.history(),
        message: (!message.is_blank()).then(|| message.clone()),
        settings: part.invocation.settings().clone(),
        parent_operation_id: Some(Arc::clone(parent)),
    };
    agent::invoke(part, Arc::new(agent), input).await
}

#[async_trait]
impl Assembly for AgentAssembly {
    fn id(&self) -> &Arc<str> {
        &self.id
    }

    fn kind(&self) -> AssemblyKind {
        AssemblyKind::Agent
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn answer(&self, part: &Arc<RunCore>, parent: &Arc<str>) -> Result<Arc<RunResult>> {
        ask(part, parent, self.open(part).await?).await
    }
}
