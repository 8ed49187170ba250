//! OpenRouter's own list of models.

use async_trait::async_trait;
use reqwest::header::AUTHORIZATION;
use serde_json::{Map, Value};

use super::date::today;
use super::listing::Listing;
use super::price::scaled;
use super::record::{ModelRecord, limits};
use super::source::{CatalogSource, unexpected};
use crate::error::Result;
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
    listing: Listing,
}

impl OpenRouterModels {
    /// A source for the connection of that name. The list is public; a key shows models that only its
    /// owner may use.
    #[must_use]
    pub fn new(connection: impl Into<String>, api_key: Option<Secret>) -> Self {
        let mut source = Self::from_options(&connection.into(), &Map::new());
        source.listing.api_key = api_key;
        source
    }

    /// From the options of a connection with the adapter `openrouter`: `api_key`, `base_url`,
    /// `allow_insecure_http`.
    #[must_use]
    pub fn from_options(connection: &str, options: &Map<String, Value>) -> Self {
        Self {
            listing: Listing::new("openrouter", connection, ADDRESS, options),
        }
    }
}

#[async_trait]
impl CatalogSource for OpenRouterModels {
    fn name(&self) -> &str {
        &self.listing.name
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        if !self.listing.covers(target) {
            return Ok(Vec::new());
        }
        let headers = self.listing.key_header(AUTHORIZATION, "Bearer ")?;
        let endpoint = self.listing.endpoint(PATH)?;
        let document = self.listing.document(endpoint, headers).await?;
        let Some(models) = document.get("data").and_then(Value::as_array) else {
            return Err(unexpected("OpenRouter"));
        };
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
            ("/context_length", "context_window"),
            ("/top_provider/max_completion_tokens", "max_output_tokens"),
        ],
    );
    attributes.insert("available".into(), Value::Bool(true));
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

/// A price for one token, mostly a decimal string, as one for a million.
fn per_million(price: &Value) -> Option<Value> {
    let price = match price {
        Value::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    scaled(price, TOKENS_PER_PRICE)
}
