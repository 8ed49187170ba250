//! Model requests as hosts write them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{ModelRequest, OutputSchema, ToolChoice};
use crate::deadline::Deadline;
use crate::error::{Error, ErrorKind, Result};
use crate::message::{Message, kind_of};
use crate::tool::ToolDefinition;

impl ModelRequest {
    /// Reads what [`to_value`](Self::to_value) writes; only `messages` is required.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for any other shape, [`ErrorKind::Configuration`] for an unusable tool.
    pub fn from_value(value: &Value) -> Result<Self> {
        let Value::Object(map) = value else {
            return Err(invalid(format!(
                "expected an object, got {}",
                kind_of(value)
            )));
        };
        let messages = match map.get("messages") {
            Some(Value::Array(messages)) => messages
                .iter()
                .map(Message::from_value)
                .collect::<Result<Vec<_>>>()?,
            _ => return Err(invalid("messages must be an array".into())),
        };
        let tools = array(map, "tools")?
            .iter()
            .map(tool)
            .collect::<Result<Vec<_>>>()?;
        let names = array(map, "required_capabilities")?;
        Ok(Self {
            messages: Arc::new(messages),
            tools: tools.into(),
            settings: match map.get("settings") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(settings)) => settings.clone(),
                Some(_) => return Err(invalid("settings must be an object".into())),
            },
            output_schema: output_schema(map.get("output_schema"))?,
            tool_choice: tool_choice(map.get("tool_choice"))?,
            required_capabilities: names
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            deadline: match map.get("deadline_at") {
                None | Some(Value::Null) => None,
                Some(at) => Some(
                    at.as_f64()
                        .and_then(Deadline::from_unix)
                        .ok_or_else(|| invalid("deadline_at must be seconds".into()))?,
                ),
            },
        })
    }
}

fn tool(value: &Value) -> Result<ToolDefinition> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let strict = value.get("strict").and_then(Value::as_bool);
    let anything = json!({});
    let schema = value.get("input_schema").unwrap_or(&anything);
    Ok(
        ToolDefinition::known(text("name"), text("description"), schema)?
            .strict(strict.unwrap_or_default()),
    )
}

fn output_schema(value: Option<&Value>) -> Result<Option<OutputSchema>> {
    let map = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(invalid("output_schema must be an object".into())),
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    match (text("name"), map.get("schema")) {
        (Some(name), Some(schema @ Value::Object(_))) => Ok(Some(OutputSchema {
            name,
            description: text("description"),
            schema: schema.clone(),
        })),
        _ => Err(invalid(
            "output_schema must hold a name and a schema".into(),
        )),
    }
}

fn tool_choice(value: Option<&Value>) -> Result<Option<ToolChoice>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) if word == "required" => Ok(Some(ToolChoice::Required)),
        Some(choice) => match choice.get("name").and_then(Value::as_str) {
            Some(name) => Ok(Some(ToolChoice::Named(name.to_owned()))),
            None => Err(invalid("tool_choice must be \"required\" or {name}".into())),
        },
    }
}

fn array<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a [Value]> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(invalid(format!("{key} must be an array"))),
    }
}

fn invalid(problem: String) -> Error {
    Error::new(ErrorKind::Argument, format!("model request: {problem}"))
}
