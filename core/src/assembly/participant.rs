//! Whatever may take part in an assembly.

use std::sync::Arc;

use super::{Assembly, AssemblyKind};
use crate::agent::Agent;
use crate::assembly::{Graph, Swarm, Workflow};

/// An agent or another assembly that takes part in one; made from a reference to it.
#[derive(Clone)]
pub struct Participant(pub(crate) Arc<dyn Assembly>);

impl Participant {
    /// Its stable identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.id()
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> AssemblyKind {
        self.0.kind()
    }

    /// What it is for.
    #[must_use]
    pub fn description(&self) -> &str {
        self.0.description()
    }
}

impl From<&Agent> for Participant {
    fn from(agent: &Agent) -> Self {
        Self(agent.assembly())
    }
}

impl From<&Workflow> for Participant {
    fn from(workflow: &Workflow) -> Self {
        Self(workflow.assembly())
    }
}

impl From<&Swarm> for Participant {
    fn from(swarm: &Swarm) -> Self {
        Self(swarm.assembly())
    }
}

impl From<&Graph> for Participant {
    fn from(graph: &Graph) -> Self {
        Self(graph.assembly())
    }
}

impl std::fmt::Debug for Participant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "Participant({} {})",
            self.kind().as_str(),
            self.id()
        )
    }
}
