//! The callbacks that a host has for an agent.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::channel::HostCallKind;
use super::door::Door;
use crate::agent::{
    AfterInvocation, AfterModel, AfterModelError, AfterTool, BeforeInvocation, BeforeModel,
    BeforeTool, Callbacks, Decision, ToolOutcome,
};
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, ToolResultContent, ToolStatus};
use crate::model::{ModelRequest, ModelResponse};
use crate::run::RunResult;
use crate::tool::{RunContext, value_text};

/// The steps that a host may have callbacks for.
const STEPS: [&str; 7] = [
    "before_invocation",
    "after_invocation",
    "before_model",
    "after_model",
    "after_model_error",
    "before_tool",
    "after_tool",
];

/// Asks the host at the steps that it has callbacks for.
pub(crate) struct HostCallbacks {
    door: Door,
    steps: Vec<&'static str>,
}

impl HostCallbacks {
    /// Reads the names of the steps; `None` when there are none.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for anything but an array of known names.
    pub(crate) fn from_value(door: &Door, names: &Value) -> Result<Option<Self>> {
        let names = match names {
            Value::Null => return Ok(None),
            Value::Array(names) => names,
            _ => return Err(unusable("callbacks must be an array of names".into())),
        };
        let known = |name: &Value| {
            STEPS
                .into_iter()
                .find(|step| name.as_str() == Some(step))
                .ok_or_else(|| unusable(format!("unknown callback {name}")))
        };
        let steps: Vec<&'static str> = names.iter().map(known).collect::<Result<_>>()?;
        Ok((!steps.is_empty()).then(|| Self {
            door: door.clone(),
            steps,
        }))
    }

    fn has(&self, step: &str) -> bool {
        self.steps.contains(&step)
    }

    /// Asks the host. `payload` is only made when the host has the callback.
    async fn ask<T>(
        &self,
        step: &'static str,
        payload: impl FnOnce() -> Value,
        replacement: impl FnOnce(&Map<String, Value>) -> Result<Option<T>>,
    ) -> Result<Decision<T>> {
        if !self.has(step) {
            return Ok(Decision::Continue);
        }
        let mut payload = payload();
        if let Some(payload) = payload.as_object_mut() {
            payload.insert("name".into(), json!(step));
        }
        let answer = self.door.call(HostCallKind::Callback, payload).await?;
        let invalid =
            |problem: &str| Error::new(ErrorKind::Argument, format!("callback {step}: {problem}"));
        let Value::Object(answer) = answer else {
            return if answer.is_null() {
                Ok(Decision::Continue)
            } else {
                Err(invalid(
                    "the answer must be null, a replacement or a cancellation",
                ))
            };
        };
        match (answer.get("cancel"), answer.get("replace")) {
            (Some(reason), _) => Ok(Decision::Cancel(reason.as_str().map(str::to_owned))),
            (None, Some(Value::Object(replace))) => match replacement(replace) {
                Ok(Some(replacement)) => Ok(Decision::Replace(replacement)),
                Ok(None) => Err(invalid("the replacement lacks the key of what it replaces")),
                Err(error) => Err(invalid(error.message())),
            },
            _ => Err(invalid("the answer must hold replace or cancel")),
        }
    }
}

#[async_trait]
impl Callbacks for HostCallbacks {
    async fn before_invocation(
        &self,
        payload: &BeforeInvocation,
        _context: &RunContext,
    ) -> Result<Decision<Vec<Message>>> {
        let value = || json!({"messages": values(&payload.messages)});
        let replace =
            |replace: &Map<String, Value>| replace.get("messages").map(messages).transpose();
        self.ask("before_invocation", value, replace).await
    }

    async fn after_invocation(
        &self,
        payload: &AfterInvocation,
        _context: &RunContext,
    ) -> Result<Decision<RunResult>> {
        let value = || json!({"result": payload.result.to_value()});
        let replace = |replace: &Map<String, Value>| {
            replace.get("result").map(RunResult::from_value).transpose()
        };
        self.ask("after_invocation", value, replace).await
    }

