//! Where in a run an agent works: which assemblies are around it, and who hears it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

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
    /// How many assemblies and calls of agents as tools are around it.
    pub(crate) depth: usize,
    /// Its path among subagents; `/root` at the top.
    pub(crate) agent_path: Arc<str>,
    pub(crate) audience: Audience,
    /// Whether it works for a tool call, rather than for the caller of the run.
    pub(crate) is_aside: bool,
    /// Whether code of others may be at work at the same time, where a host would not see it.
    pub(crate) is_crowded: bool,
    /// The conversation of the subagent that it is, or is a part of.
    pub(crate) conversation_id: Option<Arc<str>>,
    /// Whether later runs may go on with that conversation.
    pub(crate) is_durable: bool,
    /// How long its code has to stop at the end, where anybody waits for that.
    pub(crate) patience: Option<Duration>,
    /// Values for prompts, from the agents that it works for and the assemblies around it.
    pub(crate) locals: Arc<Map<String, Value>>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            scope: 0,
            assembly_path: Arc::default(),
            depth: 0,
            agent_path: "/root".into(),
            audience: Audience::Everybody,
            is_aside: false,
            is_crowded: false,
            conversation_id: None,
            is_durable: false,
            patience: None,
            locals: Arc::default(),
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
            depth: self.depth + 1,
            audience: self.audience.min(audience),
            ..self.clone()
        }
    }

    /// The place of what works for a tool call here: only those who want events of every agent hear it. `locals`
    /// are the calling agent's.
    pub(crate) fn aside(&self, locals: &Arc<Map<String, Value>>) -> Self {
        Self {
            depth: self.depth + 1,
            audience: Audience::Nobody,
            is_aside: true,
            ..self.with_locals(locals)
        }
    }

    /// The same place with these values for prompts over those that are there.
    pub(crate) fn with_locals(&self, locals: &Arc<Map<String, Value>>) -> Self {
        let locals = if self.locals.is_empty() {
            Arc::clone(locals)
        } else if locals.is_empty() {
            Arc::clone(&self.locals)
        } else {
            let mut both = Map::clone(&self.locals);
            both.extend(Map::clone(locals));
            Arc::new(both)
        };
        Self {
            locals,
            ..self.clone()
        }
    }
}
