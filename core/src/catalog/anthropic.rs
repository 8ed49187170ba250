//! Anthropic's own list of models.

use async_trait::async_trait;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::date::today;
use super::listing::Listing;
use super::record::{MergeStrategy, ModelRecord, limits};
use super::source::CatalogSource;
use crate::error::{Error, ErrorKind, Result};

const ADDRESS: &str = "https://api.anthropic.com/v1/";
const KEY: HeaderName = HeaderName::from_static("x-api-key");
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const DEFAULT_VERSION: &str = "2023-06-01";

/// Which models a key of Anthropic may use, their limits, and what they take.
#[derive(Clone, Debug)]
pub struct AnthropicModels {
    listing: Listing,
    version: String,
}

impl AnthropicModels {
    /// From the options of a connection with the adapter `anthropic`: `api_key`, `base_url`,
    /// `api_version`, `allow_insecure_http`.
    #[must_use]
    pub fn from_options(connection: &str, options: &Map<String, Value>) -> Self {
        let version = options.get("api_version").and_then(Value::as_str);
        Self {
            listing: Listing::new("anthropic", connection, ADDRESS, options),
            version: version.unwrap_or(DEFAULT_VERSION).to_owned(),
        }
    }
}

#[async_trait]
impl CatalogSource for AnthropicModels {
    fn name(&self) -> &str {
        &self.listing.name
    }

    /// The list names features, but none of the plain parameters.
    fn merge_strategies(&self) -> Vec<(String, MergeStrategy)> {
        vec![("supported_parameters".into(), MergeStrategy::Union)]
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        if !self.listing.covers(target) {
            return Ok(Vec::new());
        }
        let mut headers = self.listing.required_key_header(KEY)?;
        let version = HeaderValue::from_str(&self.version).map_err(|_| {
            Error::new(
                ErrorKind::Configuration,
                format!("api_version {:?} cannot be sent in a header", self.version),
            )
        })?;
        headers.insert(VERSION, version);
        let models = self
            .listing
            .pages("data", ("limit", "1000"), headers, |page| {
                let more = page.get("has_more")?.as_bool()?;
                let last = page.get("last_id")?.as_str()?;
                more.then(|| ("after_id", last.to_owned()))
            })
            .await?;
        let observed_at = today();
        let record = |model: &Value| {
            Some(ModelRecord {
                target: self.listing.target(model.get("id")?.as_str()?, target)?,
                attributes: attributes(model),
                observed_at: Some(observed_at.clone()),
            })
        };
        Ok(models.iter().filter_map(record).collect())
    }
}

fn attributes(model: &Value) -> Map<String, Value> {
    let mut attributes = limits(
        model,
        &[
            ("/max_input_tokens", "context_window"),
            ("/max_tokens", "max_output_tokens"),
        ],
    );
    let retired = model.get("lifecycle").and_then(Value::as_str) == Some("retired");
    attributes.insert("available".into(), Value::Bool(!retired));
    let Some(capabilities) = model.get("capabilities").filter(|value| value.is_object()) else {
        return attributes;
    };
    let supports = |name: &str| {
        capabilities
            .get(name)
            .and_then(|capability| capability.get("supported"))
            == Some(&Value::Bool(true))
    };
    let mut inputs = vec!["text"];
    inputs.extend(supports("image_input").then_some("image"));
    inputs.extend(supports("pdf_input").then_some("pdf"));
    attributes.insert("input_modalities".into(), json!(inputs));
    let mut parameters = vec!["max_tokens", "stop", "tool_choice", "tools"];
    if supports("thinking") || supports("effort") {
        parameters.push("reasoning");
    }
    if supports("structured_outputs") {
        parameters.extend(["response_format", "structured_outputs"]);
    }
    attributes.insert("supported_parameters".into(), json!(parameters));
    attributes
}
