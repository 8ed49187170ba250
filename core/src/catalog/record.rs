//! Records of sources, and how they are merged.

use serde_json::{Map, Value, json};

use super::details::ModelDetails;
use crate::error::{Error, ErrorKind, Result};
use crate::message::kind_of;

/// Attributes that must be arrays of names.
const LISTS: &[&str] = &[
    "input_modalities",
    "output_modalities",
    "supported_parameters",
];

/// What a source says about one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRecord {
    /// The model, as `connection:model-id` or `adapter:model-id`.
    pub target: String,
    /// The facts.
    pub attributes: Map<String, Value>,
    /// The day of the observation, such as `"2026-11-30"`.
    pub observed_at: Option<String>,
}

/// How an attribute of a record meets an older value. Without a strategy it replaces it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeStrategy {
    /// The entries of both arrays, older ones first.
    Union,
}

impl MergeStrategy {
    /// Reads a strategy by name.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for anything but `"union"`.
    pub fn from_name(attribute: &str, name: &str) -> Result<Self> {
        if name == "union" {
            return Ok(MergeStrategy::Union);
        }
        Err(unusable(format!(
            "the merge strategy of attribute {attribute:?} must be \"union\", not {name:?}"
        )))
    }
}

impl ModelRecord {
    /// Reads `{target: {attributes}}`, as a source in a host language answers.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] for another shape.
    pub fn list_from_value(source: &str, value: &Value) -> Result<Vec<Self>> {
        let Value::Object(map) = value else {
            return Err(unusable(format!(
                "catalog source {source:?} must answer a mapping of targets to attributes, not {}",
                kind_of(value)
            )));
        };
        let record = |(target, attributes): (&String, &Value)| {
            let Value::Object(attributes) = attributes else {
                return Err(unusable(format!(
                    "catalog source {source:?} must answer a mapping of attributes for {target:?}, \
                     not {}",
                    kind_of(attributes)
                )));
            };
            let mut attributes = attributes.clone();
            attributes.shift_remove("target");
            attributes.shift_remove("provenance");
            let observed_at = attributes.shift_remove("observed_at");
            Ok(Self {
                target: target.clone(),
                attributes,
                observed_at: observed_at.and_then(|value| value.as_str().map(str::to_owned)),
            })
        };
        map.iter().map(record).collect()
    }

    pub(super) fn check(&self, source: &str) -> Result<()> {
        let (connection, model) = self.target.split_once(':').unwrap_or_default();
        if connection.trim().is_empty() || model.trim().is_empty() {
            return Err(unusable(format!(
                "catalog source {source:?} names the model {:?}; write it as \"connection:model-id\"",
                self.target
            )));
        }
        for list in LISTS {
            match self.attributes.get(*list) {
                None | Some(Value::Null | Value::Array(_)) => {}
                Some(other) => {
                    return Err(unusable(format!(
                        "{list} of {:?} from catalog source {source:?} must be an array, not {}",
                        self.target,
                        kind_of(other)
                    )));
                }
            }
        }
        Ok(())
    }

    /// Without absent facts, and with the usual name for the size of the context.
    pub(super) fn normalized(mut self) -> Self {
        self.attributes.retain(|_, value| !value.is_null());
        if let Some(size) = self.attributes.get("context_window_tokens").cloned() {
            self.attributes.entry("context_window").or_insert(size);
        }
        self
    }
}

/// Facts of several sources, merged so far.
#[derive(Default)]
pub(super) struct Facts {
    attributes: Map<String, Value>,
    provenance: Map<String, Value>,
    observed_at: Option<String>,
}

impl Facts {
    pub(super) fn merge(
        &mut self,
        source: &str,
        record: &ModelRecord,
        strategies: &[(String, MergeStrategy)],
    ) {
        for (name, value) in &record.attributes {
            let union = strategies.iter().any(|(attribute, strategy)| {
                attribute == name && matches!(strategy, MergeStrategy::Union)
            });
            match (self.attributes.get_mut(name), value) {
                (Some(Value::Array(known)), Value::Array(new)) if union => {
                    for entry in new {
                        if !known.contains(entry) {
                            known.push(entry.clone());
                        }
                    }
                    let joined = match self.provenance.get(name).and_then(Value::as_str) {
                        Some(older) => format!("{older}+{source}"),
                        None => source.to_owned(),
                    };
                    self.provenance.insert(name.clone(), json!(joined));
                }
                _ => {
                    self.attributes.insert(name.clone(), value.clone());
                    self.provenance.insert(name.clone(), json!(source));
                }
            }
        }
        if record.observed_at.is_some() {
            self.observed_at.clone_from(&record.observed_at);
        }
    }

    pub(super) fn into_details(self, target: &str) -> ModelDetails {
        ModelDetails {
            target: target.to_owned(),
            attributes: self.attributes,
            provenance: self.provenance,
            observed_at: self.observed_at,
        }
    }
}

/// The sizes in `model` that are known, by pointer and our name. Services write 0 for what they do not know.
pub(super) fn limits(model: &Value, pointers: &[(&str, &str)]) -> Map<String, Value> {
    let known = |(pointer, name): &(&str, &str)| {
        let limit = model
            .pointer(pointer)?
            .as_u64()
            .filter(|limit| *limit > 0)?;
        Some(((*name).to_owned(), json!(limit)))
    };
    pointers.iter().filter_map(known).collect()
}

pub(super) fn unusable(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message)
}
