//! The facts that LittleGhost is shipped with.
//!
//! `script/model-catalog` writes them, one line for each model and sorted, so that one model is found
//! by bisection and only its line is ever parsed: start-up costs nothing, and a fork finds no lock.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::record::{ModelRecord, unusable};
use crate::error::Result;

pub(super) const BUNDLED: &str = include_str!("snapshot.json");

/// Where facts of the snapshot are from, as provenance says it.
const BUNDLED_NAME: &str = "bundled:litellm+genai-prices";

pub(super) struct Snapshot {
    name: Cow<'static, str>,
    records: Records,
}

enum Records {
    Lines(&'static str),
    Parsed {
        models: Map<String, Value>,
        observed_at: Option<String>,
    },
}

impl Snapshot {
    pub(super) fn bundled() -> Self {
        Self {
            name: BUNDLED_NAME.into(),
            records: Records::Lines(BUNDLED),
        }
    }

    pub(super) fn empty() -> Self {
        Self {
            name: "none".into(),
            records: Records::Parsed {
                models: Map::new(),
                observed_at: None,
            },
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut snapshot: Map<String, Value> = serde_json::from_str(text).map_err(|problem| {
            unusable(format!("the model snapshot is no JSON object: {problem}"))
        })?;
        let Some(Value::Object(models)) = snapshot.shift_remove("models") else {
            return Err(unusable(
                "the model snapshot needs \"models\", a mapping of \"adapter:model-id\" to facts"
                    .into(),
            ));
        };
        let source = snapshot.get("source");
        let observed_at = source
            .and_then(|source| source.get("observed_at"))
            .and_then(Value::as_str)
            .map(str::to_owned);
        Ok(Self {
            name: "bundled:snapshot".into(),
            records: Records::Parsed {
                models,
                observed_at,
            },
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn record(&self, target: &str) -> Option<ModelRecord> {
        let (attributes, observed_at) = match &self.records {
            Records::Lines(text) => (find(text, target)?, head(text)),
            Records::Parsed {
                models,
                observed_at,
            } => (
                models.get(target)?.as_object()?.clone(),
                observed_at.clone(),
            ),
        };
        let record = ModelRecord {
            target: target.to_owned(),
            attributes,
            observed_at,
        };
        Some(record.normalized())
    }
}

/// The day in the first line.
fn head(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("\"observed_at\":\"")?;
    rest.get(..10).map(str::to_owned)
}

/// The facts on the line of `target`.
fn find(text: &str, target: &str) -> Option<Map<String, Value>> {
    let bytes = text.as_bytes();
    let mut low = memchr::memchr(b'\n', bytes)? + 1;
    let mut high = memchr::memrchr(b'\n', bytes.get(..bytes.len().checked_sub(1)?)?)? + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        let start = memchr::memrchr(b'\n', bytes.get(low..middle)?).map_or(low, |at| low + at + 1);
        let end = start + memchr::memchr(b'\n', bytes.get(start..)?)?;
        let line = text.get(start..end)?;
        let (name, facts) = line.strip_prefix('"')?.split_once("\":")?;
        match name.cmp(target) {
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
            std::cmp::Ordering::Equal => {
                return serde_json::from_str(facts.trim_end_matches(',')).ok();
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_and_is_what_a_json_parser_reads() {
        let parsed = Snapshot::parse(BUNDLED).unwrap();
        let Records::Parsed { models, .. } = &parsed.records else {
            unreachable!()
        };
        assert!(models.len() > 400, "{}", models.len());
        for (target, facts) in models {
            assert_eq!(
                find(BUNDLED, target).as_ref(),
                facts.as_object(),
                "{target}"
            );
        }
        for absent in [
            "",
            "a",
            "openai:",
            "openai:gpt-5.6-lunaa",
            "zzz:z",
            "source",
        ] {
            assert_eq!(find(BUNDLED, absent), None, "{absent}");
        }
    }

    #[test]
    fn every_record_has_facts_of_the_right_kind() {
        for (target, facts) in Snapshot::parse(BUNDLED).map(models).unwrap() {
            let facts = facts.as_object().unwrap();
            assert!(
                facts.get("context_window").is_some_and(Value::is_u64)
                    || facts.contains_key("pricing"),
                "{target}"
            );
            for list in [
                "input_modalities",
                "output_modalities",
                "supported_parameters",
            ] {
                assert!(facts.get(list).is_none_or(Value::is_array), "{target}");
            }
            for price in facts
                .get("pricing")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                assert!(
                    price.1.is_number()
                        || matches!(price.0.as_str(), "tiers" | "context_over_200k")
                );
            }
        }
    }

    fn models(snapshot: Snapshot) -> Map<String, Value> {
        match snapshot.records {
            Records::Parsed { models, .. } => models,
            Records::Lines(_) => Map::new(),
        }
    }
}
