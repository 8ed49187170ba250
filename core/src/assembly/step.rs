//! What a result remembers of the participants behind it.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::AssemblyKind;
use crate::message::Usage;

/// The largest output that a step keeps, in bytes of text or JSON.
const MAX_OUTPUT: usize = 65_536;

/// Whether a step, or one attempt at it, came to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepStatus {
    /// It did.
    Completed,
    /// It failed.
    Failed,
}

impl StepStatus {
    /// `"completed"` or `"failed"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            StepStatus::Completed => "completed",
            StepStatus::Failed => "failed",
        }
    }
}

/// One attempt at a step.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// From one.
    pub number: u32,
    /// How it ended.
    pub status: StepStatus,
    /// When it began.
    pub started_at: SystemTime,
    /// When it ended.
    pub finished_at: SystemTime,
    /// Its tokens.
    pub usage: Usage,
    /// Class name of the failure.
    pub error: Option<String>,
}

/// One participant's part in the work of an assembly.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Identifier of this step.
    pub id: Arc<str>,
    /// The step that contains it, of a nested assembly.
    pub parent_id: Option<Arc<str>>,
    /// The steps whose results led to it.
    pub predecessor_ids: Vec<Arc<str>>,
    /// Name of the participant.
    pub participant: Arc<str>,
    /// Identifier of the assembly that took part.
    pub assembly_id: Arc<str>,
    /// Its kind.
    pub assembly_kind: AssemblyKind,
    /// The parallel branch of a graph.
    pub branch_id: Option<Arc<str>>,
    /// How it ended.
    pub status: StepStatus,
    /// All attempts.
    pub attempts: Vec<Attempt>,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// The participant's output, unless it was too large.
    pub output: Option<Value>,
    /// Whether the output was too large to be kept.
    pub output_truncated: bool,
}

impl Step {
    /// Keeps `output`, unless it is too large.
    pub(super) fn keep(&mut self, output: Value) {
        let size = match &output {
            Value::String(text) => text.len(),
            other => other.to_string().len(),
        };
        self.output_truncated = size > MAX_OUTPUT;
        self.output = (!self.output_truncated).then_some(output);
    }

    /// The step as JSON; times are seconds since the Unix epoch.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let attempts: Vec<Value> = self.attempts.iter().map(Attempt::to_value).collect();
        let predecessors: Vec<&str> = self.predecessor_ids.iter().map(|id| &**id).collect();
        json!({
            "id": *self.id, "parent_id": self.parent_id.as_deref(),
            "predecessor_ids": predecessors, "participant": *self.participant,
            "assembly_id": *self.assembly_id, "assembly_kind": self.assembly_kind.as_str(),
            "branch_id": self.branch_id.as_deref(), "status": self.status.as_str(),
            "attempts": attempts, "usage": self.usage.to_value(), "output": self.output,
            "output_truncated": self.output_truncated,
        })
    }
}

impl Attempt {
    fn to_value(&self) -> Value {
        json!({
            "number": self.number, "status": self.status.as_str(),
            "started_at": seconds(self.started_at), "finished_at": seconds(self.finished_at),
            "usage": self.usage.to_value(), "error": self.error,
        })
    }
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
