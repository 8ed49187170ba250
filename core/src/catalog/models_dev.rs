//! The public catalog models.dev.

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::date::today;
use super::record::{ModelRecord, limits};
use super::source::{CatalogSource, PATIENCE, fetch, unexpected};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::http::Endpoint;

const ADDRESS: &str = "https://models.dev";
const PATH: &str = "api.json";
const NAME: &str = "models.dev";

/// Where the catalog names a service otherwise than the adapter for it.
const NAMESPACES: &[(&str, &str)] = &[
    ("gemini", "google"),
    ("vertex_ai", "google-vertex"),
    ("bedrock", "amazon-bedrock"),
];

/// Facts of the public catalog models.dev about the models of the application's connections.
#[derive(Clone, Debug)]
pub struct ModelsDev {
    connections: Vec<(String, String)>,
    base_url: String,
}

impl ModelsDev {
    /// A source for connections, given with the names of their adapters.
    #[must_use]
    pub fn new(connections: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            connections: connections.into_iter().collect(),
            base_url: ADDRESS.into(),
        }
    }

    /// Asks a mirror instead.
    #[must_use]
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }
}

#[async_trait]
impl CatalogSource for ModelsDev {
    fn name(&self) -> &str {
        NAME
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        let endpoint = Endpoint::new(NAME, &self.base_url, PATH, false)?;
        let document = fetch(endpoint, HeaderMap::new(), Deadline::after(PATIENCE)).await?;
        let Value::Object(services) = &document else {
            return Err(unexpected(NAME));
        };
        let observed_at = today();
        let mut records = Vec::new();
        for (connection, adapter) in &self.connections {
            let namespace = NAMESPACES
                .iter()
                .find(|(known, _)| known == adapter)
                .map_or(adapter.as_str(), |(_, namespace)| namespace);
            let models = services
                .get(namespace)
                .and_then(|service| service.get("models"))
                .and_then(Value::as_object);
            for (id, model) in models.into_iter().flatten() {
                let record = ModelRecord {
                    target: format!("{connection}:{id}"),
                    attributes: attributes(model),
                    observed_at: Some(observed_at.clone()),
                };
                if target.is_none_or(|target| target == record.target) {
                    records.push(record);
                }
            }
        }
        Ok(records)
    }
}

fn attributes(model: &Value) -> Map<String, Value> {
    let mut attributes = limits(
        model,
        &[
            ("/limit/context", "context_window"),
            ("/limit/output", "max_output_tokens"),
        ],
    );
    for (pointer, name) in [
        ("/modalities/input", "input_modalities"),
        ("/modalities/output", "output_modalities"),
    ] {
        if let Some(list @ Value::Array(_)) = model.pointer(pointer) {
            attributes.insert(name.into(), list.clone());
        }
    }
    let flags = [
        ("tool_call", "tools"),
        ("structured_output", "structured_outputs"),
        ("temperature", "temperature"),
        ("reasoning", "reasoning"),
    ];
    if flags.iter().any(|(flag, _)| model.get(flag).is_some()) {
        let parameters: Vec<&str> = flags
            .iter()
            .filter(|(flag, _)| model.get(flag).and_then(Value::as_bool) == Some(true))
            .map(|(_, parameter)| *parameter)
            .collect();
        attributes.insert("supported_parameters".into(), json!(parameters));
    }
    if let Some(cost @ Value::Object(_)) = model.get("cost") {
        attributes.insert("pricing".into(), cost.clone());
    }
    attributes
}
