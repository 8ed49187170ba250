//! Compiled definitions of tools that hosts describe anew for each run.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::Mutex;
use serde_json::Value;

use super::ToolDefinition;
use crate::error::Result;

/// Names kept. Applications have tens of tools; the bound is for those that make them up.
const CAPACITY: usize = 1_024;

/// Definitions kept of one name.
const NAMESAKES: usize = 16;

static COMPILED: LazyLock<Mutex<HashMap<String, Vec<Compiled>>>> = LazyLock::new(Mutex::default);

/// A definition, and what it was made of.
struct Compiled {
    kind: &'static str,
    /// As it was given, which is not always what the definition has.
    schema: Value,
    definition: ToolDefinition,
}

/// What builds a definition: [`ToolDefinition::new`] or one like it.
type Build = fn(String, String, Value) -> Result<ToolDefinition>;

/// Whether both are the same, in the same order: models read the properties one after the other.
fn is_written_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|((name, value), (others, other))| {
                        name == others && is_written_alike(value, other)
                    })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_written_alike(one, other))
        }
        (one, other) => one == other,
    }
}

/// The definition that `build` makes, which `kind` tells apart from those of other functions.
pub(super) fn fetch(
    kind: &'static str,
    name: &str,
    description: &str,
    schema: &Value,
    build: Build,
) -> Result<ToolDefinition> {
    let is_it = |known: &&Compiled| {
        known.kind == kind
            && known.definition.description() == description
            && is_written_alike(&known.schema, schema)
    };
    // A fork may have caught another thread with the lock held: then compile without it.
    if let Some(compiled) = COMPILED.try_lock()
        && let Some(known) = compiled
            .get(name)
            .and_then(|known| known.iter().find(is_it))
    {
        return Ok(known.definition.clone());
    }
    let definition = build(name.to_owned(), description.to_owned(), schema.clone())?;
    if let Some(mut compiled) = COMPILED.try_lock() {
        if compiled.len() >= CAPACITY {
            compiled.clear();
        }
        let namesakes = compiled.entry(name.to_owned()).or_default();
        if namesakes.len() >= NAMESAKES {
            namesakes.clear();
        }
        namesakes.push(Compiled {
            kind,
            schema: schema.clone(),
            definition: definition.clone(),
        });
    }
    Ok(definition)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn properties(definition: &ToolDefinition) -> Vec<&String> {
        definition.input_schema()["properties"]
            .as_object()
            .unwrap()
            .keys()
            .collect()
    }

    #[test]
    fn an_equal_definition_is_compiled_once_and_the_order_of_properties_is_kept() {
        let schema = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let ab = schema(r#"{"type":"object","properties":{"a":{},"b":{}}}"#);
        let ba = schema(r#"{"type":"object","properties":{"b":{},"a":{}}}"#);
        let first = ToolDefinition::known("cached_once", "Looks.", &ab).unwrap();
        let again = ToolDefinition::known("cached_once", "Looks.", &ab).unwrap();
        assert!(std::ptr::eq(first.input_schema(), again.input_schema()));
        let turned = ToolDefinition::known("cached_once", "Looks.", &ba).unwrap();
        assert_eq!(properties(&first), ["a", "b"]);
        assert_eq!(properties(&turned), ["b", "a"]);
        let other = ToolDefinition::known("cached_once", "Looks twice.", &ab).unwrap();
        assert_eq!(other.description(), "Looks twice.");
        let of_result = ToolDefinition::for_result("cached_once", "Looks.", ab).unwrap();
        assert!(of_result.is_strict() && !again.is_strict());
    }

    #[test]
    fn definitions_that_are_made_up_do_not_pile_up() {
        for number in 0..(3 * NAMESAKES) {
            let schema = json!({"type": "object", "maxProperties": number});
            ToolDefinition::known("made_up", "Looks.", &schema).unwrap();
        }
        // Another test may have the lock only for a moment.
        let kept = COMPILED.lock().get("made_up").map_or(0, Vec::len);
        assert!(kept <= NAMESAKES);
    }
}