    async fn before_model(
        &self,
        payload: &BeforeModel,
        _context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        let value = || {
            json!({
                "request": payload.request.to_value(), "turn": payload.turn,
                "parent_operation_id": *payload.parent_operation_id,
            })
        };
        self.ask("before_model", value, |replace| {
            request(&payload.request, replace)
        })
        .await
    }

    async fn after_model(
        &self,
        payload: &AfterModel,
        _context: &RunContext,
    ) -> Result<Decision<ModelResponse>> {
        let value = || {
            json!({
                "request": payload.request.to_value(),
                "response": payload.response.to_value(), "turn": payload.turn,
            })
        };
        let replace = |replace: &Map<String, Value>| {
            replace
                .get("response")
                .map(ModelResponse::from_value)
                .transpose()
        };
        self.ask("after_model", value, replace).await
    }

    async fn after_model_error(
        &self,
        payload: &AfterModelError,
        _context: &RunContext,
    ) -> Result<Decision<ModelRequest>> {
        let value = || {
            json!({
                "request": payload.request.to_value(), "error": payload.error.to_value(),
                "turn": payload.turn, "parent_operation_id": *payload.parent_operation_id,
            })
        };
        self.ask("after_model_error", value, |replace| {
            request(&payload.request, replace)
        })
        .await
    }

    async fn before_tool(
        &self,
        payload: &BeforeTool,
        _context: &RunContext,
    ) -> Result<Decision<()>> {
        let value = || {
            json!({
                "tool_use": payload.tool_use.to_value(), "operation_id": *payload.operation_id,
                "parent_operation_id": *payload.parent_operation_id,
            })
        };
        self.ask("before_tool", value, |_| Ok(Some(()))).await
    }

    async fn after_tool(
        &self,
        payload: &AfterTool,
        _context: &RunContext,
    ) -> Result<Decision<ToolOutcome>> {
        let value = || {
            json!({
                "tool_use": payload.tool_use.to_value(), "operation_id": *payload.operation_id,
                "parent_operation_id": *payload.parent_operation_id,
                "result": payload.outcome.to_value(),
            })
        };
        self.ask("after_tool", value, |replace| {
            replace
                .get("result")
                .map(|result| outcome(&payload.outcome, result))
                .transpose()
        })
        .await
    }
}

fn values(messages: &[Message]) -> Vec<Value> {
    messages.iter().map(Message::to_value).collect()
}

fn messages(value: &Value) -> Result<Vec<Message>> {
    let entries = value
        .as_array()
        .ok_or_else(|| unusable("messages must be an array".into()))?;
    entries.iter().map(Message::from_value).collect()
}

/// The request with the messages and the settings of the replacement; the rest is the engine's.
fn request(request: &ModelRequest, replace: &Map<String, Value>) -> Result<Option<ModelRequest>> {
    let Some(Value::Object(replacement)) = replace.get("request") else {
        return Ok(None);
    };
    let mut request = request.clone();
    if let Some(replaced) = replacement.get("messages") {
        request.messages = Arc::new(messages(replaced)?);
    }
    match replacement.get("settings") {
        None => {}
        Some(Value::Object(settings)) => request.settings = settings.clone(),
        Some(_) => return Err(unusable("settings must be an object".into())),
    }
    Ok(Some(request))
}

/// The outcome with what the replacement holds.
fn outcome(outcome: &ToolOutcome, replacement: &Value) -> Result<ToolOutcome> {
    let Value::Object(replacement) = replacement else {
        return Err(unusable("the result must be an object".into()));
    };
    let mut outcome = outcome.clone();
    if let Some(value) = replacement.get("value") {
        outcome.content = ToolResultContent::Text(value_text(value));
        outcome.value = Some(value.clone());
    }
    if let Some(content) = replacement.get("content") {
        outcome.content = ToolResultContent::from_value(content)?;
    }
    match replacement.get("status").map(|status| status.as_str()) {
        None => {}
        Some(Some("success")) => {
            outcome.status = ToolStatus::Success;
            outcome.error = None;
        }
        Some(Some("error")) => outcome.status = ToolStatus::Error,
        Some(_) => return Err(unusable("the status must be success or error".into())),
    }
    Ok(outcome)
}

fn unusable(problem: String) -> Error {
    Error::new(ErrorKind::Configuration, problem)
}
