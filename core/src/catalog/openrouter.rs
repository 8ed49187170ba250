//! OpenRouter's own list of models.

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::{Map, Value, json};

use super::date::today;
use super::record::ModelRecord;
use super::source::{CatalogSource, fetch, unexpected};
use crate::error::{Error, ErrorKind, Result};
use crate::http::Endpoint;
use crate::provider::Secret;

const ADDRESS: &str = "https://openrouter.ai/api/v1/";
const PATH: &str = "models";

const TOKENS_PER_PRICE: f64 = 1_000_000.0;

/// Prices of the service, in USD for one token, and our names for them.
const PRICES: &[(&str, &str)] = &[
    ("prompt", "input"),
    ("completion", "output"),
    ("input_cache_read", "cache_read"),
    ("input_cache_write", "cache_write"),
    ("internal_reasoning", "reasoning"),
    ("audio", "input_audio"),
];

/// What OpenRouter says about the models behind one connection: limits, prices, and the parameters
/// that the services behind it really take.
#[derive(Clone, Debug)]
pub struct OpenRouterModels {
    name: String,
    connection: String,
    api_key: Option<Secret>,
    base_url: String,
    allow_insecure_http: bool,
}

impl OpenRouterModels {
    /// A source for the connection of that name. The list is public; a key shows models that only its
    /// owner may use.
    #[must_use]
    pub fn new(connection: impl Into<String>, api_key: Option<Secret>) -> Self {
        let connection = connection.into();
        Self {
            name: format!("openrouter:{connection}"),
            connection,
            api_key,
            base_url: ADDRESS.into(),
            allow_insecure_http: false,
        }
    }

    /// From the options of a connection with the adapter `openrouter`: `api_key`, `base_url`,
    /// `allow_insecure_http`.
    #[must_use]
    pub fn from_options(connection: &str, options: &Map<String, Value>) -> Self {
        let text = |name: &str| options.get(name).and_then(Value::as_str);
        let mut source = Self::new(connection, text("api_key").map(Secret::new));
        if let Some(base_url) = text("base_url") {
            source.base_url = base_url.to_owned();
        }
        source.allow_insecure_http = options.get("allow_insecure_http") == Some(&Value::Bool(true));
        source
    }
}

#[async_trait]
impl CatalogSource for OpenRouterModels {
    fn name(&self) -> &str {
        &self.name
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        let mine = |target: &str| {
            target
                .split_once(':')
                .is_some_and(|(name, _)| name == self.connection)
        };
        if target.is_some_and(|target| !mine(target)) {
            return Ok(Vec::new());
        }
        let endpoint = Endpoint::new(
            &self.connection,
            &self.base_url,
            PATH,
            self.allow_insecure_http,
        )?;
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.api_key {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
                Error::new(
                    ErrorKind::Configuration,
                    format!(
                        "the api_key of connection {:?} contains characters that a header cannot carry",
                        self.connection
                    ),
                )
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let document = fetch(endpoint, headers).await?;
        let Some(models) = document.get("data").and_then(Value::as_array) else {
            return Err(unexpected("OpenRouter"));
        };
        let observed_at = today();
        let records = models.iter().filter_map(|model| {
            let id = model.get("id")?.as_str()?;
            Some(ModelRecord {
                target: format!("{}:{id}", self.connection),
                attributes: attributes(model),
                observed_at: Some(observed_at.clone()),
            })
        });
        Ok(records
            .filter(|record| target.is_none_or(|target| target == record.target))
            .collect())
    }
}

fn attributes(model: &Value) -> Map<String, Value> {
    let mut attributes = Map::from_iter([("available".to_owned(), Value::Bool(true))]);
    for (pointer, name) in [
        ("/context_length", "context_window"),
        ("/top_provider/max_completion_tokens", "max_output_tokens"),
    ] {
        if let Some(limit) = model
            .pointer(pointer)
            .and_then(Value::as_u64)
            .filter(|limit| *limit > 0)
        {
            attributes.insert(name.into(), json!(limit));
        }
    }
    for (pointer, name) in [
        ("/architecture/input_modalities", "input_modalities"),
        ("/architecture/output_modalities", "output_modalities"),
        ("/supported_parameters", "supported_parameters"),
    ] {
        if let Some(list @ Value::Array(_)) = model.pointer(pointer) {
            attributes.insert(name.into(), list.clone());
        }
    }
    let pricing: Map<String, Value> = PRICES
        .iter()
        .filter_map(|(theirs, ours)| {
            let price = per_million(model.get("pricing")?.get(theirs)?)?;
            Some(((*ours).to_owned(), price))
        })
        .collect();
    if !pricing.is_empty() {
        attributes.insert("pricing".into(), Value::Object(pricing));
    }
    attributes
}

/// A price for one token, mostly a decimal string, as one for a million. A router's own price is negative:
/// it depends on the model that is chosen.
fn per_million(price: &Value) -> Option<Value> {
    let price = match price {
        Value::String(text) => text.parse::<f64>().ok()?,
        other => other.as_f64()?,
    };
    if !price.is_finite() || price < 0.0 {
        return None;
    }
    // Ten digits are more than any price has, and leave out the noise of binary fractions.
    let million: f64 = format!("{:.9e}", price * TOKENS_PER_PRICE).parse().ok()?;
    Some(json!(million))
}
