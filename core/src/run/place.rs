//! Where in a run an agent works: which assemblies are around it, and who hears it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::assembly::AssemblyKind;
use crate::event::StreamEvent;

/// One assembly step on the way to an agent.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStreamStep {
    /// Identifier of the assembly that coordinates.
    pub assembly_id: Arc<str>,
    /// What kind of assembly that is.
    pub assembly_kind: AssemblyKind,
    /// The parallel branch of a graph, if the step is on one.
    pub branch_id: Option<Arc<str>>,
    /// Name of the participant.
    pub participant: Arc<str>,
    /// Identifier of the step, the same for all its attempts.
    pub step_id: Arc<str>,
}

impl AgentStreamStep {
    pub(super) fn to_value(&self) -> Value {
        json!({
            "assembly_id": *self.assembly_id, "assembly_kind": self.assembly_kind.as_str(),
            "branch_id": self.branch_id.as_deref(), "participant": *self.participant,
            "step_id": *self.step_id,
        })
    }
}

/// Which ordinary events of a participant reach the consumer of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    /// None.
    Nobody,
    /// Those about the coordination of participants.
    Coordination,
    /// All but its failure, which the assembly around it tells.
    Answer,
    /// All.
    #[default]
    Everybody,
}

impl Audience {
    pub(super) fn hears(self, event: &StreamEvent) -> bool {
        match self {
            Audience::Everybody => true,
            Audience::Answer => !matches!(event, StreamEvent::InvocationError { .. }),
            Audience::Coordination => matches!(event, StreamEvent::Assembly(_)),
            Audience::Nobody => false,
        }
    }
}

/// Where in a run an agent or an assembly works.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Unique within the run; 0 at the top.
    pub(crate) scope: u64,
    /// The assembly steps around it, the outermost first.
    pub(crate) assembly_path: Arc<[AgentStreamStep]>,
    /// Its path among subagents; `/root` at the top.
    pub(crate) agent_path: Arc<str>,
    pub(crate) audience: Audience,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            scope: 0,
            assembly_path: Arc::default(),
            agent_path: "/root".into(),
            audience: Audience::Everybody,
        }
    }
}

impl Place {
    /// A place below this one, in the step `step` of an assembly here.
    pub(crate) fn within(&self, step: AgentStreamStep, audience: Audience) -> Self {
        let path = self.assembly_path.iter().cloned().chain([step]);
        Self {
            scope: 0,
            assembly_path: path.collect(),
            agent_path: Arc::clone(&self.agent_path),
            audience: self.audience.min(audience),
        }
    }

    /// The place of what works for a tool call here: only those who want events of every agent hear it.
    pub(crate) fn aside(&self) -> Self {
        Self {
            audience: Audience::Nobody,
            ..self.clone()
        }
    }
}
