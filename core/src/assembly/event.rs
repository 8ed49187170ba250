//! What happens between the participants of an assembly.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::AssemblyKind;
use crate::message::Usage;

/// Something that an assembly did to coordinate its participants.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum AssemblyEvent {
    /// A participant begins.
    StepStart(StepFacts),
    /// A participant is done.
    StepStop {
        /// Which one.
        step: StepFacts,
        /// Its tokens, those of all attempts.
        usage: Usage,
    },
    /// An attempt of a participant failed.
    StepError {
        /// Identifier of the step.
        step_id: Arc<str>,
        /// Name of the participant.
        participant: Arc<str>,
        /// Number of the attempt, from one.
        attempt: u32,
        /// Class name of the failure.
        error_type: String,
        /// Tokens of the step so far.
        usage: Usage,
        /// Whether no further attempt follows.
        terminal: bool,
    },
    /// Another attempt follows. Text that the failed one delivered is superseded.
    StepRetry {
        /// Identifier of the step.
        step_id: Arc<str>,
        /// Name of the participant.
        participant: Arc<str>,
        /// Number of the failed attempt, from one.
        attempt: u32,
        /// Class name of the failure.
        error_type: String,
        /// Pause before the next attempt.
        delay: Duration,
        /// Whether the failed attempt had delivered visible text.
        partial_text: bool,
    },
    /// The request moves on to another participant.
    Transition {
        /// The assembly.
        assembly: (Arc<str>, AssemblyKind),
        /// Executions of participants so far.
        step: u32,
        /// Who had it.
        from: Arc<str>,
        /// Who gets it.
        to: Arc<str>,
        /// Of a graph: whether a failure leads there, and the parallel branch.
        route: Option<(bool, Option<Arc<str>>)>,
        /// Of a failure: whether what failed had delivered visible text, which is superseded now.
        partial_text: bool,
    },
    /// The same handoff happened too often.
    HandoffLoop {
        /// Identifier of the swarm.
        assembly_id: Arc<str>,
        /// Who hands off.
        from: Arc<str>,
        /// To whom.
        to: Arc<str>,
        /// How often by now.
        count: u32,
    },
    /// Parallel branches begin.
    Fork {
        /// Identifier of the graph.
        assembly_id: Arc<str>,
        /// The node before them.
        from: Arc<str>,
        /// Their first nodes.
        branches: Vec<Arc<str>>,
    },
    /// Parallel branches have ended.
    Join {
        /// Identifier of the graph.
        assembly_id: Arc<str>,
        /// Their last nodes.
        from: Vec<Arc<str>>,
        /// The node after them.
        to: Arc<str>,
    },
}

/// Which participant a step event is about.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct StepFacts {
    /// Identifier of the assembly that coordinates.
    pub assembly_id: Arc<str>,
    /// Its kind.
    pub assembly_kind: AssemblyKind,
    /// Name of the participant.
    pub participant: Arc<str>,
    /// Identifier of the step.
    pub step_id: Arc<str>,
    /// Of a swarm: number of the member execution, from one.
    pub step: Option<u32>,
    /// Of a graph: the parallel branch.
    pub branch_id: Option<Arc<str>>,
}

impl StepFacts {
    fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("assembly_id".into(), json!(*self.assembly_id));
        map.insert("assembly_kind".into(), json!(self.assembly_kind.as_str()));
        map.insert("participant".into(), json!(*self.participant));
        map.insert("step_id".into(), json!(*self.step_id));
        if let Some(step) = self.step {
            map.insert("step".into(), json!(step));
        }
        if self.assembly_kind == AssemblyKind::Graph {
            map.insert("branch_id".into(), json!(self.branch_id.as_deref()));
        }
        map
    }
}

impl AssemblyEvent {
    /// Whether text that was delivered is no part of the answer any more.
    pub(crate) const fn supersedes(&self) -> bool {
        matches!(
            self,
            AssemblyEvent::StepRetry {
                partial_text: true,
                ..
            } | AssemblyEvent::Transition {
                partial_text: true,
                ..
            }
        )
    }

    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            AssemblyEvent::StepStart(_) => "assembly_step_start",
            AssemblyEvent::StepStop { .. } => "assembly_step_stop",
            AssemblyEvent::StepError { .. } => "assembly_step_error",
            AssemblyEvent::StepRetry { .. } => "assembly_step_retry",
            AssemblyEvent::Transition { .. } => "assembly_transition",
            AssemblyEvent::HandoffLoop { .. } => "assembly_handoff_loop",
            AssemblyEvent::Fork { .. } => "assembly_fork",
            AssemblyEvent::Join { .. } => "assembly_join",
        }
    }

    pub(crate) fn data(&self) -> Value {
        match self {
            AssemblyEvent::StepStart(step) => Value::Object(step.to_map()),
            AssemblyEvent::StepStop { step, usage } => {
                let mut map = step.to_map();
                map.insert("usage".into(), usage.to_value());
                Value::Object(map)
            }
            AssemblyEvent::StepError {
                step_id,
                participant,
                attempt,
                error_type,
                usage,
                terminal,
            } => json!({
                "step_id": **step_id, "participant": **participant, "attempt": attempt,
                "error_type": error_type, "usage": usage.to_value(), "terminal": terminal,
            }),
            AssemblyEvent::StepRetry {
                step_id,
                participant,
                attempt,
                error_type,
                delay,
                partial_text,
            } => json!({
                "step_id": **step_id, "participant": **participant, "attempt": attempt,
                "error_type": error_type, "delay": delay.as_secs_f64(), "partial_text": partial_text,
            }),
            AssemblyEvent::Transition {
                assembly: (id, kind),
                step,
                from,
                to,
                route,
                partial_text,
            } => {
                let mut data = json!({
                    "assembly_id": **id, "assembly_kind": kind.as_str(), "step": step,
                    "from": **from, "to": **to,
                });
                if let (Some((error, branch)), Some(data)) = (route, data.as_object_mut()) {
                    data.insert("error".into(), json!(error));
                    data.insert("branch_id".into(), json!(branch.as_deref()));
                    if *error {
                        data.insert("partial_text".into(), json!(partial_text));
                    }
                }
                data
            }
            AssemblyEvent::HandoffLoop {
                assembly_id,
                from,
                to,
                count,
            } => json!({
                "assembly_id": **assembly_id, "assembly_kind": "swarm", "from": **from,
                "to": **to, "count": count,
            }),
            AssemblyEvent::Fork {
                assembly_id,
                from,
                branches,
            } => json!({
                "assembly_id": **assembly_id, "assembly_kind": "graph", "from": **from,
                "branches": names(branches),
            }),
            AssemblyEvent::Join {
                assembly_id,
                from,
                to,
            } => json!({
                "assembly_id": **assembly_id, "assembly_kind": "graph", "from": names(from),
                "to": **to,
            }),
        }
    }
}

fn names(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}
