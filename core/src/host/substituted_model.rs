//! A model of the engine with parts that are the host's.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::door::Door;
use super::substitute::{HostSubstitute, Part};
use crate::error::Result;
use crate::model::{Model, ModelCapabilities, ModelRequest, ModelResponse};
use crate::provider::substituted;
use crate::run::EventSender;

/// Has the host do what the application put in the place of parts of the model's provider.
pub(super) struct SubstitutedModel {
    inner: Arc<dyn Model>,
    door: Door,
    parts: Arc<[Part]>,
}

impl SubstitutedModel {
    /// `model` with the parts that a declaration `{"resolved": {"host": [names]}}` lists; the model itself
    /// when there are none.
    pub(super) fn over(
        model: Arc<dyn Model>,
        door: &Door,
        declared: Option<&Value>,
    ) -> Arc<dyn Model> {
        let names = declared.and_then(|value| value.pointer("/resolved/host")?.as_array());
        let parts: Arc<[Part]> = names
            .into_iter()
            .flatten()
            .filter_map(|name| Part::from_name(name.as_str()?))
            .collect();
        if parts.is_empty() {
            return model;
        }
        Arc::new(Self {
            inner: model,
            door: door.clone(),
            parts,
        })
    }
}

#[async_trait]
impl Model for SubstitutedModel {
    fn target(&self) -> &str {
        self.inner.target()
    }

    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn role(&self) -> Option<&str> {
        self.inner.role()
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.inner.capabilities()
    }

    fn details(&self) -> Map<String, Value> {
        self.inner.details()
    }

    fn unsupported_schema(&self, schema: &Value) -> Vec<String> {
        self.inner.unsupported_schema(schema)
    }

    async fn stream(&self, request: &ModelRequest, events: &EventSender) -> Result<ModelResponse> {
        let substitute =
            HostSubstitute::new(self.door.clone(), Arc::clone(&self.parts), request.deadline);
        substituted(Arc::new(substitute), self.inner.stream(request, events)).await
    }
}
