//! The tools by which a model delegates.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::caller::{Caller, Mode};
use super::declaration::Kind;
use super::listing::MAX_LIMIT;
use super::manager::Manager;
use super::path::MAX_NAME_LENGTH;
use super::spawning::Spawn;
use crate::error::Result;
use crate::tool::{RunContext, Tool, ToolDefinition};

#[derive(Clone, Copy, Debug)]
enum Operation {
    Spawn,
    Message,
    Interject,
    Wait,
    List,
}

/// The definitions of the tools for a model that may delegate to `kinds`, each with its description.
///
/// # Errors
/// None in practice.
pub(crate) fn definitions(kinds: &[(&str, &str)]) -> Result<Vec<ToolDefinition>> {
    described(kinds)
        .into_iter()
        .map(|(_, name, text, schema)| ToolDefinition::cached(name, &text, schema))
        .collect()
}

/// The tools of `manager`.
pub(super) fn bound(manager: &Arc<Manager>) -> Result<Vec<Arc<dyn Tool>>> {
    let kinds: Vec<(&str, &str)> = manager.kinds.iter().map(words).collect();
    let tools = described(&kinds)
        .into_iter()
        .map(|(operation, name, text, schema)| {
            let definition = ToolDefinition::cached(name, &text, schema)?;
            let manager = Arc::clone(manager);
            Ok(Arc::new(Delegating {
                definition,
                operation,
                manager,
            }) as Arc<dyn Tool>)
        });
    tools.collect()
}

fn words(kind: &Kind) -> (&str, &str) {
    (&kind.kind, &kind.description)
}

fn described(kinds: &[(&str, &str)]) -> Vec<(Operation, &'static str, String, Value)> {
    let names: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
    let list: Vec<String> = kinds
        .iter()
        .map(|(kind, text)| match *text {
            "" => format!("- {kind}"),
            text => format!("- {kind}: {text}"),
        })
        .collect();
    let id = json!({"type": "string", "description": "The subagent_id that spawn_subagent or list_subagents gave."});
    let mode = json!({
        "type": "string", "enum": ["sync", "async"],
        "description": "sync waits for the answer; async returns at once, and wait_for_subagents brings the answer later.",
    });
    let object = |properties: Value, required: &[&str]| {
        json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        })
    };
    vec![
        (
            Operation::Spawn,
            "spawn_subagent",
            format!(
                "Create a subagent and give it its first task. It knows only what the task says, so say all that \
                 it needs. Mode sync waits for its answer; mode async returns at once, and the answer is there for \
                 wait_for_subagents. Kinds of subagents:\n{}",
                list.join("\n")
            ),
            object(
                json!({
                    "kind": {"type": "string", "enum": names, "description": "Which kind of subagent."},
                    "task_name": {
                        "type": "string", "pattern": "^[a-z0-9_]+$", "maxLength": MAX_NAME_LENGTH,
                        "description": "A short name for the task, in lower-case letters, digits and underscores. No two subagents have the same.",
                    },
                    "task": {"type": "string", "description": "The complete task."},
                    "mode": mode,
                }),
                &["kind", "task_name", "task", "mode"],
            ),
        ),
        (
            Operation::Message,
            "send_message_to_subagent",
            "Go on with the conversation of a subagent. Messages are taken in order, after all that it has to do \
             already; they never interrupt it. Mode sync waits for the answer; mode async leaves it for \
             wait_for_subagents. To steer a subagent that is at work, use interject_subagent."
                .to_owned(),
            object(
                json!({
                    "subagent_id": id,
                    "message": {"type": "string", "description": "What to say."},
                    "mode": mode,
                }),
                &["subagent_id", "message", "mode"],
            ),
        ),
        (
            Operation::Interject,
            "interject_subagent",
            "Steer a subagent that is at work: it reads the message before its next step and answers at once. That \
             does not stop its work; response_disposition says whether its answer also began further tool calls. Its \
             turn goes on, and its final answer comes as usual."
                .to_owned(),
            object(
                json!({
                    "subagent_id": id,
                    "message": {"type": "string", "description": "What to say."},
                }),
                &["subagent_id", "message"],
            ),
        ),
        (
            Operation::Wait,
            "wait_for_subagents",
            "Wait until subagents are done, and read their answers. The status still_working is normal: they go on \
             working, and you may wait again, do something else, or interject. A response belongs to the latest \
             turn; previous_response is context from an earlier turn, not the answer you wait for."
                .to_owned(),
            object(
                json!({"subagent_ids": {
                    "type": "array", "items": {"type": "string"},
                    "description": "Whom to wait for; without it, all subagents of this conversation.",
                }}),
                &[],
            ),
        ),
        (
            Operation::List,
            "list_subagents",
            "List subagents, those first that changed last, and also those of earlier requests, which go on when they \
             are sent a message. Pass next_cursor back unchanged as cursor to read on."
                .to_owned(),
            object(
                json!({
                    "kind": {"type": "string", "enum": names, "description": "Only subagents of this kind."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "How many at once."},
                    "cursor": {"type": "string", "description": "The next_cursor of the page before."},
                }),
                &[],
            ),
        ),
    ]
}

/// One of the tools, at work for one agent.
struct Delegating {
    definition: ToolDefinition,
    operation: Operation,
    manager: Arc<Manager>,
}

#[async_trait]
impl Tool for Delegating {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Map<String, Value>, context: &RunContext) -> Result<Value> {
        let caller = Caller {
            operation_id: Some(context.operation_id().into()),
            crowded: context.is_concurrent(),
        };
        self.manager.operate(self.operation, &input, caller).await
    }
}

impl Manager {
    async fn operate(
        self: &Arc<Self>,
        operation: Operation,
        input: &Map<String, Value>,
        caller: Caller,
    ) -> Result<Value> {
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let given = |key: &str| text(key).unwrap_or_default();
        match operation {
            Operation::Spawn => {
                let spawn = Spawn {
                    kind: given("kind"),
                    task_name: given("task_name"),
                    task: given("task"),
                    mode: Mode::from_name(given("mode"))?,
                };
                self.spawn(spawn, caller).await
            }
            Operation::Message => {
                let mode = Mode::from_name(given("mode"))?;
                self.send_message(given("subagent_id"), given("message"), mode, caller)
                    .await
            }
            Operation::Interject => self.interject(given("subagent_id"), given("message")).await,
            Operation::Wait => {
                let ids = input.get("subagent_ids").and_then(Value::as_array);
                let ids: Option<Vec<String>> = ids.map(|ids| {
                    let texts = ids.iter().filter_map(Value::as_str);
                    texts.map(str::to_owned).collect()
                });
                self.wait(ids.as_deref()).await
            }
            Operation::List => {
                let limit = input.get("limit").and_then(Value::as_u64);
                self.list(text("kind"), limit, text("cursor")).await
            }
        }
    }

    /// Does what the tool called `name` does.
    ///
    /// # Errors
    /// As the tool; [`ErrorKind::Tool`](crate::ErrorKind::Tool) for another name.
    pub(crate) async fn call(
        self: &Arc<Self>,
        name: &str,
        input: &Map<String, Value>,
        caller: Caller,
    ) -> Result<Value> {
        let operation = match name {
            "spawn_subagent" => Operation::Spawn,
            "send_message_to_subagent" => Operation::Message,
            "interject_subagent" => Operation::Interject,
            "wait_for_subagents" => Operation::Wait,
            "list_subagents" => Operation::List,
            other => {
                return Err(crate::error::Error::tool(format!(
                    "there is no tool {other:?} for subagents"
                )));
            }
        };
        self.operate(operation, input, caller).await
    }
}
