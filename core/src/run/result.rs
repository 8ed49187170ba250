//! The final value of one agent invocation.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::agent::ResultStrategy;
use crate::assembly::{Step, Trajectory};
use crate::cost::Cost;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, Usage};
use crate::model::StopReason;

/// The final value of one invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// The final assistant message.
    pub message: Option<Message>,
    /// Why the last model response stopped.
    pub stop_reason: StopReason,
    /// Token counts over the whole invocation.
    pub usage: Usage,
    /// What those tokens cost; see [`Run::cost`](crate::Run::cost).
    pub cost: Option<Cost>,
    /// The complete conversation, system message first.
    pub messages: Vec<Message>,
    /// The checked value of an agent with a result schema.
    pub structured: Option<StructuredResult>,
    /// The steps of an assembly that coordinated others, in the order in which they ended.
    pub steps: Vec<Step>,
    /// The part of the run whose state this result ends with; 0 is the run itself.
    pub(crate) scope: u64,
}

/// A value that fits the declared schema of an agent's result.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredResult {
    /// Name of the schema.
    pub name: String,
    /// The checked value; always an object.
    pub value: Map<String, Value>,
    /// How the model gave it: `Provider` or `Tool`.
    pub strategy: ResultStrategy,
}

impl StructuredResult {
    /// `{name, value, strategy}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({"name": self.name, "value": self.value, "strategy": self.strategy.as_str()})
    }

    /// Reads what [`to_value`](Self::to_value) writes.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for another shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match (text("name"), value.get("value")) {
            (Some(name), Some(Value::Object(map))) => Ok(Self {
                name: name.to_owned(),
                value: map.clone(),
                strategy: text("strategy")
                    .and_then(ResultStrategy::from_name)
                    .unwrap_or_default(),
            }),
            _ => Err(Error::new(
                ErrorKind::Argument,
                "structured result: expected an object with a name and an object as value",
            )),
        }
    }
}

impl RunResult {
    /// Text of the final message, or empty.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.as_ref().map(Message::text).unwrap_or_default()
    }

    /// The steps behind the result, for questions about them.
    #[must_use]
    pub fn trajectory(&self) -> Trajectory<'_> {
        Trajectory::new(&self.steps)
    }

    /// The structured value when there is one, else the text.
    #[must_use]
    pub fn output(&self) -> Value {
        match &self.structured {
            Some(structured) => Value::Object(structured.value.clone()),
            None => Value::String(self.text()),
        }
    }

    /// The structured value, read into `T`.
    ///
    /// # Errors
    /// [`ErrorKind::StructuredResult`] when there is none, or when it does not fit `T`.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T> {
        let Some(structured) = &self.structured else {
            return Err(Error::new(
                ErrorKind::StructuredResult,
                "the agent has no result schema, so its output is text; use result_schema or text()",
            ));
        };
        serde_json::from_value(Value::Object(structured.value.clone())).map_err(|problem| {
            Error::new(
                ErrorKind::StructuredResult,
                format!(
                    "the result {:?} fits its schema but not the Rust type it is read into: {problem}",
                    structured.name
                ),
            )
        })
    }

    /// `{message, stop_reason, usage, cost, messages, structured?, steps?, scope?}`; the cost is a decimal
    /// string or null.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "message": self.message.as_ref().map(Message::to_value),
            "stop_reason": self.stop_reason.as_str(),
            "usage": self.usage.to_value(),
            "cost": self.cost.map(|cost| cost.to_string()),
            "messages": self.messages.iter().map(Message::to_value).collect::<Vec<_>>(),
        });
        if let Some(map) = value.as_object_mut() {
            if let Some(structured) = &self.structured {
                map.insert("structured".into(), structured.to_value());
            }
            if !self.steps.is_empty() {
                map.insert(
                    "steps".into(),
                    self.steps.iter().map(Step::to_value).collect(),
                );
            }
            if self.scope != 0 {
                map.insert("scope".into(), json!(self.scope));
            }
        }
        value
    }

    /// Reads `{message, stop_reason, usage, cost?, messages, structured?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for any other shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        let invalid = |problem: &str| Error::new(ErrorKind::Argument, format!("result: {problem}"));
        let Value::Object(map) = value else {
            return Err(invalid("expected an object"));
        };
        let present = |key: &str| map.get(key).filter(|value| !value.is_null());
        let messages = match map.get("messages") {
            Some(Value::Array(messages)) => messages
                .iter()
                .map(Message::from_value)
                .collect::<Result<_>>()?,
            _ => return Err(invalid("messages must be an array")),
        };
        let stop_reason = map.get("stop_reason").and_then(Value::as_str);
        let usage = map.get("usage").and_then(Value::as_object);
        Ok(Self {
            message: present("message").map(Message::from_value).transpose()?,
            stop_reason: StopReason::from_name(
                stop_reason.ok_or_else(|| invalid("stop_reason must be a name"))?,
            ),
            usage: usage.map(Usage::from_map).unwrap_or_default(),
            cost: present("cost")
                .and_then(Value::as_str)
                .map(str::parse)
                .transpose()?,
            messages,
            structured: present("structured")
                .map(StructuredResult::from_value)
                .transpose()?,
            // What an application changes is an agent's own result.
            steps: Vec::new(),
            scope: map.get("scope").and_then(Value::as_u64).unwrap_or_default(),
        })
    }
}
