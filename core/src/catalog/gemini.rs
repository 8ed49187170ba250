//! The list of models of the Gemini API.

use async_trait::async_trait;
use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use super::date::today;
use super::listing::Listing;
use super::record::{ModelRecord, limits};
use super::source::CatalogSource;
use crate::error::Result;

const ADDRESS: &str = "https://generativelanguage.googleapis.com/v1beta/";
const KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// What a model must be able to do to be used here.
const METHOD: &str = "generateContent";

/// Which models a key of the Gemini API may use for text, and their limits.
#[derive(Clone, Debug)]
pub struct GeminiModels {
    listing: Listing,
}

impl GeminiModels {
    /// From the options of a connection with the adapter `gemini`: `api_key`, `base_url`,
    /// `allow_insecure_http`.
    #[must_use]
    pub fn from_options(connection: &str, options: &Map<String, Value>) -> Self {
        Self {
            listing: Listing::new("gemini", connection, ADDRESS, options),
        }
    }
}

#[async_trait]
impl CatalogSource for GeminiModels {
    fn name(&self) -> &str {
        &self.listing.name
    }

    async fn refresh(&self, target: Option<&str>) -> Result<Vec<ModelRecord>> {
        if !self.listing.covers(target) {
            return Ok(Vec::new());
        }
        let headers = self.listing.required_key_header(KEY)?;
        let models = self
            .listing
            .pages("models", ("pageSize", "1000"), headers, |page| {
                let token = page.get("nextPageToken")?.as_str()?;
                (!token.is_empty()).then(|| ("pageToken", token.to_owned()))
            })
            .await?;
        let observed_at = today();
        let record = |model: &Value| {
            let name = model.get("name")?.as_str()?;
            let id = name.strip_prefix("models/").unwrap_or(name);
            let methods = model.get("supportedGenerationMethods")?.as_array()?;
            if !methods.iter().any(|method| method == METHOD) {
                return None;
            }
            Some(ModelRecord {
                target: self.listing.target(id, target)?,
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
            ("/inputTokenLimit", "context_window"),
            ("/outputTokenLimit", "max_output_tokens"),
        ],
    );
    attributes.insert("available".into(), Value::Bool(true));
    attributes
}
