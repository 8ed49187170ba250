//! What a run showed, in the shapes that all three languages share.

use little_ghost::{RunResult, StreamEvent, Usage};
use serde_json::{Value, json};

use super::super::observation::Observation as Shapes;
use super::steps::Steps;

/// One event: its type, its data, and of a wrapped one the way to its agent.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) kind: String,
    pub(super) data: Value,
    /// `{agent_id, path, input}`.
    pub(super) source: Option<Value>,
}

/// What a run showed.
#[derive(Debug, Default)]
pub(super) struct Observation {
    pub(super) events: Vec<Seen>,
    pub(super) outcome: Option<String>,
    pub(super) response: String,
    pub(super) usage: Value,
    pub(super) error: Option<Value>,
    pub(super) output: Value,
    pub(super) state: Value,
    /// The result as `run_stop` has it.
    pub(super) result: Value,
    pub(super) steps: Option<Steps>,
    pub(super) session: Value,
    pub(super) journal: Vec<Value>,
}

impl Observation {
    pub(super) fn set_usage(&mut self, usage: Usage) {
        self.usage = usage.to_value();
    }

    pub(super) fn set_result(&mut self, result: Option<&RunResult>) {
        let Some(result) = result else { return };
        self.output = result.output();
        self.result = shape_of(result.to_value());
        self.steps = Some(Steps::new(&result.steps));
    }
}

/// One event in the shared shapes.
pub(super) fn seen(event: &StreamEvent) -> Seen {
    let StreamEvent::AgentStream {
        source,
        event,
        input,
    } = event
    else {
        let (kind, data) = shapes(event);
        return Seen {
            kind,
            data,
            source: None,
        };
    };
    let path: Vec<Value> = source
        .assembly_path
        .iter()
        .map(|step| {
            json!({
                "assembly_id": *step.assembly_id, "assembly_kind": step.assembly_kind.as_str(),
                "branch_id": step.branch_id.as_deref(), "participant": *step.participant,
                "step_id": *step.step_id,
            })
        })
        .collect();
    let (kind, data) = shapes(event);
    let asked = input.as_ref().map(|message| message.text());
    Seen {
        kind,
        data,
        source: Some(json!({"agent_id": *source.agent_id, "path": path, "input": asked})),
    }
}

fn shapes(event: &StreamEvent) -> (String, Value) {
    let mut shapes = Shapes::default();
    shapes.push(event);
    let (kind, mut data) = shapes.events.pop().unwrap();
    if let Some(result) = data
        .get_mut("result")
        .filter(|result| result.get("messages").is_some())
    {
        *result = shape_of(result.take());
    }
    (kind, data)
}

/// A result without what the events of all languages do not share.
fn shape_of(mut result: Value) -> Value {
    if let Some(map) = result.as_object_mut() {
        map.retain(|key, _| {
            ["message", "stop_reason", "usage", "messages", "structured"].contains(&key.as_str())
        });
        if let Some(structured) = map.get_mut("structured") {
            *structured = json!({"name": structured["name"], "value": structured["value"]});
        }
    }
    result
}
