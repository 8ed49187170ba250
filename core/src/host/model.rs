//! A model that is written in the host's language.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::channel::HostCallKind;
use super::door::Door;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, ModelCapabilities, ModelRequest, ModelResponse};
use crate::run::EventSender;

/// A model whose `stream` is user code of the host.
pub(crate) struct HostModel {
    door: Door,
    target: String,
    model_id: String,
    role: Option<String>,
    capabilities: ModelCapabilities,
    details: Map<String, Value>,
}

impl HostModel {
    /// Reads `{target, model_id?, role?, capabilities?, details?}`.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] without a target.
    pub(crate) fn from_value(door: &Door, value: &Value) -> Result<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let object = |key: &str| value.get(key).and_then(Value::as_object).cloned();
        let target = text("target")
            .filter(|target| !target.trim().is_empty())
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Configuration,
                    "the model has no target; name it like \"connection:model-id\"",
                )
            })?;
        let model_id = text("model_id").unwrap_or_else(|| {
            target
                .split_once(':')
                .map_or(target.as_str(), |(_, id)| id)
                .to_owned()
        });
        Ok(Self {
            door: door.clone(),
            model_id,
            role: text("role"),
            capabilities: capabilities(object("capabilities")),
            details: object("details").unwrap_or_default(),
            target,
        })
    }
}

fn capabilities(given: Option<Map<String, Value>>) -> ModelCapabilities {
    let Some(given) = given else {
        return ModelCapabilities::unknown();
    };
    let flag =
        |key: &str, default: bool| given.get(key).and_then(Value::as_bool).unwrap_or(default);
    ModelCapabilities {
        native_structured_output: flag("native_structured_output", false),
        tools: flag("tools", false),
        tool_choice: flag("tool_choice", false),
        supported_parameters: given
            .get("supported_parameters")
            .and_then(Value::as_array)
            .map(|names| {
                let names = names.iter().filter_map(Value::as_str);
                names.map(str::to_owned).collect()
            }),
        known: flag("known", true),
    }
}

#[async_trait]
impl Model for HostModel {
    fn target(&self) -> &str {
        &self.target
    }

    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities.clone()
    }

    fn details(&self) -> Map<String, Value> {
        self.details.clone()
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let payload = json!({"request": request.to_value()});
        let (mut streamed, answer) = self.door.open(HostCallKind::Model, payload)?;
        while let Some(event) = streamed.recv().await {
            events.send(event).await;
        }
        let answer = answer.wait().await?;
        if answer.is_null() {
            return Err(Error::new(
                ErrorKind::Protocol,
                format!(
                    "the model {} ended without message_stop; yield one with its response",
                    self.target
                ),
            ));
        }
        ModelResponse::from_value(&answer).map_err(|problem| {
            Error::new(
                ErrorKind::Protocol,
                format!(
                    "the model {} answered with an unusable response: {}",
                    self.target,
                    problem.message()
                ),
            )
        })
    }
}
