//! Schemas that a service passes to its model and does not enforce.
//!
//! Any keyword may stand there, but the whole must be an object and no choice of objects, and
//! services look for `properties` and `items` where an object or an array is.

use serde_json::{Map, Value, json};

use super::compiler::Compiler;
use super::{Dialect, Reduced};

/// Keywords that services refuse at the top.
const NOT_AT_THE_TOP: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum"];

/// Keywords whose value is a schema.
const SCHEMA: [&str; 12] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];

/// Keywords whose value is a list of schemas.
const SCHEMAS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords whose value is a map of schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

pub(super) fn reduce(schema: &Value) -> Reduced {
    let mut dropped = Vec::new();
    let Value::Object(map) = schema else {
        return Reduced {
            schema: json!({"type": "object", "properties": {}}),
            dropped,
            enforceable: false,
        };
    };
    let mut top = map.clone();
    if NOT_AT_THE_TOP
        .iter()
        .any(|keyword| map.contains_key(*keyword))
    {
        let (flat, lost) = single(schema, map);
        dropped = lost;
        top = flat;
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = map.get(keyword) {
                top.insert(keyword.into(), definitions.clone());
            }
        }
    }
    if top.shift_remove("$schema").is_some() {
        dropped.push("$.$schema".to_owned());
    }
    top.insert("type".into(), json!("object"));
    Reduced {
        schema: complete(&Value::Object(top)),
        dropped,
        enforceable: false,
    }
}

/// The top as one object.
fn single(schema: &Value, map: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let Some(rules) = Dialect::OpenAiStrict.rules() else {
        return (map.clone(), Vec::new());
    };
    let mut compiler = Compiler::new(rules, schema, 1);
    compiler.unfolding.clear();
    let flat = compiler
        .flatten("$", map, 0)
        .and_then(|flat| compiler.united("$", flat))
        .unwrap_or_default();
    (flat, compiler.into_dropped())
}

/// Adds what services look for.
fn complete(schema: &Value) -> Value {
    let Value::Object(map) = schema else {
        return schema.clone();
    };
    let mut sent: Map<String, Value> = map
        .iter()
        .map(|(keyword, value)| {
            let name = keyword.as_str();
            let value = match value {
                Value::Object(named) if NAMED.contains(&name) => Value::Object(
                    named
                        .iter()
                        .map(|(name, schema)| (name.clone(), complete(schema)))
                        .collect(),
                ),
                Value::Array(schemas) if SCHEMAS.contains(&name) || name == "items" => {
                    schemas.iter().map(complete).collect()
                }
                schema if SCHEMA.contains(&name) => complete(schema),
                other => other.clone(),
            };
            (keyword.clone(), value)
        })
        .collect();
    let is = |kind: &str| sent.get("type").is_some_and(|name| name == kind);
    if is("object") {
        sent.entry("properties").or_insert_with(|| json!({}));
    } else if is("array") && !sent.contains_key("prefixItems") {
        sent.entry("items").or_insert_with(|| json!({}));
    }
    Value::Object(sent)
}
