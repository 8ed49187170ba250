//! What is measured of an invocation: the agent, its turns, its model calls, its tools.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{AgentInput, Conversation};
use crate::error::Result;
use crate::message::{Message, ToolResult, ToolUse};
use crate::model::{ModelRequest, ModelResponse};
use crate::run::{Operation, RunResult, with_usage};
use crate::tool::ToolDefinition;

impl Conversation {
    /// Content for instrumentation, if the agent lets it have any.
    fn diagnostic(&self, content: impl FnOnce() -> Value) -> Value {
        if self.agent.capture_diagnostics && self.run.outbox.may_have_content() {
            content()
        } else {
            Value::Null
        }
    }

    /// `attributes` of a failure, without content when the agent keeps it.
    fn without_content(&self, mut attributes: Value) -> Value {
        if !self.agent.capture_diagnostics
            && let Some(attributes) = attributes.as_object_mut()
        {
            attributes.remove("diagnostic");
        }
        attributes
    }

    pub(super) fn fail(&self, operation: Operation, error: &crate::error::Error) {
        operation.finish(|| self.without_content(crate::run::failure(error)));
    }

    pub(super) fn measure_agent(&self, input: &AgentInput) -> Operation {
        Operation::start(
            &self.run.outbox,
            "agent",
            &self.operation_id,
            Some(&self.parent_operation_id),
            || {
                let tools: Vec<&str> = self.agent.tools.names().collect();
                json!({
                    "agent_id": *self.agent.id, "available_tools": tools,
                    "diagnostic": self.diagnostic(|| json!({"input": messages(input.history.iter().chain(&input.message))})),
                })
            },
        )
    }

    pub(super) fn measured_agent(&self, operation: Operation, result: &Result<Arc<RunResult>>) {
        match result {
            Err(error) => self.fail(operation, error),
            Ok(result) => operation.finish(|| {
                let output = || json!({"output": result.message.as_ref().map(Message::to_value)});
                let attributes = json!({
                    "outcome": "completed", "stop_reason": result.stop_reason.as_str(),
                    "diagnostic": self.diagnostic(output),
                });
                with_usage(attributes, result.usage)
            }),
        }
    }

    /// Turn `turn`, counted from zero, as telemetry counts it: from one.
    pub(super) fn measure_turn(&self, id: &Arc<str>, turn: u32) -> Operation {
        let parent = Some(&self.operation_id);
        Operation::start(
            &self.run.outbox,
            "agent_turn",
            id,
            parent,
            || json!({"turn": turn + 1}),
        )
    }

    pub(super) fn measure_model(
        &self,
        parent: &Arc<str>,
        turn: u32,
        request: &ModelRequest,
    ) -> Operation {
        if !self.run.outbox.is_instrumented() {
            return Operation::unmeasured();
        }
        let id: Arc<str> = Uuid::new_v4().to_string().into();
        Operation::start(&self.run.outbox, "model", &id, Some(parent), || {
            let mut attributes = self.model_attributes();
            attributes.insert("turn".into(), json!(turn));
            attributes.insert("model_settings".into(), json!(request.settings));
            let content = || {
                let tools: Vec<Value> =
                    request.tools.iter().map(ToolDefinition::to_value).collect();
                json!({"input": messages(&*request.messages), "tool_definitions": tools})
            };
            attributes.insert("diagnostic".into(), self.diagnostic(content));
            Value::Object(attributes)
        })
    }

    /// What telemetry says about the agent's model.
    fn model_attributes(&self) -> Map<String, Value> {
        let model = &self.agent.model;
        let provider = model.target().split_once(':').map(|(provider, _)| provider);
        let attributes = [
            ("model_id", json!(model.model_id())),
            ("model_role", json!(model.role())),
            ("model_provider", json!(provider)),
        ];
        attributes
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    pub(super) fn measured_model(
        &self,
        operation: Operation,
        response: &ModelResponse,
        time_to_first_token: Option<f64>,
    ) {
        operation.finish(|| {
            let metadata = |key: &str| response.metadata.get(key).cloned().unwrap_or_default();
            let stop_reason = response.stop_reason.as_str();
            let attributes = json!({
                "outcome": "completed", "time_to_first_token": time_to_first_token,
                "stop_reason": stop_reason, "finish_reasons": [stop_reason],
                "response_id": metadata("id"), "response_model": metadata("model"),
                "diagnostic": self.diagnostic(|| json!({"output": response.message.to_value()})),
            });
            with_usage(attributes, response.usage)
        });
    }

    pub(super) fn measure_tool(
        &self,
        id: &Arc<str>,
        parent: &Arc<str>,
        call: &ToolUse,
        is_known: bool,
    ) -> Operation {
        Operation::start(&self.run.outbox, "tool", id, Some(parent), || {
            json!({
                "tool_name": if is_known { &call.name } else { "unknown_tool" },
                "tool_type": "function", "tool_call_id": call.id,
                "diagnostic": self.diagnostic(|| json!({"input": call.input})),
            })
        })
    }

    pub(super) fn measured_tool(
        &self,
        operation: Operation,
        result: &ToolResult,
        error_type: Option<&str>,
    ) {
        operation.finish(|| {
            json!({
                "outcome": result.status.as_str(), "error_type": error_type,
                "diagnostic": self.diagnostic(|| json!({"output": result.content.to_value()})),
            })
        });
    }
}

fn messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Value> {
    messages.into_iter().map(Message::to_value).collect()
}
