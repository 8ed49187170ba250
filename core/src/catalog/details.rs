//! What is known about one model.

use serde_json::{Map, Value, json};

/// Facts about one model, with where each of them is from. Unknown facts are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelDetails {
    pub(super) target: String,
    pub(super) attributes: Map<String, Value>,
    pub(super) provenance: Map<String, Value>,
    pub(super) observed_at: Option<String>,
}

impl ModelDetails {
    /// Facts that the application states itself: attributes, and optionally `provenance` and
    /// `observed_at`.
    #[must_use]
    pub fn stated(target: impl Into<String>, mut attributes: Map<String, Value>) -> Self {
        let provenance = match attributes.shift_remove("provenance") {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let observed_at = match attributes.shift_remove("observed_at") {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        attributes.shift_remove("target");
        Self {
            target: target.into(),
            attributes,
            provenance,
            observed_at,
        }
    }

    /// The model, as `connection:model-id`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Whether anything is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.attributes.is_empty()
    }

    /// One fact by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.attributes.get(name).filter(|value| !value.is_null())
    }

    /// Every fact.
    #[must_use]
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.attributes
    }

    /// The source of each fact, such as `"bundled:litellm"`.
    #[must_use]
    pub fn provenance(&self) -> &Map<String, Value> {
        &self.provenance
    }

    /// The day on which the facts were observed, such as `"2026-11-30"`.
    #[must_use]
    pub fn observed_at(&self) -> Option<&str> {
        self.observed_at.as_deref()
    }

    /// The most tokens of a prompt.
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        self.get("context_window")
            .or_else(|| self.get("context_window_tokens"))
            .and_then(Value::as_u64)
    }

    /// The most tokens of an answer.
    #[must_use]
    pub fn max_output_tokens(&self) -> Option<u64> {
        self.get("max_output_tokens").and_then(Value::as_u64)
    }

    /// Forms of input, such as `text`, `image`, `pdf`, `file`, `audio`, `video`. `None` when unknown.
    #[must_use]
    pub fn input_modalities(&self) -> Option<Vec<&str>> {
        self.names("input_modalities")
    }

    /// Request parameters and features, such as `tools`. `None` when unknown.
    #[must_use]
    pub fn supported_parameters(&self) -> Option<Vec<&str>> {
        self.names("supported_parameters")
    }

    /// Prices in USD for a million tokens: `input`, `output`, `cache_read`, `cache_write` and more.
    #[must_use]
    pub fn pricing(&self) -> Option<&Map<String, Value>> {
        self.get("pricing").and_then(Value::as_object)
    }

    fn names(&self, attribute: &str) -> Option<Vec<&str>> {
        let list = self.get(attribute)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).collect())
    }

    /// The attributes with `provenance` and `observed_at`, as events carry them.
    #[must_use]
    pub fn metadata(&self) -> Map<String, Value> {
        let mut map = self.attributes.clone();
        map.insert("provenance".into(), Value::Object(self.provenance.clone()));
        map.insert("observed_at".into(), json!(self.observed_at));
        map
    }

    /// Every attribute, `target`, `provenance` and `observed_at`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut map = self.metadata();
        map.insert("target".into(), json!(self.target));
        Value::Object(map)
    }
}
