//! How much a model thinks.

use serde_json::{Map, Value, json};

use super::names::respelled;
use super::traits::Traits;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::settings::present;

/// Efforts, with the level and the budget in tokens that stand for them.
const EFFORTS: &[(&str, &str, u32)] = &[
    ("none", "MINIMAL", 0),
    ("minimal", "MINIMAL", 1_024),
    ("low", "LOW", 1_024),
    ("medium", "MEDIUM", 8_192),
    ("high", "HIGH", 24_576),
    ("xhigh", "XHIGH", 24_576),
    ("max", "XHIGH", 24_576),
];

/// The smallest and the largest budget of the larger models, which cannot go without.
const PRO_BUDGETS: (u32, u32) = (128, 32_768);

/// Settings that are fields of the configuration of thinking.
pub(super) const FIELDS: &[&str] = &["thinking_budget", "thinking_level", "include_thoughts"];

/// The configuration of thinking; `None` when no setting is about it. The vendor's own settings win
/// over `reasoning_effort`.
///
/// # Errors
/// [`ErrorKind::Configuration`] for an unknown effort.
pub(super) fn config(settings: &Map<String, Value>, traits: Traits) -> Result<Option<Value>> {
    let mut own = match present(settings, "thinking_config").or(present(settings, "thinkingConfig"))
    {
        None => Map::new(),
        Some(Value::Object(config)) => match respelled(&Value::Object(config.clone())) {
            Value::Object(config) => config,
            _ => Map::new(),
        },
        Some(other) => {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!("the setting thinking_config must be an object, got {other}"),
            ));
        }
    };
    for name in FIELDS {
        if let Some(value) = present(settings, name) {
            own.insert(super::names::camel(name), value.clone());
        }
    }
    let mut config = match present(settings, "reasoning_effort") {
        Some(effort) => for_effort(effort, &own, traits)?,
        None => Map::new(),
    };
    config.extend(own);
    Ok((!config.is_empty()).then_some(Value::Object(config)))
}

fn for_effort(
    effort: &Value,
    own: &Map<String, Value>,
    traits: Traits,
) -> Result<Map<String, Value>> {
    let known = EFFORTS.iter().find(|(name, _, _)| effort == name);
    let Some((name, level, budget)) = known else {
        let names: Vec<&str> = EFFORTS.iter().map(|(name, _, _)| *name).collect();
        return Err(Error::new(
            ErrorKind::Configuration,
            format!(
                "the setting reasoning_effort must be one of {}, got {effort}",
                names.join(", ")
            ),
        ));
    };
    let mut config = Map::new();
    // The service takes one of the two.
    if own.contains_key("thinkingBudget") || own.contains_key("thinkingLevel") {
    } else if traits.thinking_level {
        // The larger models do not go that low.
        let level = if traits.pro && *level == "MINIMAL" {
            "LOW"
        } else {
            level
        };
        config.insert("thinkingLevel".into(), json!(level));
    } else {
        let budget = match *name {
            "none" if traits.pro => PRO_BUDGETS.0,
            "xhigh" | "max" if traits.pro => PRO_BUDGETS.1,
            _ => *budget,
        };
        config.insert("thinkingBudget".into(), json!(budget));
    }
    if *name != "none" {
        config.insert("includeThoughts".into(), json!(true));
    }
    Ok(config)
}
